/**
 * `npm run bench -- [suite…] [--against REV]`: measures, and prints for each figure whether its target is met. With a revision, measures there too,
 * and lists changes of more than 5 %.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addPackages } from '../../test/support/packages.ts';
import { readArguments, UsageError } from './bench-arguments.ts';
import { type AddFigure, createReport, type Figure } from './report.ts';
import { inTurns } from './timings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const say = (line: string) => process.stdout.write(`${line}\n`);

async function measure(suites: readonly string[]): Promise<void> {
  const report = createReport(say);
  for (const suite of suites) {
    say(`\n${suite}`);
    const { run } = (await import(`./suites/${suite}.ts`)) as { run(add: AddFigure): Promise<void> };
    await run(report.addTo(suite));
  }
  report.end();
}

/** How often each of the two trees is measured. */
const TURNS = 3;
/** Relative changes above this are listed. */
const MAX_CHANGE = 0.05;

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

/** Runs the suites alternately in this tree and in a checkout of the revision with its packages, and lists the ratios that changed. */
async function compareWith(revision: string, suites: readonly string[]): Promise<void> {
  const exists = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`], { cwd: root });
  if (exists.status !== 0) throw new UsageError(`There is no revision ${revision}.`);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const tree = join(folder, 'tree');
  try {
    execFileSync('git', ['worktree', 'add', '--detach', '--quiet', tree, revision], { cwd: root });
    addPackages(tree);
    const [before, now] = [new Map<string, number[]>(), new Map<string, number[]>()];
    await inTurns(TURNS, [() => runIn(tree, revision, suites, before), () => runIn(root, 'this tree', suites, now)]);
    listChanges(before, now);
  } finally {
    spawnSync('git', ['worktree', 'remove', '--force', tree], { cwd: root });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the suites in a tree, and adds the ratio of each figure to `ratios`. */
function runIn(tree: string, name: string, suites: readonly string[], ratios: Map<string, number[]>): void {
  say(`measuring ${name}`);
  const command = ['run', '--silent', 'bench', '--', ...suites];
  const { status, stderr } = spawnSync('npm', command, { cwd: tree, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the benchmarks fail in ${name}:\n${stderr}`);
  const { figures } = JSON.parse(readFileSync(join(tree, 'packages/bench/results.json'), 'utf8'));
  for (const { suite, name, ratio } of figures as Figure[]) {
    const key = `${suite}: ${name}`;
    ratios.set(key, [...(ratios.get(key) ?? []), ratio]);
  }
}

function listChanges(before: ReadonlyMap<string, number[]>, now: ReadonlyMap<string, number[]>): void {
  const notCompared = [...new Set(before.keys()).symmetricDifference(now)];
  if (notCompared.length > 0) say(`Not compared, since only one side has them: ${notCompared.join('; ')}.`);
  const compared = [...now].flatMap(([key, ratios]) => {
    const ratiosBefore = before.get(key);
    return ratiosBefore ? [{ key, medianBefore: median(ratiosBefore), medianNow: median(ratios) }] : [];
  });
  const changed = compared.filter(({ medianBefore, medianNow }) => Math.abs(medianNow / medianBefore - 1) > MAX_CHANGE);
  for (const { key, medianBefore, medianNow } of changed) {
    const percent = ((medianNow / medianBefore - 1) * 100).toFixed(0);
    say(`CHANGED ${key}: ${medianBefore.toPrecision(3)} -> ${medianNow.toPrecision(3)} (${percent} %)`);
  }
  say(`${changed.length} of ${compared.length} figures changed by more than 5 %.`);
}

try {
  const { against, suites } = readArguments(process.argv.slice(2));
  if (against === undefined) await measure(suites);
  else await compareWith(against, suites);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
