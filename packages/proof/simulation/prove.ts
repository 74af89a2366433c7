/**
 * `npm run prove`: tries every schedule of a few calls of the real code, within bounds that it prints.
 *
 * A scenario is a handful of processes that call the functions of `lib` on a table in memory (`table-double.ts`, which a test
 * compares with DynamoDB Local). Each of their calls to the table waits until it is taken: which one is next is a choice, and so
 * is whether something goes wrong with it, or with its process (`FAULTS` in `faults.ts`). All choices are tried, but for
 * those that cannot lead to anything new (`explore.ts`); after each run the rows are checked as `admin check` does, and answers
 * and rows compared with what a plain sequential model allows (`linearize.ts`).
 *
 * An operation that loses to others again and again is a failure: no run is left before its end. `calls` is the most that one made.
 *
 * `docs/reliability.md` says what is tried and what is not. A message comes when the call that it is from has ended, as the queue's
 * delay has it, but where a scenario says that it comes at once.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ACCOUNTS } from './account-scenarios.ts';
import { DELETES } from './deletes.ts';
import { explore, type Report, replay, type Scenario } from './explore.ts';
import { IMPORTS } from './imports.ts';
import { LARGE_MERGES } from './large-merges.ts';
import { LIMITS } from './limits.ts';
import { MERGES } from './merges.ts';
import { virtualize } from './process.ts';
import { RECORDS } from './records.ts';
import { TransitionSystem } from './transition-system.ts';

const HELP = `npm run prove -- [options]: tries every schedule of a few calls, within bounds that it prints.

  --form FORM     quick, short (the gate's), two (faults in the smallest scenarios), default or long
  --only TEXT     scenarios with this in their names
  --faults N      at most N faults in a run, whatever the form says
  --stop          at the first failure
  --replay STEPS --only NAME --faults N --start N
                  the run that a failure prints
`;

/** Maximum faults in a run, by the size of a scenario; absent: the scenario is left out. */
const FORMS: Readonly<Record<string, Readonly<Partial<Record<Scenario['cost'], number>>>>> = {
  quick: { 1: 1, 2: 0, 3: 0 },
  short: { 1: 1, 2: 1, 3: 1, 4: 1, 5: 0, 6: 0 },
  two: { 1: 2 },
  default: { 1: 2, 2: 1, 3: 1, 4: 1, 5: 1, 6: 0 },
  long: { 1: 2, 2: 2, 3: 2, 4: 2, 5: 1, 6: 1 },
};
const SCENARIOS: readonly Scenario[] = [
  ...MERGES,
  ...LARGE_MERGES,
  ...IMPORTS,
  ...RECORDS,
  ...DELETES,
  ...ACCOUNTS,
  ...LIMITS,
];
const print = (text: string) => process.stdout.write(`${text}\n`);

const { values: options } = parseArgs({
  options: {
    form: { type: 'string', default: 'default' },
    only: { type: 'string', default: '' },
    faults: { type: 'string' },
    replay: { type: 'string' },
    /** Which of its starting tables, if there are several. */
    start: { type: 'string', default: '0' },
    stop: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
    /** The worker: explores what the parent process asks for. */
    lane: { type: 'boolean', default: false },
  },
});
const form = FORMS[options.form];
if (!form) throw new Error(`--form must be one of ${Object.keys(FORMS).join(', ')}`);
const scenarioOf = (name: string) => SCENARIOS.find((one) => one.name === name) as Scenario;

function line({ scenario, faults, schedules, pruned, states, calls, depth, cpuMs, failure }: Report): string {
  const numbers = [schedules, pruned, states, calls, depth].map((number) => number.toLocaleString('en').padStart(11));
  return `${failure ? 'FAILED' : 'holds '} ${scenario.padEnd(62)} ${faults} ${numbers.join(' ')} ${(cpuMs / 1_000).toFixed(1).padStart(8)} s`;
}

function failureText({ scenario, faults, failure }: Pick<Report, 'scenario' | 'faults' | 'failure'>): string {
  const { problems = [], steps = [], schedule = [], start } = failure ?? {};
  return [
    ...problems.map((problem) => `  ${problem}`),
    start === undefined ? '  after these steps:' : `  from start ${start}, after these steps:`,
    ...steps.map((step, index) => `  ${String(index + 1).padStart(3)}. ${step}`),
    `  again: npm run prove -- --only "${scenario}" --faults ${faults} ${start === undefined ? '' : `--start ${start} `}--replay "${schedule.join('; ')}"`,
  ].join('\n');
}

const ALONE = options.form === 'quick';

interface Job {
  scenario: string;
  faults: number;
}
const run = ({ scenario, faults }: Job) => explore(scenarioOf(scenario), faults);

/** Starts a worker process, so that two run at once. */
const lane = () =>
  fork(fileURLToPath(import.meta.url), ['--lane'], {
    execArgv: ['--max-old-space-size=6000'],
    serialization: 'advanced',
  });

/** @returns undefined when another worker has found a failure that stops all */
async function reportOf(job: Job, child: ChildProcess): Promise<Report | undefined> {
  const ended = new AbortController();
  const exit = once(child, 'exit', ended).then(([code]) => {
    if (child.killed) return [];
    throw new Error(`"${job.scenario}" has ended with ${code}`);
  });
  child.send(job);
  try {
    const [report] = await Promise.race([once(child, 'message', ended), exit]);
    return report;
  } finally {
    ended.abort();
    exit.catch(() => undefined);
  }
}

async function proveAll(): Promise<boolean> {
  const chosen = SCENARIOS.flatMap((scenario) => {
    const faults = options.faults === undefined ? form?.[scenario.cost] : Number(options.faults);
    return faults === undefined || !scenario.name.includes(options.only) ? [] : [{ scenario, faults }];
  });
  print(`${'scenario'.padEnd(69)} faults  schedules      pruned      states       calls       depth        CPU`);
  if (ALONE) virtualize();
  const began = performance.now();
  const reports: Report[] = [];
  // The longest first, so that none runs alone at the end; or the shortest, if one failure may be enough.
  const order = options.stop ? 1 : -1;
  const left = chosen.toSorted((one, other) => order * (one.scenario.cost - other.scenario.cost)).values();
  const children = Array.from({ length: ALONE ? 0 : availableParallelism() }, lane);
  await Promise.all(
    (ALONE ? [undefined] : children).map(async (child) => {
      for (const { scenario, faults } of left) {
        const job = { scenario: scenario.name, faults };
        const report = await (child ? reportOf(job, child) : run(job));
        if (!report) return;
        reports.push(report);
        print(line(report));
        if (!report.failure) continue;
        print(failureText(report));
        if (!options.stop) continue;
        for (const each of children) each.kill();
        return;
      }
      child?.disconnect();
    }),
  );
  const sum = (of: (report: Report) => number) =>
    reports.reduce((all, report) => all + of(report), 0).toLocaleString('en');
  const failed = reports.filter(({ failure }) => failure).length;
  const atMost = (most: number) => chosen.filter(({ faults }) => faults <= most).map(({ scenario }) => scenario.name);
  if (!options.stop) {
    if (atMost(0).length > 0) print(`\nNot tried: any fault in\n  ${atMost(0).join('\n  ')}`);
    if (atMost(1).length > 0) print(`\nNot tried: a second fault in ${atMost(1).length} scenarios.`);
  }
  print(
    `\n${reports.length} scenarios, ${sum(({ schedules }) => schedules)} schedules, ${sum(({ states }) => states)} states in ` +
      `${((performance.now() - began) / 1_000).toFixed(0)} s: ${failed === 0 ? 'all hold' : `${failed} FAILED`}.`,
  );
  return failed === 0 && reports.length > 0;
}

if (options.help) print(HELP);
else if (options.lane) {
  virtualize();
  process.on('message', async (job: Job) => process.send?.(await run(job)));
} else if (options.replay !== undefined) {
  virtualize();
  const scenario = scenarioOf(options.only);
  const faults = Number(options.faults ?? 0);
  const rows = (await scenario.starts())[Number(options.start)] ?? new Map();
  const failure = await replay(scenario, new TransitionSystem(scenario, faults), rows, options.replay.split('; '));
  print(failureText({ scenario: scenario.name, faults, failure }));
  process.exitCode = failure.problems.length > 0 ? 1 : 0;
} else process.exitCode = (await proveAll()) ? 0 : 1;
