/**
 * Tries all schedules of a scenario, depth first. Each state is continued only once: states are equal if their rows are equal and their
 * processes have had the same deliveries.
 */
import { type FinishedRun, finishedRun, isOver, type State } from './state.ts';
import { describe, type Step } from './steps.ts';
import type { Rows } from './table-double.ts';
import { type Setup, TransitionSystem } from './transition-system.ts';

/** When more states are known, they are forgotten before the next starting table is tried, to bound the memory used. */
const MAX_STATES = 500_000;
/** A run with more steps counts as endless. */
const MAX_STEPS = 400;

export interface Scenario extends Setup {
  readonly name: string;
  /** By its number of states with one fault: hundreds, thousands, tens of thousands, a hundred thousand, millions, more. */
  readonly cost: 1 | 2 | 3 | 4 | 5 | 6;
  /** The tables that runs start from; each is tried. */
  readonly starts: () => Promise<readonly Rows[]>;
  /** The problems of a finished run; empty: it is correct. */
  readonly judge: (run: FinishedRun) => string[];
}

export interface Report {
  readonly scenario: string;
  /** Maximum faults in a run. */
  readonly faults: number;
  /** Schedules that were run, each to its end or to a known state. */
  schedules: number;
  states: number;
  /** The most calls to the table that one operation made. */
  calls: number;
  /** Steps of the longest run. */
  depth: number;
  cpuMs: number;
  /** A schedule that failed, shortened, and the index of its starting table if there are several. */
  failure?: { problems: string[]; schedule: string[]; steps: string[]; start?: number };
}

export async function explore(scenario: Scenario, faults: number): Promise<Report> {
  const began = process.cpuUsage();
  const report: Report = { scenario: scenario.name, faults, schedules: 0, states: 0, calls: 0, depth: 0, cpuMs: 0 };
  let system = new TransitionSystem(scenario, faults);
  /** Keys of the states that were examined. */
  const known = new Set<string>();
  /** The steps that lead to the state being examined. */
  const schedule: string[] = [];

  /** Examines a state and all that follow from it. @returns whether one has problems; `schedule` then leads to it */
  async function findProblems(state: State): Promise<boolean> {
    report.depth = Math.max(report.depth, schedule.length);
    const key = system.key(state);
    const isKnown = known.has(key);
    const steps = isKnown ? [] : system.steps(state);
    if (steps.length === 0) report.schedules += 1;
    if (isKnown) return false;
    known.add(key);
    report.states += 1;
    for (const { calls } of state.invocations) report.calls = Math.max(report.calls, calls);
    if (problemsOf(scenario, state, schedule.length).length > 0) return true;
    for (const step of steps) {
      schedule.push(step.name);
      if (await findProblems(await system.take(state, step))) return true;
      schedule.pop();
    }
    return false;
  }

  const starts = await scenario.starts();
  for (const [index, rows] of starts.entries()) {
    if (known.size > MAX_STATES) {
      known.clear();
      system = new TransitionSystem(scenario, faults);
    }
    if (!(await findProblems(await system.begin(rows)))) continue;
    report.failure = await shortened(scenario, rows, faults, schedule);
    if (starts.length > 1) report.failure.start = index;
    break;
  }
  const { user, system: inKernel } = process.cpuUsage(began);
  report.cpuMs = (user + inKernel) / 1_000;
  return report;
}

function problemsOf({ judge }: Scenario, state: State, steps: number): string[] {
  if (steps > MAX_STEPS) return [`it does not end within ${MAX_STEPS} steps`];
  return isOver(state) ? [...state.failures, ...judge(finishedRun(state))] : [...state.failures];
}

/** Runs a schedule, then each process to its end. Steps that are not possible are skipped. */
export async function replay(scenario: Scenario, system: TransitionSystem, rows: Rows, schedule: readonly string[]) {
  let state = await system.begin(rows);
  const taken: Step[] = [];
  const take = async (step: Step | undefined) => {
    if (!step) return;
    state = await system.take(state, step);
    taken.push(step);
  };
  for (const name of schedule) await take(system.steps(state).find((step) => step.name === name));
  while (!isOver(state) && taken.length <= MAX_STEPS) await take(system.steps(state)[0]);
  return {
    problems: problemsOf(scenario, state, taken.length),
    schedule: taken.map(({ name }) => name),
    steps: taken.map(describe),
  };
}

/** Shortens a failing schedule: leaves out half of it, then less and less, as long as it still fails. */
async function shortened(
  scenario: Scenario,
  rows: Rows,
  faults: number,
  found: readonly string[],
): Promise<NonNullable<Report['failure']>> {
  const system = new TransitionSystem(scenario, faults);
  let best = { prescribed: found, result: await replay(scenario, system, rows, found) };
  for (let size = Math.ceil(found.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let position = 0; position < best.prescribed.length; ) {
      const prescribed = best.prescribed.filter((_name, index) => index < position || index >= position + size);
      const result = await replay(scenario, system, rows, prescribed);
      if (result.problems.length > 0) best = { prescribed, result };
      else position += size;
    }
  return best.result;
}
