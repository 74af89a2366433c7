import { isExportedAlert, parseLine, problemsOf, TAKEN_BY_FEED, type Taken } from '../../../lib/ingest/check-line.ts';
import { MAX_LINE_BYTES } from '../../../lib/ingest/limits.ts';
import { textOf, tooLong } from '../../../lib/ingest/problems.ts';
import { type IngestRecord, ingestRecord } from '../../../lib/ingest/records.ts';
import {
  INGEST_KINDS,
  type IngestKind,
  KINDS,
  type Kind,
  type Orders,
  type SentRecord,
} from '../../../lib/model/kinds.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import { readAccount } from '../accounts/accounts.ts';
import { type AppKeyIdentity, identityOfAppKey } from '../accounts/app-key-admin.ts';
import { printable } from '../text/printable.ts';
import { takeOrders } from './exported-orders.ts';
import type { Line } from './lines.ts';
import * as validators from './validate-imported.ts';

const TAKEN: Taken = { kinds: KINDS, validators: { ...TAKEN_BY_FEED.validators, ...validators } };

export interface DataProblem {
  /** Number of the line, from 1. */
  line: number;
  problem: string;
}

const MAX_SHOWN = 20;

/** Data is invalid, so nothing of it is written. The message has a line for each of the first problems. */
export class DataError extends Error {
  override readonly name = 'DataError';
  readonly problems: readonly DataProblem[];

  constructor(source: string, problems: readonly DataProblem[]) {
    const shown = problems.slice(0, MAX_SHOWN).map(({ line, problem }) => printable(`${source}:${line}: ${problem}`));
    if (problems.length > 1)
      shown.push(
        `${printable(source)}: ${problems.length} problems${problems.length > MAX_SHOWN ? `, of which ${MAX_SHOWN} are shown` : ''}`,
      );
    super(shown.join('\n'));
    this.problems = problems;
  }
}

/** What the table stores of the key in an `app_key` line. */
export function appKeyOf({ app_key, app_key_hash, last_digits }: SentRecord): AppKeyIdentity {
  if (app_key !== undefined) return identityOfAppKey(String(app_key));
  return { hash: String(app_key_hash), lastDigits: String(last_digits ?? '') };
}

const isIngestRecord = (sent: SentRecord): sent is SentRecord<IngestKind> =>
  (INGEST_KINDS as readonly Kind[]).includes(sent.kind);

/** The record of a line, and the orders of its row if an export has written it. */
function importedOf(text: string): { problems: string[]; sent?: SentRecord; orders?: Orders } {
  const parsed = parseLine(text, { maxBytes: Number.POSITIVE_INFINITY });
  if (parsed.problems.length > 0) return { problems: parsed.problems.map(textOf) };
  const taken = takeOrders(parsed.line);
  const bytes = Buffer.byteLength(text);
  if (!taken.orders && bytes > MAX_LINE_BYTES) return { problems: [textOf(tooLong(bytes, MAX_LINE_BYTES))] };
  const problems = [...problemsOf(taken.line, TAKEN).map(textOf), ...taken.problems];
  if (problems.length === 0 && isExportedAlert(taken.line as object) && !taken.orders?.key_order)
    problems.push('key_order must be as export writes it, since the line has alert_id beside alert_key');
  if (problems.length > 0) return { problems };
  return { problems, sent: taken.line as SentRecord, ...(taken.orders && { orders: taken.orders }) };
}

/** A line that has no problems. */
export interface CheckedLine {
  /** Its number, from 1. */
  readonly number: number;
  readonly sent: SentRecord;
  /** The length of its text in UTF-8. */
  readonly bytes: number;
  /** What is written; absent for accounts and app keys. */
  readonly record?: IngestRecord;
}

export type Lines = AsyncIterable<Line> | Iterable<Line>;

/**
 * Checks all lines of a source: each by itself as a record of the feed is checked, but for its times, and all together against the table for
 * accounts that do not exist and for keys of another account. Empty lines are skipped.
 * @param source its name in messages, such as the path of a file
 * @param options `nowMs`: the time of the command; `only`: the accounts that lines may belong to, absent for any
 * @throws DataError with every problem found
 */
export async function checkData(
  table: Table,
  source: string,
  lines: Lines,
  { nowMs, only }: { nowMs: number; only?: readonly Int64[] | undefined },
): Promise<CheckedLine[]> {
  const problems: DataProblem[] = [];
  const checked: CheckedLine[] = [];
  let number = 0;
  for await (const text of lines) {
    number += 1;
    const report = (problem: string) => problems.push({ line: number, problem });
    if (typeof text !== 'string') report(text.problem);
    if (typeof text !== 'string' || text.trim() === '') continue;
    const { sent, orders, problems: found } = importedOf(text);
    found.forEach(report);
    if (!sent) continue;
    if (only && !only.includes(sent.account_id))
      report(`is of account ${sent.account_id}, which --account does not name`);
    const bytes = Buffer.byteLength(text);
    if (!isIngestRecord(sent)) checked.push({ number, sent, bytes });
    else {
      const record = ingestRecord(sent, { sentMs: nowMs, messageId: 'import', line: number }, orders);
      checked.push({ number, sent: record.sent, bytes, record });
    }
  }
  for await (const [line, problem] of tableProblems(table, checked)) problems.push({ line: line.number, problem });
  if (problems.length === 0) return checked;
  throw new DataError(
    source,
    problems.sort((a, b) => a.line - b.line),
  );
}

/** Problems of lines whose account does not exist, and of app keys that belong to another account. */
async function* tableProblems(
  table: Table,
  lines: readonly CheckedLine[],
): AsyncGenerator<[line: CheckedLine, problem: string]> {
  const accountsOf = (some: readonly CheckedLine[]) => new Set(some.map(({ sent }) => sent.account_id));
  const missing = accountsOf(lines).difference(accountsOf(lines.filter(({ sent }) => sent.kind === 'account')));
  const erased = new Set<Int64>();
  for (const account of accountsOf(lines)) {
    const row = await readAccount(table, account);
    if (row) missing.delete(account);
    if (row?.erased_at_ms !== undefined) erased.add(account);
  }
  const keyOf = ({ sent }: CheckedLine) => (sent.kind === 'app_key' ? [keys.appKey(appKeyOf(sent).hash)] : []);
  const appKeys = new Map(lines.flatMap(keyOf).map((key) => [key.pk, key]));
  const { rows } = await batchGet(table, [...appKeys.values()], { attributes: ['account_id'] });
  for (const line of lines) {
    const { account_id: id } = line.sent;
    if (erased.has(id)) yield [line, `account ${id} was erased, and its id is not used again`];
    if (missing.has(id))
      yield [line, `account ${id} does not exist: add its account line to the same file, or create it`];
    for (const key of keyOf(line))
      if ((rows.of(key)?.account_id ?? id) !== id) yield [line, 'the key belongs to another account: issue a new one'];
  }
}
