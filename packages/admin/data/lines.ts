import { addAbortSignal, type Readable } from 'node:stream';

/** Maximum bytes of a DynamoDB row. */
export const MAX_LINE_BYTES = 400 * 1024;
const NEWLINE = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The lines of newline-delimited JSON. Only a line feed ends one: U+2028 and its like, at which Node's readline ends a line
 * too, may stand in JSON strings. A line that is not UTF-8 is undefined, so that nothing is loaded with replaced characters;
 * of one that is too long only a beginning comes, which is too long as well.
 */
export async function* linesOf(input: Readable, signal?: AbortSignal): AsyncGenerator<string | undefined> {
  if (signal) addAbortSignal(signal, input);
  let begun: Uint8Array[] = [];
  for await (const chunk of input) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    let from = 0;
    // The part of an overlong line that is kept, enough to recognize it.
    const begunBytes = () => begun.reduce((sum, { length }) => sum + length, 0);
    for (let index = bytes.indexOf(NEWLINE); index >= 0; index = bytes.indexOf(NEWLINE, from)) {
      yield decoded([...begun, bytes.subarray(from, index)]);
      begun = [];
      from = index + 1;
    }
    if (begunBytes() <= MAX_LINE_BYTES) begun.push(bytes.subarray(from));
  }
  if (begun.some(({ length }) => length > 0)) yield decoded(begun);
}

function decoded(parts: readonly Uint8Array[]): string | undefined {
  const bytes = Buffer.concat(parts);
  if (bytes.length > MAX_LINE_BYTES) return bytes.toString('latin1', 0, MAX_LINE_BYTES + 1);
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
