import { type Table, withSignal } from './client.ts';
import { isUnavailable } from './failures.ts';

/** Milliseconds that reading the table may take beyond the deadline: the answer is still within 3 s. */
const LOOK_MS = 250;

export interface Write<Result> {
  send(table: Table): Promise<Result>;
  /**
   * Reads the table, strongly consistent, to see whether the write was applied.
   * @returns what `send` would have; undefined if it was not applied
   */
  look(table: Table): Promise<Result | undefined>;
}

/**
 * Sends a write, and reads the table if its reply leaves the outcome unknown: after a time-out, a reset or a 5xx it may
 * have been applied, and after a temporary refusal too, since an earlier attempt of the SDK may have been. So a lost reply
 * never turns a success into a failure.
 * @param table its signal ends the write
 * @throws what `send` threw, if the write was not applied or the table cannot be read
 */
export async function settle<Result>(table: Table, write: Write<Result>): Promise<Result> {
  try {
    return await write.send(table);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const found = await look(table, write.look).catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
}

/** Reads the table after a write, also for a moment after the signal that ended it. */
export async function look<Result>(table: Table, read: (table: Table) => Promise<Result>): Promise<Result> {
  const { signal } = table;
  if (!signal) return read(table);
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => late.abort(), LOOK_MS);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  try {
    return await read(withSignal(table, late.signal));
  } finally {
    signal.removeEventListener('abort', start);
    clearTimeout(timer);
  }
}
