import type { Table } from '../../../lib/dynamodb/client.ts';

type Send = (command: unknown, options?: { abortSignal?: AbortSignal }) => Promise<unknown>;

/** DynamoDB has not answered within the time that a person waits. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  constructor(waitedMs: number) {
    super(
      `DynamoDB has not answered for ${Math.round(waitedMs / 1000)} s: check the network, --endpoint and --region; on AWS its health dashboard and the table's throttles`,
    );
  }
}

export interface Patience {
  /** Milliseconds without any answer until `onWaiting` is called, once for each wait. */
  readonly sayMs: number;
  /** Milliseconds without any answer after which calls end. */
  readonly endMs: number;
  readonly onWaiting: () => void;
}

/**
 * The same table, whose calls end when none is answered for too long, retries included: throttled calls that are sent again and
 * again count as one wait.
 */
export function withPatience(table: Table, { sayMs, endMs, onWaiting }: Patience): { table: Table; stop: () => void } {
  let timers: NodeJS.Timeout[] = [];
  let end = new AbortController();
  const answered = () => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  const send: Send = async (command, options) => {
    if (timers.length === 0) {
      if (end.signal.aborted) end = new AbortController();
      const ending = end;
      timers = [setTimeout(onWaiting, sayMs), setTimeout(() => ending.abort(), endMs)].map((timer) => timer.unref());
    }
    const { signal } = end;
    const abortSignal = options?.abortSignal ? AbortSignal.any([options.abortSignal, signal]) : signal;
    try {
      const answer = await (table.client.send as Send).call(table.client, command, { ...options, abortSignal });
      answered();
      return answer;
    } catch (error) {
      if (signal.aborted && !options?.abortSignal?.aborted) throw new NoAnswerError(endMs);
      // A refusal is an answer, too; after a throttled or failed call the wait continues.
      if (isRefusal(error)) answered();
      throw error;
    }
  };
  // The paginators require an instance of the client's class.
  return { table: { ...table, client: Object.create(table.client, { send: { value: send } }) }, stop: answered };
}

/** DynamoDB has refused the call itself. */
const isRefusal = (error: unknown) =>
  /^(ConditionalCheckFailed|TransactionCanceled|Validation|ResourceNotFound|AccessDenied)Exception$/.test(
    (error as Error).name,
  );
