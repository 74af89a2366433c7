import type { Table } from '../../../lib/table/client.ts';

type Send = (command: unknown, options?: { abortSignal?: AbortSignal }) => Promise<unknown>;

/** DynamoDB has not answered any call for too long. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  constructor(waitedMs: number) {
    super(
      `DynamoDB has not answered for ${Math.round(waitedMs / 1000)} s: check the network, --endpoint and --region; on AWS its health dashboard and the table's throttles`,
    );
  }
}

export interface AnswerTimeout {
  /** Milliseconds without any answer after which `onWaiting` is called, once for each wait. */
  readonly warnAfterMs: number;
  /** Milliseconds without any answer after which calls fail. */
  readonly failAfterMs: number;
  readonly onWaiting: () => void;
}

/**
 * The same table, but its calls fail once none of them has been answered for too long. An answer ends the wait, and begins
 * another one if further calls are under way. Throttled calls that are sent again and again count as one wait.
 * @returns `stop` ends the timers
 */
export function withAnswerTimeout(
  table: Table,
  { warnAfterMs, failAfterMs, onWaiting }: AnswerTimeout,
): { table: Table; stop: () => void } {
  let timers: NodeJS.Timeout[] = [];
  const end = new AbortController();
  let underWay = 0;
  const stop = () => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  const wait = () => {
    timers = [setTimeout(onWaiting, warnAfterMs), setTimeout(() => end.abort(), failAfterMs)].map((timer) =>
      timer.unref(),
    );
  };
  const answered = () => {
    stop();
    if (underWay > 0) wait();
  };
  const send: Send = async (command, options) => {
    if (timers.length === 0) wait();
    underWay += 1;
    const abortSignal = options?.abortSignal ? AbortSignal.any([options.abortSignal, end.signal]) : end.signal;
    try {
      const answer = await (table.client.send as Send)
        .call(table.client, command, { ...options, abortSignal })
        .finally(() => {
          underWay -= 1;
        });
      answered();
      return answer;
    } catch (error) {
      if (end.signal.aborted && !options?.abortSignal?.aborted) throw new NoAnswerError(failAfterMs);
      // A refusal is an answer, too; after a throttled or failed call the wait continues.
      if (isRefusal(error)) answered();
      throw error;
    }
  };
  // The paginators require an instance of the client's class.
  return { table: { ...table, client: Object.create(table.client, { send: { value: send } }) }, stop };
}

/** Whether DynamoDB answered by refusing the call. */
const isRefusal = (error: unknown) =>
  /^(ConditionalCheckFailed|TransactionCanceled|Validation|ResourceNotFound|AccessDenied)Exception$/.test(
    (error as Error).name,
  );
