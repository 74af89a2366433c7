import { problemsOf } from '../../../lib/ingest/check-line.ts';
import type { Entity } from '../../../lib/ingest/kinds.ts';
import { sizeProblem } from '../../../lib/ingest/row-size.ts';
import { type Int64, parseJson } from '../../../lib/shared/json.ts';
import { positionOf, syntaxErrorAt } from '../../../lib/shared/json-syntax.ts';
import { printable } from '../text/printable.ts';
import { appKeyOf, identityOf } from './format.ts';
import { LONGEST_LINE } from './lines.ts';

export interface DataProblem {
  /** Counts from 1. */
  line: number;
  problem: string;
}

const SHOWN = 20;

/** Invalid data: nothing is loaded. The message has a line for each of the first problems. */
export class DataError extends Error {
  override readonly name = 'DataError';
  readonly problems: readonly DataProblem[];

  constructor(source: string, problems: readonly DataProblem[]) {
    const shown = problems.slice(0, SHOWN).map(({ line, problem }) => printable(`${source}:${line}: ${problem}`));
    if (problems.length > SHOWN) shown.push(`${source}: ${problems.length} problems, of which ${SHOWN} are shown`);
    super(shown.join('\n'));
    this.problems = problems;
  }
}

const positions = new WeakMap<Entity, { source: string; line: number }>();

/** A checked entity that could not be written, by its line and id. */
export function writeError(entity: Entity, error: Error): DataError {
  const { source, line } = positions.get(entity) ?? { source: 'data', line: 0 };
  // Never an app key: `identityOf` has its hash.
  const problem = `${identityOf(entity)} cannot be written: ${error.message.split('\n')[0]}`;
  return new DataError(source, [{ line, problem }]);
}

/** Lines of data; undefined: one that is not UTF-8. */
export type Lines = AsyncIterable<string | undefined> | Iterable<string | undefined>;

/** The table's contents that decide what may be loaded. */
export interface TableContents {
  hasAccount(account: Int64): Promise<boolean>;
  /** The accounts that app keys belong to, by the keys' hashes; those that are not stored are left out. */
  ownersOf(hashes: readonly string[]): Promise<ReadonlyMap<string, Int64>>;
}

/**
 * Checks all lines of a source: each against its schema, all together for duplicates, and against the table for accounts
 * that do not exist and for keys of another account. Empty lines are skipped.
 * @param source how messages name it, such as a file's path
 * @param only the accounts that it may have lines of; absent: any
 * @throws DataError with every problem found
 */
export async function checkData(
  source: string,
  lines: Lines,
  contents: TableContents,
  only?: readonly Int64[],
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
    if (Buffer.byteLength(text) > LONGEST_LINE) {
      problems.push({ line, problem: `is longer than ${LONGEST_LINE} bytes, the limit of a row` });
      continue;
    }
    const entity = entityOf(text, (problem) => problems.push({ line, problem }));
    if (!entity) continue;
    if (only && !only.includes(entity.account_id))
      problems.push({ line, problem: `is of account ${entity.account_id}, which --account does not name` });
    const tooLarge = sizeProblem(entity, text);
    if (tooLarge !== undefined) problems.push({ line, problem: tooLarge });
    const identity = identityOf(entity);
    const first = firstLines.get(identity);
    if (first === undefined) firstLines.set(identity, line);
    // Never the identity: it may contain a key's hash.
    else problems.push({ line, problem: `duplicates line ${first}: remove one of them` });
    positions.set(entity, { source, line });
    entities.push(entity);
  }
  for await (const [entity, problem] of againstTable(entities, contents))
    problems.push({ line: positions.get(entity)?.line ?? 0, problem });
  if (problems.length > 0)
    throw new DataError(
      source,
      problems.sort((one, other) => one.line - other.line),
    );
  return entities;
}

/** Problems of entities with the table's contents. */
async function* againstTable(
  entities: readonly Entity[],
  contents: TableContents,
): AsyncGenerator<[entity: Entity, problem: string]> {
  const accountsOf = (some: readonly Entity[]) => new Set(some.map(({ account_id }) => account_id));
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
    // The parser's own words quote the line, which may hold an app key.
    const { column } = positionOf(text, syntaxErrorAt(text) ?? text.length);
    report(`is not valid JSON (column ${column})`);
    return undefined;
  }
  const problems = problemsOf(parsed);
  for (const problem of problems) report(problem);
  return problems.length === 0 ? (parsed as Entity) : undefined;
}
