/**
 * `npm run prove`: tries every schedule of a few calls of the real code, within bounds that it prints.
 *
 * A scenario is a handful of processes that call functions of `lib` and `packages/admin` on a table in memory (`table-double.ts`). Each of
 * their calls to the table waits for the scheduler, which chooses the call to execute next, and whether a fault (`faults.ts`) affects it
 * or its process. All choices are tried, once in each state (`explore.ts`). At the end of each run the rows are checked as by
 * `admin check`, and some sequential order of the invocations has to explain all answers and rows (`linearizability.ts`).
 *
 * An operation that loses to others without end makes more calls than allowed, which is a failure. A message is delivered when the process
 * that caused it has ended, as the queue delays it, unless the scenario delivers it early. `docs/reliability.md` says what is not tried.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { explore, type Report, replay, type Scenario } from './explore.ts';
import { virtualize } from './process.ts';
import { SCENARIOS } from './scenarios.ts';
import { TransitionSystem } from './transition-system.ts';

const HELP = `npm run prove -- [options]: tries every schedule of a few calls, within bounds that it prints.

  --form FORM     quick, short (part of .ci/run), two (two faults, smallest scenarios only), default or long
  --only TEXT     scenarios with this in their names
  --faults N      at most N faults in a run, whatever the form says
  --stop          stop at the first failure
  --replay STEPS --only NAME --faults N --start N
                  repeats a failed run; a failure prints these options
`;

/** Maximum faults in a run, by form and the scenario's cost; absent: the scenario is left out. */
const FORMS: Readonly<Record<string, Readonly<Partial<Record<Scenario['cost'], number>>>>> = {
  quick: { 1: 1, 2: 0, 3: 0 },
  short: { 1: 1, 2: 1, 3: 1, 4: 1, 5: 0, 6: 0 },
  two: { 1: 2 },
  default: { 1: 2, 2: 1, 3: 1, 4: 1, 5: 1, 6: 0 },
  long: { 1: 2, 2: 2, 3: 2, 4: 2, 5: 1, 6: 1 },
};
const print = (text: string) => process.stdout.write(`${text}\n`);

const { values: options } = parseArgs({
  options: {
    form: { type: 'string', default: 'default' },
    only: { type: 'string', default: '' },
    faults: { type: 'string' },
    replay: { type: 'string' },
    /** Index of the starting table, for --replay. */
    start: { type: 'string', default: '0' },
    stop: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
    /** Explores the scenarios that the parent process sends. */
    worker: { type: 'boolean', default: false },
  },
});
const form = FORMS[options.form];
if (!form) throw new Error(`--form must be one of ${Object.keys(FORMS).join(', ')}.`);
for (const name of ['faults', 'start'] as const)
  if (!/^\d+$/.test(options[name] ?? '0')) throw new Error(`--${name} must be a number, not "${options[name]}".`);

/** @throws Error if there is none: --replay takes the whole name from --only, which can be mistyped */
function scenarioNamed(name: string): Scenario {
  const scenario = SCENARIOS.find((known) => known.name === name);
  if (!scenario) throw new Error(`No scenario has the name "${name}".`);
  return scenario;
}

function line({ scenario, faults, schedules, states, calls, depth, cpuMs, failure }: Report): string {
  const numbers = [schedules, states, calls, depth].map((number) => number.toLocaleString('en').padStart(11));
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

interface Job {
  scenario: string;
  faults: number;
}

const startWorker = () =>
  fork(fileURLToPath(import.meta.url), ['--worker'], {
    execArgv: ['--max-old-space-size=6000'],
    serialization: 'advanced',
  });

/** Has a worker run one job after another. @returns when none is left, or the worker is stopped because of a failure */
function runJobs(worker: ChildProcess, jobs: Iterator<Job>, onReport: (report: Report) => void): Promise<void> {
  const sendNext = () => {
    const { value, done } = jobs.next();
    if (done) worker.disconnect();
    else worker.send(value);
  };
  return new Promise((resolve, reject) => {
    worker.on('message', (report: Report) => {
      onReport(report);
      if (!worker.killed) sendNext();
    });
    worker.once('exit', (code) =>
      code === 0 || worker.killed ? resolve() : reject(new Error(`A worker has exited with ${code}.`)),
    );
    sendNext();
  });
}

async function proveAll(): Promise<boolean> {
  const chosen = SCENARIOS.flatMap((scenario) => {
    const faults = options.faults === undefined ? form?.[scenario.cost] : Number(options.faults);
    return faults === undefined || !scenario.name.includes(options.only) ? [] : [{ scenario, faults }];
  });
  print(`${'scenario'.padEnd(69)} faults  schedules      states       calls       depth        CPU`);
  const began = performance.now();
  const reports: Report[] = [];
  // The longest first, so that no long one runs alone at the end; with --stop the shortest first, since one failure is enough.
  const order = options.stop ? 1 : -1;
  const jobs = chosen
    .toSorted((a, b) => order * (a.scenario.cost - b.scenario.cost))
    .map(({ scenario, faults }) => ({ scenario: scenario.name, faults }));
  const workers = Array.from({ length: availableParallelism() }, startWorker);
  const onReport = (report: Report) => {
    reports.push(report);
    print(line(report));
    if (report.failure) print(failureText(report));
    if (options.stop && report.failure) for (const worker of workers) worker.kill();
  };
  const remaining = jobs.values();
  await Promise.all(workers.map((worker) => runJobs(worker, remaining, onReport)));
  const sum = (numberOf: (report: Report) => number) =>
    reports.reduce((total, report) => total + numberOf(report), 0).toLocaleString('en');
  const failed = reports.filter(({ failure }) => failure).length;
  const withAtMost = (max: number) => chosen.filter(({ faults }) => faults <= max).map(({ scenario }) => scenario.name);
  const [noFault, oneFault] = [withAtMost(0), withAtMost(1)];
  if (!options.stop) {
    if (noFault.length > 0) print(`\nNot tried: any fault in\n  ${noFault.join('\n  ')}`);
    if (oneFault.length > 0) print(`\nNot tried: a second fault in ${oneFault.length} scenarios.`);
  }
  print(
    `\n${reports.length} scenarios, ${sum(({ schedules }) => schedules)} schedules, ${sum(({ states }) => states)} states in ` +
      `${((performance.now() - began) / 1_000).toFixed(0)} s: ${failed === 0 ? 'all hold' : `${failed} FAILED`}.`,
  );
  return failed === 0 && reports.length > 0;
}

if (options.help) print(HELP);
else if (options.worker) {
  virtualize();
  process.on('message', async ({ scenario, faults }: Job) => {
    process.send?.(await explore(scenarioNamed(scenario), faults));
  });
} else if (options.replay !== undefined) {
  virtualize();
  const scenario = scenarioNamed(options.only);
  const faults = Number(options.faults ?? 0);
  const rows = (await scenario.starts())[Number(options.start)];
  if (!rows) throw new Error(`The scenario has no start ${options.start}.`);
  const failure = await replay(scenario, new TransitionSystem(scenario, faults), rows, options.replay.split('; '));
  print(failureText({ scenario: scenario.name, faults, failure }));
  process.exitCode = failure.problems.length > 0 ? 1 : 0;
} else process.exitCode = (await proveAll()) ? 0 : 1;
