import { entityOf } from '../../../lib/ingest/check-line.ts';
import { rowOf } from '../../../lib/ingest/entity-rows.ts';
import {
  type Entity,
  FEED_KINDS,
  type FeedKind,
  identityOf as identityOfRow,
  KINDS,
  type Kind,
} from '../../../lib/ingest/kinds.ts';
import { type FeedRecord, recordOfChecked } from '../../../lib/ingest/records.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet, rowName } from '../../../lib/table/read.ts';
import { readAccount } from '../accounts/accounts.ts';
import { type AppKeyIdentity, identityOfAppKey } from '../accounts/app-key-admin.ts';
import { printable } from '../text/printable.ts';

export interface DataProblem {
  /** Number of the line, from 1. */
  line: number;
  problem: string;
}

/** Maximum number of problems that are listed, and of warnings. */
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
export function appKeyOf({ app_key, app_key_hash, last_digits }: Entity): AppKeyIdentity {
  if (app_key !== undefined) return identityOfAppKey(String(app_key));
  return { hash: String(app_key_hash), lastDigits: String(last_digits ?? '') };
}

/** Two lines with the same identity are duplicates. */
const identityOf = (entity: Entity): string =>
  entity.kind === 'app_key' ? `app_key ${appKeyOf(entity).hash}` : identityOfRow(entity);

/** A line that has no problems. */
export interface CheckedLine {
  /** Its number, from 1. */
  readonly number: number;
  readonly entity: Entity;
  /** What is written; absent for accounts and app keys. */
  readonly record?: FeedRecord;
}

/** The error for a checked line that could not be written: it names its number and id. */
export function writeError(source: string, { number, entity }: CheckedLine, error: Error): DataError {
  // This does not reveal an app key: `identityOf` contains only its hash.
  const problem = `${identityOf(entity)} cannot be written: ${error.message.split('\n')[0]}`;
  return new DataError(source, [{ line: number, problem }]);
}

/** Lines of data; undefined in place of one that is not UTF-8. */
export type Lines = AsyncIterable<string | undefined> | Iterable<string | undefined>;

/** What a check needs besides the lines. */
export interface CheckOptions {
  /** The time of the command, which lines without `at_ms` get. */
  nowMs: number;
  /** The accounts that lines may belong to; absent: any account. */
  only?: readonly Int64[] | undefined;
  /** Called for lines that are valid but likely a mistake. */
  warn?: (text: string) => void;
}

/**
 * Checks all lines of a source: each by itself as a record of the feed is checked, all together for duplicates, and against
 * the table for accounts that do not exist and for keys of another account. Empty lines are skipped.
 * @param source its name in messages, such as the path of a file
 * @throws DataError with every problem found
 */
export async function checkData(
  table: Table,
  source: string,
  lines: Lines,
  { nowMs, only, warn = () => {} }: CheckOptions,
): Promise<CheckedLine[]> {
  const problems: DataProblem[] = [];
  const checked: CheckedLine[] = [];
  const firstLines = new Map<string, number>();
  let number = 0;
  for await (const text of lines) {
    number += 1;
    const report = (problem: string) => problems.push({ line: number, problem });
    if (text === undefined) report('is not valid UTF-8');
    if (text === undefined || text.trim() === '') continue;
    const found = entityOf(text, KINDS);
    found.problems.forEach(report);
    if (!found.entity) continue;
    const line = checkedLine(number, found.entity, nowMs, report);
    const { entity } = line;
    if (only && !only.includes(entity.account_id))
      report(`is of account ${entity.account_id}, which --account does not name`);
    const identity = identityOf(entity);
    const firstLine = firstLines.get(identity);
    if (firstLine === undefined) {
      firstLines.set(identity, number);
      checked.push(line);
      // The problem does not quote the identity, which may contain the hash of a key.
    } else report(`duplicates line ${firstLine}: remove one of them`);
  }
  for await (const [line, problem] of tableProblems(table, checked)) problems.push({ line: line.number, problem });
  if (problems.length > 0)
    throw new DataError(
      source,
      problems.sort((a, b) => a.line - b.line),
    );
  const missing = await missingReferences(table, checked);
  for (const { line, problem } of missing.slice(0, MAX_SHOWN))
    warn(printable(`${source}:${line.number}: warning: ${problem}`));
  if (missing.length > MAX_SHOWN)
    warn(`${printable(source)}: ${missing.length} warnings, of which ${MAX_SHOWN} are shown`);
  return checked;
}

function checkedLine(number: number, entity: Entity, nowMs: number, report: (problem: string) => void): CheckedLine {
  if (!isFeedEntity(entity)) return { number, entity };
  const result = recordOfChecked(entity, nowMs);
  if ('record' in result) return { number, entity: result.record.entity, record: result.record };
  report(result.problem);
  return { number, entity };
}

const isFeedEntity = (entity: Entity): entity is Entity<FeedKind> =>
  (FEED_KINDS as readonly Kind[]).includes(entity.kind);

/** The rows that an entity refers to, each with field and id: a merge fails without its incident or its owner. */
function* referencesOf({ kind, account_id: account, incident_id, owner_id }: Entity) {
  if (kind === 'alert' && incident_id !== undefined) {
    const id = String(incident_id).toLowerCase();
    yield [keys.incident(account, id), `incident_id ${id}`] as const;
  }
  if (kind === 'incident' && owner_id !== undefined)
    yield [keys.member(account, owner_id as Int64), `owner_id ${owner_id}`] as const;
}

/** The references to rows that are neither in the lines nor in the table. */
async function missingReferences(table: Table, lines: readonly CheckedLine[]) {
  const found = new Set(lines.flatMap(({ record }) => (record ? rowName(rowOf(record.entity)) : [])));
  const references = lines.flatMap((line) =>
    [...referencesOf(line.entity)].map(([key, text]) => ({ line, key, name: rowName(key), text })),
  );
  const wanted = new Map(references.filter(({ name }) => !found.has(name)).map(({ name, key }) => [name, key]));
  const { rows } = await batchGet(table, [...wanted.values()], { attributes: [] });
  for (const row of rows.values()) found.add(rowName(row));
  return references
    .filter(({ name }) => !found.has(name))
    .map(({ line, text }) => ({ line, problem: `${text} is neither in the data nor in the table` }));
}

/** Problems of lines whose account does not exist, and of app keys that belong to another account. */
async function* tableProblems(
  table: Table,
  lines: readonly CheckedLine[],
): AsyncGenerator<[line: CheckedLine, problem: string]> {
  const accountsOf = (some: readonly CheckedLine[]) => new Set(some.map(({ entity }) => entity.account_id));
  const missing = accountsOf(lines).difference(accountsOf(lines.filter(({ entity }) => entity.kind === 'account')));
  for (const account of missing) if (await readAccount(table, account)) missing.delete(account);
  const keyOf = ({ entity }: CheckedLine) =>
    entity.kind === 'app_key' ? keys.appKey(appKeyOf(entity).hash) : undefined;
  const { rows } = await batchGet(
    table,
    lines.flatMap((line) => keyOf(line) ?? []),
    { attributes: ['account_id'] },
  );
  for (const line of lines) {
    const { account_id: id } = line.entity;
    if (missing.has(id))
      yield [line, `account ${id} does not exist: add its account line to the same file, or create it`];
    const key = keyOf(line);
    if (key && (rows.of(key)?.account_id ?? id) !== id)
      yield [line, 'the key belongs to another account: issue a new one'];
  }
}
