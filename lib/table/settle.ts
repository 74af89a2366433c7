import { type Table, withSignal } from './client.ts';
import { isUnavailable } from './failures.ts';

/** Milliseconds after the signal in which a write may still be verified: the answer is still sent within 3 s. */
const VERIFY_MS = 250;

export interface Write<Result> {
  send(table: Table): Promise<Result>;
  /**
   * Reads, strongly consistent, whether the write was applied.
   * @returns the result of an applied write; undefined if it was not applied
   */
  verify(table: Table): Promise<Result | undefined>;
}

/**
 * Sends a write, and verifies it if its outcome is unknown: a time-out, a reset or a 5xx does not say whether it was applied, nor does
 * a temporary refusal, since an earlier attempt of the SDK may have been applied. So a lost reply never turns a success into a failure.
 * @param table its signal aborts the write; verifying may take 250 ms longer
 * @throws what `send` threw, if the write was not applied or cannot be verified
 */
export async function settle<Result>(table: Table, write: Write<Result>): Promise<Result> {
  try {
    return await write.send(table);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const found = await readPastSignal(table, write.verify).catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
}

/** Reads for up to 250 ms after the table's signal, to verify a write that the signal aborted. */
export async function readPastSignal<Result>(table: Table, read: (table: Table) => Promise<Result>): Promise<Result> {
  const { signal } = table;
  if (!signal) return read(table);
  const verifyTimeout = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => verifyTimeout.abort(), VERIFY_MS);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  try {
    return await read(withSignal(table, verifyTimeout.signal));
  } finally {
    signal.removeEventListener('abort', start);
    clearTimeout(timer);
  }
}
