import { addAbortSignal, type Readable } from 'node:stream';
import { MAX_LINE_BYTES } from '../../../lib/ingest/limits.ts';

/** An exported line may take more bytes than the one that was stored: its orders, and characters and numbers that it writes in full. */
export const MAX_EXPORTED_LINE_BYTES = 8 * MAX_LINE_BYTES;

const NEWLINE = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The lines of newline-delimited JSON. Only a line feed ends a line: Node's readline would also end it at U+2028 and
 * the like, which JSON strings may contain. A line that is not UTF-8 is undefined, so that no character is replaced
 * unnoticed. Of a line that is too long, only the beginning is returned, which is still too long.
 */
export async function* linesOf(input: Readable, signal?: AbortSignal): AsyncGenerator<string | undefined> {
  if (signal) addAbortSignal(signal, input);
  /** The parts so far of the line that is being read. */
  let parts: Uint8Array[] = [];
  for await (const chunk of input) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    let from = 0;
    for (let index = bytes.indexOf(NEWLINE); index >= 0; index = bytes.indexOf(NEWLINE, from)) {
      yield decoded([...parts, bytes.subarray(from, index)]);
      parts = [];
      from = index + 1;
    }
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length <= MAX_EXPORTED_LINE_BYTES) parts.push(bytes.subarray(from)); // more is not needed to see that it is too long
  }
  if (parts.some(({ length }) => length > 0)) yield decoded(parts);
}

function decoded(parts: readonly Uint8Array[]): string | undefined {
  const bytes = Buffer.concat(parts);
  if (bytes.length > MAX_EXPORTED_LINE_BYTES) return bytes.toString('latin1', 0, MAX_EXPORTED_LINE_BYTES + 1);
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
