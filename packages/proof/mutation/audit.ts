/**
 * `npm run audit:changes -- --seed N --count 45`: plants random changes in the sources and prints those that neither the compiler nor a
 * test of `npm test` notices. A person has to judge which of these matter. Stryker only makes the changes: run by Stryker, tests would
 * take days, since it tries every change of a file.
 */
import { spawn } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../../test/support/chance.ts';
import { startDynamoDb } from '../../local/dynamodb-local.ts';
import { copySources, root, withBug } from '../mutants/plant.ts';
import { installStryker, tools } from './stryker.ts';

interface Change {
  file: string;
  line: number;
  before: string;
  after: string;
  /** The whole file before and after the change. */
  source: string;
  changed: string;
}

interface Place {
  line: number;
  column: number;
}

/** A change as Stryker's instrumenter describes it; lines and columns count from 0. */
interface Mutant {
  location: { start: Place; end: Place };
  replacement: string;
  status?: string;
}

async function mutantsOf(name: string, content: string): Promise<Mutant[]> {
  const { Instrumenter } = await import(`${tools}node_modules/@stryker-mutator/instrumenter/dist/src/index.js`);
  const silent = { isDebugEnabled: () => false, isTraceEnabled: () => false, debug() {}, info() {}, warn() {} };
  // Changes of texts, and changes that the compiler nearly always notices.
  const excludedMutations = ['StringLiteral', 'ObjectLiteral', 'ArrowFunction'];
  const options = { plugins: null, excludedMutations, ignorers: [] };
  const { mutants } = await new Instrumenter(silent).instrument([{ name, content, mutate: true }], options);
  return (mutants as Mutant[]).filter(({ status }) => status === undefined);
}

/** The index in the source of a line and column. */
function offset(source: string, { line, column }: Place): number {
  const before = source.split('\n').slice(0, line);
  return before.reduce((length, text) => length + text.length + 1, 0) + column;
}

/** Chooses among the changes of all files, each as likely as any other. */
async function chooseChanges(seed: number, count: number): Promise<Change[]> {
  const files = globSync(['{lib,functions,infra}/**/*.ts', 'packages/{admin,client,conformance,local}/**/*.ts'], {
    cwd: root,
  })
    .filter((file) => !/node_modules|\/test\/|\/dist\//.test(file))
    .toSorted();
  const all: { file: string; source: string; mutant: Mutant }[] = [];
  for (const file of files) {
    const source = readFileSync(`${root}${file}`, 'utf8');
    if (source.startsWith('// Generated')) continue;
    for (const mutant of await mutantsOf(file, source)) all.push({ file, source, mutant });
  }
  const random = seededRandom(seed);
  process.stdout.write(`${count} of ${all.length} changes of ${files.length} files, seed ${seed}\n`);
  return Array.from({ length: count }, () => {
    const { file, source, mutant } = all[Math.floor(random() * all.length)] as (typeof all)[number];
    const [start, end] = [offset(source, mutant.location.start), offset(source, mutant.location.end)];
    const changed = source.slice(0, start) + mutant.replacement + source.slice(end);
    const line = mutant.location.start.line + 1;
    return { file, line, before: source.slice(start, end), after: mutant.replacement, source, changed };
  });
}

const dynamoDb = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });

/** @returns whether the command failed or took longer than 15 minutes */
function fails(folder: string, ...args: string[]): Promise<boolean> {
  const env = { ...process.env, DYNAMODB_ENDPOINT: dynamoDb.endpoint };
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: 'ignore',
    env,
    timeout: 900_000,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code !== 0)));
}

const vitest = [`${root}node_modules/vitest/vitest.mjs`];
const untilFailure = ['--run', '--bail=1', '--passWithNoTests'];
const everyTest = [...vitest, '--run', '--project=!releases', '--exclude', 'test/faults/**'];

/** Asks the cheapest first. @returns what notices the change */
async function noticedBy(folder: string, { file }: Change): Promise<string | undefined> {
  if (await fails(folder, `${root}node_modules/typescript/bin/tsc`, '-p', folder)) return 'the compiler';
  if (await fails(folder, ...vitest, 'related', file, ...untilFailure, '--project=unit')) return 'a unit test';
  if (await fails(folder, ...vitest, 'related', file, ...untilFailure, '--project=infra')) return 'a test of the stack';
  if (await fails(folder, ...vitest, 'related', file, ...untilFailure, '--project=integration'))
    return 'an integration test';
  return undefined;
}

/** Runs every test. @returns the files that failed, relative to the folder */
async function failingFiles(folder: string): Promise<string[]> {
  const report = `${folder}report.json`;
  rmSync(report, { force: true });
  await fails(folder, ...everyTest, '--reporter=json', `--outputFile=${report}`);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { name: string; status: string }[];
  };
  return testResults.filter(({ status }) => status !== 'passed').map(({ name }) => name.slice(folder.length));
}

/**
 * Tries the changes with all tests, also those that do not import their files. Since that takes minutes, plants one change of each file
 * together, and then each alone with the test files that failed, until no test fails.
 * @returns the changes that no test notices
 */
async function survivorsOf(folder: string, changes: readonly Change[]): Promise<Change[]> {
  const together = changes.filter(({ file }, index) => changes.findIndex((one) => one.file === file) === index);
  const apart = changes.filter((change) => !together.includes(change));
  if (together.length === 0) return [];
  const failing = await plantAll(folder, together, () => failingFiles(folder));
  if (failing.length === 0) return [...together, ...(await survivorsOf(folder, apart))];
  const unnoticed: Change[] = [];
  for (const change of together)
    if (await plantAll(folder, [change], () => fails(folder, ...vitest, ...untilFailure, ...failing)))
      print('noticed by a test that does not import the file', change);
    else unnoticed.push(change);
  if (unnoticed.length === together.length)
    throw new Error(`${failing.join(', ')} failed with several changes together and pass with each alone: try again.`);
  return survivorsOf(folder, [...unnoticed, ...apart]);
}

async function plantAll<Result>(
  folder: string,
  [change, ...others]: readonly Change[],
  act: () => Promise<Result>,
): Promise<Result> {
  if (!change) return act();
  const { file, line, source, changed } = change;
  const bug = { name: `${file}:${line}`, file, find: source, replace: changed };
  return withBug(folder, bug, () => plantAll(folder, others, act));
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 120);

function print(what: string, { file, line, before, after }: Change): void {
  process.stdout.write(`${what}: ${file}:${line}\n    ${oneLine(before)}\n    ${oneLine(after)}\n`);
}

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '45' } },
});
const [seed, count] = [Number(values.seed), Number(values.count)];
if (!Number.isInteger(seed) || !Number.isInteger(count) || count < 1)
  throw new Error('--seed and --count must be whole numbers, --count at least 1.');
installStryker();
const changes = await chooseChanges(seed, count);
const folder = copySources('audit');
const failing = await failingFiles(folder);
if (failing.length > 0) throw new Error(`${failing.join(', ')} failed before any change: repair them first.`);
const unnoticed: Change[] = [];
for (const change of changes) {
  const by = await plantAll(folder, [change], () => noticedBy(folder, change));
  if (by) print(`noticed by ${by}`, change);
  else unnoticed.push(change);
}
const survivors = await survivorsOf(folder, unnoticed);
for (const change of survivors) print('SURVIVED', change);
await dynamoDb.stop();
rmSync(folder, { recursive: true });
process.stdout.write(`\n${survivors.length} of ${count} survived.\n`);
