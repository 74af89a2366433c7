/**
 * `npm run bench -- [suite…] [--against REV]`: measures, and says of each figure whether it meets its target. With a
 * revision, the same is measured there too, in turns and with its own packages, and changes of more than 5 % are named.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addPackages } from '../../test/support/packages.ts';
import { type Arguments, readArguments, UsageError } from './bench-arguments.ts';
import { createReport, type Figure, writeResults } from './report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const say = (line: string) => process.stdout.write(`${line}\n`);

async function measure(suites: readonly string[]): Promise<void> {
  const report = createReport(say);
  for (const suite of suites) {
    say(`\n${suite}`);
    const { run } = (await import(`./suites/${suite}.ts`)) as {
      run(add: ReturnType<typeof report.of>): Promise<void> | void;
    };
    await run(report.of(suite));
  }
  writeResults(report.figures);
  const missed = report.figures.filter(({ met }) => met === false);
  say(
    missed.length === 0
      ? '\nEvery target is met.'
      : `\n${missed.length} missed: ${missed.map(({ name }) => name).join('; ')}.`,
  );
}

/** Changes above this are listed. */
const CHANGE = 0.05;

const median = (values: number[]) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)] as number;

/** Runs the suites alternately here and at a revision, and lists what changed: by its ratio, or by its value if it has no baseline. */
function compareWith(revision: string, suites: readonly string[], turns: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const there = join(folder, 'tree');
  const { status: missing } = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`], {
    cwd: root,
  });
  if (missing !== 0) exitOnUsageError(new UsageError(`There is no revision ${revision}.`));
  try {
    execFileSync('git', ['worktree', 'add', '--detach', '--quiet', there, revision], { cwd: root });
    addPackages(there);
    const here = join(folder, 'here');
    execFileSync('git', ['worktree', 'add', '--detach', '--quiet', here, 'HEAD'], { cwd: root });
    // Uncommitted changes of tracked files are measured too.
    execFileSync('bash', ['-c', `git diff HEAD --binary | git -C ${here} apply --allow-empty`], { cwd: root });
    addPackages(here);
    const figures = { here: new Map<string, number[]>(), there: new Map<string, number[]>() };
    for (let turn = 0; turn < turns; turn += 1)
      for (const [which, tree] of turn % 2 === 0
        ? ([
            ['there', there],
            ['here', here],
          ] as const)
        : ([
            ['here', here],
            ['there', there],
          ] as const)) {
        say(`turn ${turn + 1}: ${which === 'here' ? 'this tree' : revision}`);
        const { status, stderr } = spawnSync('npm', ['run', '--silent', 'bench', '--', ...suites], {
          cwd: tree,
          encoding: 'utf8',
        });
        if (status !== 0)
          throw new Error(`the benchmarks fail in ${which === 'here' ? 'this tree' : revision}:\n${stderr}`);
        // Earlier revisions have the benchmarks at the top.
        const packages = existsSync(join(tree, 'packages')) ? 'packages' : '';
        const results = JSON.parse(readFileSync(join(tree, packages, 'bench', 'results.json'), 'utf8'));
        for (const { suite, name, value, ratio } of results.figures as Figure[])
          if (suites.includes(suite)) {
            const key = `${suite}: ${name}`;
            figures[which].set(key, [...(figures[which].get(key) ?? []), ratio ?? value]);
          }
      }
    const onlyOnOneSide = [...new Set(figures.here.keys()).symmetricDifference(figures.there)];
    if (onlyOnOneSide.length > 0) say(`Not compared, for one side does not have them: ${onlyOnOneSide.join('; ')}.`);
    let changes = 0;
    let compared = 0;
    for (const [key, values] of figures.here) {
      const before = figures.there.get(key);
      if (!before) continue;
      compared += 1;
      const [current, then] = [median(values), median(before)];
      if (then === 0 || Math.abs(current / then - 1) <= CHANGE) continue;
      changes += 1;
      say(
        `CHANGED ${key}: ${then.toPrecision(3)} -> ${current.toPrecision(3)} (${((current / then - 1) * 100).toFixed(0)} %)`,
      );
    }
    say(
      changes === 0
        ? `None of ${compared} figures changed by more than 5 %.`
        : `${changes} of ${compared} figures changed by more than 5 %.`,
    );
  } finally {
    for (const tree of ['tree', 'here'])
      spawnSync('git', ['worktree', 'remove', '--force', join(folder, tree)], { cwd: root });
    rmSync(folder, { recursive: true, force: true });
  }
}

function argumentsOrExit(): Arguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    return exitOnUsageError(error);
  }
}

function exitOnUsageError(error: unknown): never {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}

const { against, turns, suites } = argumentsOrExit();
if (against === undefined) await measure(suites);
else compareWith(against, suites, turns);
