import { addAbortSignal, type Readable } from 'node:stream';

const NEWLINE = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The lines of newline-delimited JSON. Only a line feed ends one: U+2028 and its like, at which Node's readline ends a line
 * too, may stand in JSON strings. A line that is not UTF-8 is undefined, so that nothing is loaded with replaced characters.
 */
export async function* linesOf(input: Readable, signal?: AbortSignal): AsyncGenerator<string | undefined> {
  if (signal) addAbortSignal(signal, input);
  let begun: Uint8Array[] = [];
  for await (const chunk of input) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    let from = 0;
    for (let index = bytes.indexOf(NEWLINE); index >= 0; index = bytes.indexOf(NEWLINE, from)) {
      yield decoded([...begun, bytes.subarray(from, index)]);
      begun = [];
      from = index + 1;
    }
    begun.push(bytes.subarray(from));
  }
  if (begun.some(({ length }) => length > 0)) yield decoded(begun);
}

function decoded(parts: readonly Uint8Array[]): string | undefined {
  try {
    return utf8.decode(Buffer.concat(parts));
  } catch {
    return undefined;
  }
}
