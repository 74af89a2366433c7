/** An event of a call, for logging. It never contains the app key. */
export type ClientEvent =
  | { readonly type: 'request'; readonly path: string; readonly attempt: number }
  | {
      readonly type: 'response';
      readonly path: string;
      readonly attempt: number;
      readonly status: number;
      /** Set only if the service refused the call. */
      readonly code?: string;
      readonly requestId: string;
      readonly durationMs: number;
    }
  | {
      /** No answer. */
      readonly type: 'failure';
      readonly path: string;
      readonly attempt: number;
      readonly durationMs: number;
      readonly message: string;
    }
  | WaitEvent;

/** The client waits before a retry or the next page. */
export interface WaitEvent {
  readonly type: 'wait';
  readonly path: string;
  readonly reason: 'rate-limit' | 'unavailable' | 'no-answer';
  readonly ms: number;
}

export interface ClientOptions {
  /** Base URL, without the operations' paths. */
  readonly url: string;
  readonly appKey: string;
  /** Language of error messages, such as `zh-CN`; default `en`. Sent as `Accept-Language`. */
  readonly language?: string;
  /**
   * Retries of a call without an answer, or with 502, 503, 504 or a gateway's own 500 (default 8, which outlives an outage of half a minute).
   * Retries after 429 do not count; a call is sent 20 times at most.
   */
  readonly retries?: number;
  /**
   * false: a call fails at once if the service cannot be reached and has not answered before, as suits a command, whose address may be
   * wrong (default true, as suits a program that may start before the service). In browsers `fetch` does not tell: the call is retried.
   */
  readonly retryUnreachable?: boolean;
  /** No retry begins later than this many milliseconds after its call began; waits for rate limits count, too (default 120,000). */
  readonly maxWaitMs?: number;
  /** Time-out of an attempt in milliseconds (default 35,000). */
  readonly timeoutMs?: number;
  /** Called for each event, for logging. Its errors are ignored. */
  readonly onEvent?: (event: ClientEvent) => void;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** The clock, in milliseconds since an arbitrary moment (default: a monotonic clock); for tests. */
  readonly now?: () => number;
  /** Waits for `ms`, or until the signal aborts; for tests. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface CallOptions {
  /** Cancels the call and its waits; it then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Replaces the client's `timeoutMs`. */
  readonly timeoutMs?: number;
}

export interface MergeOptions extends CallOptions {
  /** Idempotency key of a merge that may have been sent before: 1 to 255 visible ASCII characters and spaces (default: a new one). */
  readonly idempotencyKey?: string;
}

/** An operation as a command. */
export interface Command {
  /** Name of the client's method. */
  readonly method: string;
  readonly summary: string;
  readonly isIdempotent: boolean;
}

/**
 * Checks what the service would refuse. For a character outside Latin-1, `fetch` throws as it does when there is no answer, so the call
 * would be retried.
 * @throws TypeError that calls the key `name`
 */
export function checkIdempotencyKey(key: string, name = 'idempotencyKey'): void {
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw new TypeError(`${name} must be 1 to 255 visible ASCII characters and spaces`);
}
