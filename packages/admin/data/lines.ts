import { addAbortSignal, type Readable } from 'node:stream';
import { MAX_LINE_BYTES } from '../../../lib/ingest/limits.ts';
import { textOf, tooLong } from '../../../lib/ingest/problems.ts';

/** An exported line may take more bytes than the one that was stored: its orders, and characters and numbers that it writes in full. */
const MAX_EXPORTED_LINE_BYTES = 8 * MAX_LINE_BYTES;

/** The text of a line; or why it is not read. */
export type Line = string | { readonly problem: string };

const NEWLINE = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The lines of newline-delimited JSON. Only a line feed ends a line: Node's readline would also end it at U+2028 and
 * the like, which JSON strings may contain. One that is not UTF-8 is not read, so that no character is replaced
 * unnoticed.
 */
export async function* linesOf(input: Readable, signal?: AbortSignal): AsyncGenerator<Line> {
  if (signal) addAbortSignal(signal, input);
  /** The parts so far of the line that is being read; of one that is too long, its bytes alone. */
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of input) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    let from = 0;
    for (let index = bytes.indexOf(NEWLINE); index >= 0; index = bytes.indexOf(NEWLINE, from)) {
      yield lineOf([...parts, bytes.subarray(from, index)], length + index - from);
      [parts, length] = [[], 0];
      from = index + 1;
    }
    length += bytes.length - from;
    if (length <= MAX_EXPORTED_LINE_BYTES) parts.push(bytes.subarray(from));
    else parts = [];
  }
  if (length > 0) yield lineOf(parts, length);
}

function lineOf(parts: readonly Uint8Array[], length: number): Line {
  if (length > MAX_EXPORTED_LINE_BYTES) return { problem: textOf(tooLong(length, MAX_EXPORTED_LINE_BYTES)) };
  try {
    return utf8.decode(Buffer.concat(parts));
  } catch {
    return { problem: 'is not valid UTF-8' };
  }
}
