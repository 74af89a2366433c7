/**
 * `npm run audit:changes -- --seed N --count 45`: plants random changes in the sources and prints those that neither the compiler nor a
 * test of `npm test` notices. A person has to judge which of these matter. Of Stryker only its instrumenter is used, which makes the
 * changes: Stryker itself would try every change of each file, which would take days.
 */
import { spawn } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../../test/support/chance.ts';
import { startDynamoDb } from '../../local/dynamodb-local.ts';
import { type Bug, copySources, root, withBug } from '../mutants/plant.ts';
import { installStryker, tools } from './stryker.ts';

/** A bug that replaces a whole file. */
interface Change extends Bug {
  /** The part of the file that differs, before and after. */
  before: string;
  after: string;
}

interface Position {
  line: number;
  column: number;
}

/** A change as Stryker's instrumenter describes it; lines and columns count from 0. */
interface Mutant {
  location: { start: Position; end: Position };
  replacement: string;
  status?: string;
}

async function mutantsOf(name: string, content: string): Promise<Mutant[]> {
  const { Instrumenter } = await import(`${tools}node_modules/@stryker-mutator/instrumenter/dist/src/index.js`);
  const silent = { isDebugEnabled: () => false, isTraceEnabled: () => false, debug() {}, info() {}, warn() {} };
  // String literals are mostly texts for people; the compiler notices nearly all changes of the other two kinds.
  const excludedMutations = ['StringLiteral', 'ObjectLiteral', 'ArrowFunction'];
  const options = { plugins: null, excludedMutations, ignorers: [] };
  const { mutants } = await new Instrumenter(silent).instrument([{ name, content, mutate: true }], options);
  return (mutants as Mutant[]).filter(({ status }) => status === undefined);
}

/** The index in the source of a line and column. */
function offset(source: string, { line, column }: Position): number {
  const before = source.split('\n').slice(0, line);
  return before.reduce((length, text) => length + text.length + 1, 0) + column;
}

/** Chooses at random among the changes of all files, each with the same probability. */
async function chooseChanges(seed: number, count: number): Promise<Change[]> {
  const files = globSync(['{lib,functions,infra}/**/*.ts', 'packages/{admin,client,conformance,local}/**/*.ts'], {
    cwd: root,
  })
    .filter((file) => !/node_modules|\/test\/|\/dist\//.test(file))
    .toSorted();
  const candidates: { file: string; source: string; mutant: Mutant }[] = [];
  for (const file of files) {
    const source = readFileSync(`${root}${file}`, 'utf8');
    if (source.startsWith('// Generated')) continue;
    for (const mutant of await mutantsOf(file, source)) candidates.push({ file, source, mutant });
  }
  const random = seededRandom(seed);
  process.stdout.write(`${count} of ${candidates.length} changes of ${files.length} files, seed ${seed}\n`);
  return Array.from({ length: count }, () => {
    const { file, source, mutant } = candidates[
      Math.floor(random() * candidates.length)
    ] as (typeof candidates)[number];
    const [start, end] = [offset(source, mutant.location.start), offset(source, mutant.location.end)];
    return {
      name: `${file}:${mutant.location.start.line + 1}`,
      file,
      find: source,
      replace: source.slice(0, start) + mutant.replacement + source.slice(end),
      before: source.slice(start, end),
      after: mutant.replacement,
    };
  });
}

/** @returns whether the command failed or took longer than 15 minutes */
function fails(folder: string, ...args: string[]): Promise<boolean> {
  const env = { ...process.env, DYNAMODB_ENDPOINT: dynamoDb.endpoint };
  const options = { cwd: folder, stdio: 'ignore', env, timeout: 900_000, killSignal: 'SIGKILL' } as const;
  const child = spawn(process.execPath, args, options);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code !== 0)));
}

const vitest = `${root}node_modules/vitest/vitest.mjs`;
const untilFailure = ['--run', '--bail=1', '--passWithNoTests', '--project=!releases', '--exclude', 'test/faults/**'];

/** Runs the cheapest check first. @returns what notices the change */
async function noticedBy(folder: string, { file }: Change): Promise<string | undefined> {
  if (await fails(folder, `${root}node_modules/typescript/bin/tsc`, '-p', folder)) return 'the compiler';
  if (await fails(folder, vitest, 'related', file, ...untilFailure)) return 'a test that imports the file';
  if (await fails(folder, vitest, ...untilFailure)) return 'a test that does not import the file';
  return undefined;
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 120);

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '45' } },
});
const [seed, count] = [Number(values.seed), Number(values.count)];
if (!Number.isInteger(seed) || !Number.isInteger(count) || count < 1)
  throw new Error('--seed and --count must be whole numbers, --count at least 1.');
installStryker();
const dynamoDb = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
const changes = await chooseChanges(seed, count);
const folder = copySources('audit');
if (await fails(folder, vitest, ...untilFailure)) throw new Error('A test fails before any change: repair it first.');
let survivors = 0;
for (const change of changes) {
  const by = await withBug(folder, change, () => noticedBy(folder, change));
  if (!by) survivors += 1;
  const verdict = by ? `noticed by ${by}` : 'SURVIVED';
  process.stdout.write(`${verdict}: ${change.name}\n    ${oneLine(change.before)}\n    ${oneLine(change.after)}\n`);
}
await dynamoDb.stop();
rmSync(folder, { recursive: true });
process.stdout.write(`\n${survivors} of ${count} survived.\n`);
