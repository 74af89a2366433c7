import { rowName } from '../../../lib/dynamodb/batch-get.ts';
import { type KeyOf, keys } from '../../../lib/dynamodb/keys.ts';
import { problemsOf } from '../../../lib/ingest/check-line.ts';
import { sizeProblem } from '../../../lib/ingest/entity-rows.ts';
import { type Entity, identityOf as identityOfRow } from '../../../lib/ingest/kinds.ts';
import { type Int64, parseJson } from '../../../lib/shared/json.ts';
import { positionOf, syntaxErrorAt } from '../../../lib/shared/json-syntax.ts';
import { type AppKeyIdentity, identityOfAppKey } from '../accounts/app-key-admin.ts';
import { printable } from '../text/printable.ts';
import { MAX_LINE_BYTES } from './lines.ts';

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

const positions = new WeakMap<Entity, { source: string; line: number }>();

/** The error for a checked entity that could not be written: it names its line and id. */
export function writeError(entity: Entity, error: Error): DataError {
  const { source, line } = positions.get(entity) ?? { source: 'data', line: 0 };
  // This does not reveal an app key: `identityOf` contains only its hash.
  const problem = `${identityOf(entity)} cannot be written: ${error.message.split('\n')[0]}`;
  return new DataError(source, [{ line, problem }]);
}

/** Lines of data; undefined in place of one that is not UTF-8. */
export type Lines = AsyncIterable<string | undefined> | Iterable<string | undefined>;

/** Reads what the check needs to know of the table. */
export interface TableContents {
  hasAccount(account: Int64): Promise<boolean>;
  /** The account that each app key belongs to, by the key's hash; without keys that are not stored. */
  ownersOf(hashes: readonly string[]): Promise<ReadonlyMap<string, Int64>>;
  /** The names of the given rows that exist. */
  existing(keys: readonly ReferencedKey[]): Promise<ReadonlySet<string>>;
}

type ReferencedKey = KeyOf<'incident' | 'member'>;

/**
 * Checks all lines of a source: each against its schema, all together for duplicates, and against the table for accounts
 * that do not exist and for keys of another account. Empty lines are skipped.
 * @param source its name in messages, such as the path of a file
 * @param only the accounts that lines may belong to; absent: any account
 * @param warn called for lines that are valid but likely a mistake
 * @throws DataError with every problem found
 */
export async function checkData(
  source: string,
  lines: Lines,
  contents: TableContents,
  only?: readonly Int64[],
  warn: (text: string) => void = () => undefined,
): Promise<Entity[]> {
  const problems: DataProblem[] = [];
  const entities: Entity[] = [];
  const firstLines = new Map<string, number>();
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text === undefined) {
      problems.push({ line, problem: 'is not valid UTF-8' });
      continue;
    }
    if (text.trim() === '') continue;
    if (Buffer.byteLength(text) > MAX_LINE_BYTES) {
      problems.push({ line, problem: `is longer than ${MAX_LINE_BYTES} bytes, the limit of a row` });
      continue;
    }
    const entity = entityOf(text, (problem) => problems.push({ line, problem }));
    if (!entity) continue;
    if (only && !only.includes(entity.account_id))
      problems.push({ line, problem: `is of account ${entity.account_id}, which --account does not name` });
    const tooLarge = sizeProblem(entity, text);
    if (tooLarge !== undefined) problems.push({ line, problem: tooLarge });
    const identity = identityOf(entity);
    const firstLine = firstLines.get(identity);
    if (firstLine === undefined) firstLines.set(identity, line);
    // The problem does not quote the identity, which may contain the hash of a key.
    else problems.push({ line, problem: `duplicates line ${firstLine}: remove one of them` });
    positions.set(entity, { source, line });
    entities.push(entity);
  }
  for await (const [entity, problem] of tableProblems(entities, contents))
    problems.push({ line: positions.get(entity)?.line ?? 0, problem });
  if (problems.length > 0)
    throw new DataError(
      source,
      problems.sort((a, b) => a.line - b.line),
    );
  const missing = await missingReferences(entities, contents);
  for (const { entity, problem } of missing.slice(0, MAX_SHOWN))
    warn(printable(`${source}:${positions.get(entity)?.line}: warning: ${problem}`));
  if (missing.length > MAX_SHOWN)
    warn(`${printable(source)}: ${missing.length} warnings, of which ${MAX_SHOWN} are shown`);
  return entities;
}

/** The rows that an entity refers to, each with field and id: a merge fails without its incident or its owner. */
function* referencesOf({
  kind,
  account_id: account,
  incident_id,
  owner_id,
}: Entity): Generator<[ReferencedKey, string]> {
  if (kind === 'alert' && incident_id !== undefined) {
    const id = String(incident_id).toLowerCase();
    yield [keys.incident(account, id), `incident_id ${id}`];
  }
  if (kind === 'incident' && owner_id !== undefined)
    yield [keys.member(account, owner_id as Int64), `owner_id ${owner_id}`];
}

/** The references to rows that are neither among the entities nor in the table. */
async function missingReferences(entities: readonly Entity[], contents: TableContents) {
  const namesInData = new Set<string>();
  for (const { kind, account_id: account, incident_id, member_id } of entities) {
    if (kind === 'incident') namesInData.add(rowName(keys.incident(account, String(incident_id).toLowerCase())));
    if (kind === 'member') namesInData.add(rowName(keys.member(account, member_id as Int64)));
  }
  const references = entities.flatMap((entity) =>
    [...referencesOf(entity)].flatMap(([key, text]) => (namesInData.has(rowName(key)) ? [] : [{ entity, key, text }])),
  );
  const referencedKeys = [...new Map(references.map(({ key }) => [rowName(key), key])).values()];
  const existing = await contents.existing(referencedKeys);
  return references
    .filter(({ key }) => !existing.has(rowName(key)))
    .map(({ entity, text }) => ({ entity, problem: `${text} is neither in the data nor in the table` }));
}

/** Problems of entities whose account does not exist, and of app keys that belong to another account. */
async function* tableProblems(
  entities: readonly Entity[],
  contents: TableContents,
): AsyncGenerator<[entity: Entity, problem: string]> {
  const accountsOf = (items: readonly Entity[]) => new Set(items.map(({ account_id }) => account_id));
  const missing = accountsOf(entities).difference(accountsOf(entities.filter(({ kind }) => kind === 'account')));
  for (const account of missing) if (await contents.hasAccount(account)) missing.delete(account);
  const appKeys = entities.filter(({ kind }) => kind === 'app_key');
  const owners = await contents.ownersOf(appKeys.map((entity) => appKeyOf(entity).hash));
  for (const entity of entities) {
    const { account_id: id } = entity;
    if (missing.has(id))
      yield [entity, `account ${id} does not exist: add its account line to the same file, or create it`];
  }
  for (const entity of appKeys) {
    const owner = owners.get(appKeyOf(entity).hash);
    if (owner !== undefined && owner !== entity.account_id)
      yield [entity, 'the key belongs to another account: issue a new one'];
  }
}

function entityOf(text: string, report: (problem: string) => void): Entity | undefined {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    // The parser's message quotes the line, which may contain an app key.
    const { column } = positionOf(text, syntaxErrorAt(text) ?? text.length);
    report(`is not valid JSON (column ${column})`);
    return undefined;
  }
  const problems = problemsOf(parsed);
  for (const problem of problems) report(problem);
  return problems.length === 0 ? (parsed as Entity) : undefined;
}
