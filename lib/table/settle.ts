import { isUnavailable } from './failures.ts';

/** Milliseconds that reading the table may take beyond the deadline: the answer is still within 3 s. */
const LOOK_MS = 250;

/** Given to a call of the client. */
export interface SendOptions {
  abortSignal?: AbortSignal;
}

export interface Write<Result> {
  send(options: SendOptions): Promise<Result>;
  /**
   * Reads the table, strongly consistent, to see whether the write was applied.
   * @returns what `send` would have; undefined if it was not applied
   */
  look(options: SendOptions): Promise<Result | undefined>;
}

/**
 * Sends a write, and reads the table if its reply leaves the outcome unknown: after a time-out, a reset or a 5xx it may
 * have been applied, and after a temporary refusal too, since an earlier attempt of the SDK may have been. So a lost reply
 * never turns a success into a failure.
 * @param signal ends the write
 * @throws what `send` threw, if the write was not applied or the table cannot be read
 */
export async function settle<Result>(write: Write<Result>, signal?: AbortSignal): Promise<Result> {
  try {
    return await write.send(signal ? { abortSignal: signal } : {});
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const found = await look(write.look, signal).catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
}

/** Reads the table after a write, also for a moment after the signal that ended it. */
export async function look<Result>(
  read: (options: SendOptions) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const { abortSignal, end } = endingAfter(signal);
  return read(abortSignal ? { abortSignal } : {}).finally(end);
}

/** A signal that aborts a moment after another, also after one that has aborted already. */
function endingAfter(signal: AbortSignal | undefined): { abortSignal?: AbortSignal; end(): void } {
  if (!signal) return { end: () => undefined };
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => late.abort(), LOOK_MS);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return {
    abortSignal: late.signal,
    end() {
      signal.removeEventListener('abort', start);
      clearTimeout(timer);
    },
  };
}
