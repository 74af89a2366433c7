import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { printableJson, printableLines, withHexBytes } from '../text/printable.ts';

/** Input and output of a command. Results go to `stdout`, everything else to `stderr`. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the user stops the command. */
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** A failure that the user can fix: its message is the line to show. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
}

/** Wrong use of the command: nothing was done. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
}

/** A check has found something. */
export class FoundError extends CliError {
  override readonly name = 'FoundError';
}

/** What a command has done, or would do. */
export interface Done {
  /** Printed before the text: the writes, one by one. */
  readonly lines?: readonly string[];
  readonly json: object;
}

/** A part is not done. What is done is printed, too, and the message says how much. */
export class PartialError extends CliError {
  override readonly name = 'PartialError';
  readonly done: Done;

  constructor(message: string, done: Done) {
    super(message);
    this.done = done;
  }
}

/** Prints a value as JSON: exact, bytes in hexadecimal, and safe on a terminal. */
export const printJson = (io: Pick<Io, 'stdout'>, value: unknown) =>
  print(io, printableJson(stringifyJson(withHexBytes(value))));
/**
 * Prints a result: to standard output. Whatever the text contains, it cannot control the terminal. Stored text must be made printable
 * before, so that it forges no line.
 */
export const print = (io: Pick<Io, 'stdout'>, text: string) => void io.stdout.write(`${printableLines(text)}\n`);
/** Prints a message to the user: to standard error, as {@link print} does. */
export const say = (io: Pick<Io, 'stderr'>, text: string) => void io.stderr.write(`${printableLines(text)}\n`);

/**
 * Asks the user, after the sentence `before`.
 * @throws UsageError, with the message `elsewhere`, if there is no terminal
 */
export async function ask(io: Io, question: string, { before, elsewhere }: { before?: string; elsewhere: string }) {
  // If standard input is the data of an import, it cannot contain an answer.
  if (!io.stdin.isTTY || io.stdin.readableEnded) throw new UsageError(elsewhere);
  if (before) say(io, before);
  const prompt = createInterface({ input: io.stdin, output: io.stderr });
  try {
    return (await prompt.question(question, { signal: io.signal })).trim();
  } finally {
    prompt.close();
  }
}
