import { parseJson } from '../json.ts';
import { type Entity, identityOf, problemsOf } from './format.ts';

/** One thing that is wrong with the data. */
export interface DataProblem {
  /** Counts from 1. */
  line: number;
  problem: string;
}

/** Most problems that a message shows. */
const SHOWN = 20;

/** Bytes that DynamoDB holds in a row. */
const LARGEST_LINE = 400 * 1024;

/** Data that is wrong, as a whole: nothing of it is loaded. The message has a line for each of the first problems. */
export class DataError extends Error {
  override readonly name = 'DataError';
  readonly problems: readonly DataProblem[];

  constructor(source: string, problems: readonly DataProblem[]) {
    const shown = problems.slice(0, SHOWN).map(({ line, problem }) => `${source}:${line}: ${problem}`);
    if (problems.length > SHOWN) shown.push(`${source}: and ${problems.length - SHOWN} more`);
    super(shown.join('\n'));
    this.problems = problems;
  }
}

/**
 * Checks all lines of a source: each against its schema, and all together for what is said twice and for keys without
 * an account. Empty lines are passed over.
 * @param source how messages name it, such as a file's path
 * @param accountExists whether an account is in the table already
 * @throws DataError with every problem found
 */
export async function checkData(
  source: string,
  lines: AsyncIterable<string> | Iterable<string>,
  accountExists: (account: Entity['account_id']) => Promise<boolean>,
): Promise<Entity[]> {
  const problems: DataProblem[] = [];
  const entities: Entity[] = [];
  const firstLines = new Map<string, number>();
  const keyLines: { line: number; account: Entity['account_id'] }[] = [];
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() === '') continue;
    if (Buffer.byteLength(text) > LARGEST_LINE) {
      problems.push({ line, problem: `is longer than the ${LARGEST_LINE} bytes that a row of the table holds` });
      continue;
    }
    const entity = entityOf(text, (problem) => problems.push({ line, problem }));
    if (!entity) continue;
    const identity = identityOf(entity);
    const first = firstLines.get(identity);
    if (first === undefined) firstLines.set(identity, line);
    // An app key is never shown: the line says enough.
    else problems.push({ line, problem: `says again what line ${first} says: one ${entity.kind} a line` });
    if (entity.kind === 'app_key') keyLines.push({ line, account: entity.account_id });
    entities.push(entity);
  }
  for (const { line: at, account } of keyLines)
    if (!firstLines.has(`account ${account} `) && !(await accountExists(account)))
      problems.push({ line: at, problem: `there is no account ${account}: give its account line in the same data` });
  if (problems.length > 0)
    throw new DataError(
      source,
      problems.sort((one, other) => one.line - other.line),
    );
  return entities;
}

function entityOf(text: string, report: (problem: string) => void): Entity | undefined {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    report('is not well-formed JSON'); // the parser's own words quote the line, which may hold an app key
    return undefined;
  }
  const problems = problemsOf(parsed);
  for (const problem of problems) report(problem);
  return problems.length === 0 ? (parsed as Entity) : undefined;
}
