import { accessSync, constants, createReadStream, statSync } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { ServiceError } from '../client-errors.ts';
import { jsonText } from '../json.ts';
import { createTransport, type Transport } from '../transport.ts';
import { type FeedResult, PATHS, type RefusedItem } from '../types.ts';
import { clientOptions } from './connect.ts';
import { EXIT } from './exit-codes.ts';
import {
  asUsageError,
  COMMON,
  InterruptedError,
  integer,
  print,
  StoppedError,
  text,
  UsageError,
  warn,
} from './output.ts';
import { type Batch, batchesOf, type RefusedLine } from './record-lines.ts';

export const RECORDS_HELP = `  records FILE                 send records to the feed, one a line (- is standard input)
    --from-line N              go on with this line, after an interruption. Records that have at_ms may be sent again:
                               that changes nothing. The others get the time of their sending
`;

const PROGRESS_EVERY_MS = 2_000;
/** Bytes that are read from a file at once: as many as a call takes. */
const CHUNK_BYTES = 256 * 1_024;

/** What became of the records of a batch. */
interface Outcome {
  readonly accepted: number;
  /** The first of the lines that were refused. */
  readonly refused: readonly RefusedLine[];
  /** How many lines were refused. */
  readonly refusedCount: number;
}

export async function records(args: string[]): Promise<void> {
  const { values, positionals } = asUsageError(() =>
    parseArgs({ args, options: { 'from-line': text, ...COMMON }, allowPositionals: true }),
  );
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0)
    throw new UsageError('records requires one FILE, or - for standard input');
  const firstLine = Number(integer('from-line', values['from-line'] ?? '1'));
  if (firstLine < 1) throw new UsageError('--from-line must be at least 1');
  const transport = asUsageError(() => createTransport(clientOptions()));
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new StoppedError('by a signal')));
  const input = addAbortSignal(
    stop.signal,
    asUsageError(() => openInput(file)),
  );

  const total = { accepted: 0, refused: 0 };
  let nextLine = firstLine;
  let toldAt = Date.now();
  try {
    for await (const batch of batchesOf(input, firstLine)) {
      const outcome = await send(transport, batch, stop.signal);
      total.accepted += outcome.accepted;
      total.refused += outcome.refusedCount;
      nextLine = batch.lastLine + 1;
      if (values.json) print(jsonOf(batch, outcome));
      else for (const told of textsOf(file, batch, outcome)) warn(told);
      if (values.json || Date.now() - toldAt < PROGRESS_EVERY_MS) continue;
      toldAt = Date.now();
      // For when the command is killed.
      warn(`${countsText(total)}. After an interruption, go on with --from-line=${nextLine}`);
    }
  } catch (error) {
    const cause = stop.signal.aborted ? stop.signal.reason : error;
    if (nextLine === firstLine) throw cause;
    const wayOn = `To go on, repeat the command with --from-line=${nextLine}`;
    throw new InterruptedError(cause, `${countsText(total)}. ${wayOn}`);
  }
  if (total.refused > 0) process.exitCode = EXIT.failed;
  if (!values.json) print(`${countsText(total)}.`);
}

const countsText = ({ accepted, refused }: { accepted: number; refused: number }) =>
  `${accepted} ${accepted === 1 ? 'record' : 'records'} sent${refused > 0 ? `, ${refused} refused` : ''}`;

/** @throws Error if it cannot be read */
function openInput(file: string): Readable {
  if (file === '-') return process.stdin;
  if (statSync(file).isDirectory()) throw new Error(`${file} is a folder`);
  accessSync(file, constants.R_OK);
  return createReadStream(file, { highWaterMark: CHUNK_BYTES });
}

/** Sends a batch, in parts if the service takes less in a call. */
async function send(transport: Transport, batch: Batch, signal: AbortSignal): Promise<Outcome> {
  const { records } = batch;
  const unsent = { accepted: 0, refused: batch.refused, refusedCount: batch.refused.length };
  if (records.length === 0) return unsent;
  const lineOf = (index: number) => records[index]?.line ?? batch.lastLine;
  const plus = (accepted: number, refused: readonly RefusedItem[], count: number): Outcome => ({
    accepted,
    refused: [...unsent.refused, ...refused.map(({ index, reason }) => ({ line: lineOf(index), reason }))].sort(
      (a, b) => a.line - b.line,
    ),
    refusedCount: unsent.refusedCount + count,
  });
  try {
    const body = `{"records":[${records.map(({ text: record }) => record).join()}]}`;
    const { data } = await transport.send(PATHS.sendRecords, body, { signal });
    const { accepted, refused = [], refused_count = 0 } = data as FeedResult;
    return plus(accepted, refused, refused_count);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.refused.length > 0) return plus(0, error.refused, records.length);
    if (error.code !== 'EntityTooLarge' || records.length === 1) throw error;
    const middle = Math.ceil(records.length / 2);
    const first = await send(transport, { ...batch, records: records.slice(0, middle) }, signal);
    const second = await send(transport, { ...batch, records: records.slice(middle), refused: [] }, signal);
    return {
      accepted: first.accepted + second.accepted,
      refused: [...first.refused, ...second.refused],
      refusedCount: first.refusedCount + second.refusedCount,
    };
  }
}

const jsonOf = ({ firstLine, lastLine }: Batch, { accepted, refused, refusedCount }: Outcome) =>
  jsonText({ first_line: firstLine, last_line: lastLine, accepted, refused, refused_count: refusedCount });

function textsOf(file: string, { firstLine, lastLine }: Batch, { refused, refusedCount }: Outcome): string[] {
  const more = refusedCount - refused.length;
  return [
    ...refused.map(({ line, reason }) => `${file}:${line}: ${reason}`),
    ...(more > 0 ? [`${file}: ${more} more of the lines ${firstLine} to ${lastLine} were refused`] : []),
  ];
}
