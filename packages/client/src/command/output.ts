/** What the commands share: their options, and how they print. */
import { escaped, UNSAFE } from '../terminal-text.ts';
import { EXIT } from './exit-codes.ts';

/** Wrong use of the command: nothing was sent. */
export class UsageError extends Error {}

/** The command has done a part of its work, and can go on from there. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  /** How to go on. */
  readonly advice: string;

  /** @param cause what has interrupted it */
  constructor(cause: unknown, advice: string) {
    super('', { cause });
    this.advice = advice;
  }
}

/** The user has stopped the command. */
export class StoppedError extends Error {
  override readonly name = 'Stopped';
}

/** Runs `work`, and throws a UsageError for whatever it throws. */
export function asUsageError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

export const texts = { type: 'string', multiple: true } as const;
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
/** The options of every command. */
export const COMMON = { json: flag, help: { ...flag, short: 'h' } } as const;

export function integer(name: string, value: string | undefined): bigint {
  if (value === undefined || !/^-?\d+$/.test(value))
    throw new UsageError(`--${name} must be an integer${value === undefined ? '' : `, not ${value}`}`);
  return BigInt(value);
}

/** Prints a line of text or JSON. It may contain what others stored, so what is unsafe in it becomes escapes of JSON. */
const write = (stream: NodeJS.WriteStream, line: string) => stream.write(`${line.replace(UNSAFE, escaped)}\n`);
export const print = (line: string) => write(process.stdout, line);
export const warn = (line: string) => write(process.stderr, line);

/** Ends the process if nobody can read its output: as usual if the reader stops early, as `head` does, else with a message. */
export function endOnOutputError(end: (exitCode: number) => void = process.exit): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') warn(`Cannot write to standard output: ${message}. What was done stays done.`);
    end(code === 'EPIPE' ? 0 : EXIT.failed);
  });
}
