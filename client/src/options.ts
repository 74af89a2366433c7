/** What a caller chooses, and what the client tells. */

/** What happens in a call, for logging. The app key is in none of it. */
export type ClientEvent =
  | { readonly type: 'request'; readonly path: string; readonly attempt: number }
  | {
      readonly type: 'response';
      readonly path: string;
      readonly attempt: number;
      readonly status: number;
      /** Of a refusal. */
      readonly code?: string;
      readonly requestId: string;
      readonly durationMs: number;
    }
  | {
      /** No answer came. */
      readonly type: 'failure';
      readonly path: string;
      readonly attempt: number;
      readonly durationMs: number;
      readonly message: string;
    }
  | {
      /** The client waits, before it sends the call again or asks for the next page. */
      readonly type: 'wait';
      readonly path: string;
      readonly reason: 'rate-limit' | 'unavailable' | 'no-answer';
      readonly ms: number;
    };

export interface ClientOptions {
  /** Address that the operations' paths follow. */
  readonly url: string;
  readonly appKey: string;
  /** Of the errors' messages: `en` (default) or `zh-CN`. */
  readonly language?: string;
  /** How often a call without an answer, or with 502, 503 or 504, is sent again (default 4). 429 does not count. */
  readonly retries?: number;
  /** Milliseconds that a call may wait in all before it is sent again, for rate limits too (default 120,000). */
  readonly maxWaitMs?: number;
  /** Milliseconds after which an attempt counts as without an answer (default 35,000). */
  readonly timeoutMs?: number;
  /** Is told what happens, for logging. What it throws is ignored. */
  readonly onEvent?: (event: ClientEvent) => void;
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Unix time in milliseconds, for tests. */
  readonly now?: () => number;
  /** Waits, for tests. Ends early when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface CallOptions {
  /** Ends the call, its waits too, by throwing the signal's reason. */
  readonly signal?: AbortSignal;
  /** In place of the client's. */
  readonly timeoutMs?: number;
}

export interface MergeOptions extends CallOptions {
  /** Of a merge that may have been sent before (default: a new one). */
  readonly idempotencyKey?: string;
}
