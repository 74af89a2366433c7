/** Reads newline-delimited records, and makes the batches that a call takes. Memory does not grow with the input. */

/** A record as it is sent, and the number of its line, from 1. */
interface RecordLine {
  readonly line: number;
  readonly text: string;
}

export interface RefusedLine {
  readonly line: number;
  readonly reason: string;
}

/** Lines that follow each other. */
export interface Batch {
  readonly firstLine: number;
  lastLine: number;
  readonly records: RecordLine[];
  /** The lines that are not sent, since the service would refuse them. */
  readonly refused: RefusedLine[];
  /** Of the records. */
  bytes: number;
  /** Of the records. */
  values: number;
}

/** Bounds of the service: maximum bytes of a record, and its nesting levels. */
const MAX_RECORD = { bytes: 8_192, levels: 31 };
/** Bytes that `account_id` and `at_ms` may take beside these. The service counts exactly. */
const NOT_COUNTED = 64;
/** Bounds of the service for a call, less what the body has besides its records. */
const MAX_BATCH = { records: 1_000, bytes: 256 * 1_024 - 20, values: 99_000 };

const NEWLINE = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The lines of an input with their numbers, as bytes; of one that is too long only the beginning. Ends each chunk with undefined. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<[number: number, bytes: Buffer] | undefined> {
  let number = 0;
  let begun = Buffer.alloc(0);
  for await (const chunk of withNewlineAtEnd(input)) {
    let from = 0;
    for (let index = chunk.indexOf(NEWLINE); index >= 0; index = chunk.indexOf(NEWLINE, from)) {
      number += 1;
      yield [number, Buffer.concat([begun, chunk.subarray(from, index)])];
      begun = Buffer.alloc(0);
      from = index + 1;
    }
    // More is not needed to see that it is too long.
    if (begun.length <= 2 * MAX_RECORD.bytes) begun = Buffer.concat([begun, chunk.subarray(from)]);
    yield undefined;
  }
}

async function* withNewlineAtEnd(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* input;
  yield Buffer.from('\n');
}

/**
 * The record of a line with its time, so that a repeated call changes nothing; undefined if the line is blank.
 * @throws Error that says why the service would refuse it
 */
function recordOf(bytes: Buffer, atMs: number): string | undefined {
  const tooLong = `has more than ${MAX_RECORD.bytes} bytes`;
  if (bytes.length > 2 * MAX_RECORD.bytes) throw new Error(tooLong); // with its blanks
  const text = decoded(bytes).trim();
  if (text === '') return undefined;
  const record = parsed(text);
  if (typeof record !== 'object' || record === null || Array.isArray(record)) throw new Error('is no JSON object');
  // The text stays as it is, since parsing rounds numbers.
  const comma = Object.keys(record).length === 0 ? '' : ',';
  const timed = Object.hasOwn(record, 'at_ms') ? text : `{"at_ms":${atMs}${comma}${text.slice(1)}`;
  if (Buffer.byteLength(timed) > MAX_RECORD.bytes + NOT_COUNTED) throw new Error(tooLong);
  if (levelsOf(timed) > MAX_RECORD.levels) throw new Error(`has more than ${MAX_RECORD.levels} levels`);
  return timed;
}

/** The text without a byte order mark. */
function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Error('is not UTF-8');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`is not JSON: ${(error as Error).message}`);
  }
}

/** Nesting levels of valid JSON. */
function levelsOf(json: string): number {
  let level = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/g)) {
    if (token === '{' || token === '[') level += 1;
    else if (token === '}' || token === ']') level -= 1;
    deepest = Math.max(deepest, level);
  }
  return deepest;
}

/** At least as many values as the service counts in valid JSON. */
const valuesOf = (json: string) => 1 + (json.match(/[,[{]/g)?.length ?? 0);

const PAUSE = 'pause';

/** What the lines from `firstLine` on hold, without blank ones. A pause is where the input has to be waited for. */
async function* readLines(
  input: AsyncIterable<Uint8Array>,
  firstLine: number,
): AsyncGenerator<RecordLine | RefusedLine | typeof PAUSE> {
  for await (const next of linesOf(input)) {
    if (next === undefined) yield PAUSE;
    else if (next[0] >= firstLine) {
      const [line, bytes] = next;
      try {
        const text = recordOf(bytes, Date.now());
        if (text !== undefined) yield { line, text };
      } catch (error) {
        yield { line, reason: (error as Error).message };
      }
    }
  }
}

function add(batch: Batch, read: RecordLine | RefusedLine): void {
  batch.lastLine = read.line;
  if ('reason' in read) batch.refused.push(read);
  else {
    batch.records.push(read);
    batch.bytes += Buffer.byteLength(read.text) + 1;
    batch.values += valuesOf(read.text);
  }
}

function isRoomIn({ records, refused, bytes, values }: Batch, read: RecordLine | RefusedLine): boolean {
  if (records.length + refused.length === MAX_BATCH.records) return false;
  if ('reason' in read) return true;
  return bytes + Buffer.byteLength(read.text) < MAX_BATCH.bytes && values + valuesOf(read.text) <= MAX_BATCH.values;
}

/**
 * The batches of an input from a line on. A batch ends early at a pause, so that what comes by a pipe is sent when it comes; while a call is
 * under way, the pipe gathers more.
 */
export async function* batchesOf(input: AsyncIterable<Uint8Array>, firstLine: number): AsyncGenerator<Batch> {
  let batch: Batch | undefined;
  for await (const read of readLines(input, firstLine)) {
    if (batch && (read === PAUSE || !isRoomIn(batch, read))) {
      yield batch;
      batch = undefined;
    }
    if (read === PAUSE) continue;
    batch ??= { firstLine: read.line, lastLine: read.line, records: [], refused: [], bytes: 0, values: 0 };
    add(batch, read);
  }
}
