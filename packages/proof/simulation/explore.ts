/**
 * Tries all schedules of a scenario, depth first. It leaves out only what cannot differ from what was tried:
 * - states that were met before: the same rows, and processes with the same deliveries;
 * - one of the two orders of two steps that are independent (`areIndependent`), by sleep sets, which are kept with each state (Godefroid,
 *   Holzmann and Pirottin, "State-space caching revisited");
 * - steps of others while a process is about to read what no process writes: a persistent set (Godefroid, "Partial-order methods");
 * - where one process is left, the arrival of a late call before a call that shares no row with it.
 */
import { type FinishedRun, finishedRun, isOver, type State } from './state.ts';
import { describe, haveRowInCommon, type Step } from './steps.ts';
import type { Rows } from './table-double.ts';
import { type Setup, TransitionSystem } from './transition-system.ts';

/** With more known states, the search from the next starting table forgets them, to bound the memory used. */
const MAX_STATES = 500_000;
/** A run with more steps counts as endless. */
const MAX_STEPS = 400;
const ENDLESS = [`it does not end within ${MAX_STEPS} steps`];

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
  /** Steps left out because they slept or their state was known. */
  pruned: number;
  states: number;
  /** The most calls to the table that one operation made. */
  calls: number;
  /** Steps of the longest run. */
  depth: number;
  cpuMs: number;
  /** A schedule that failed, shortened, and the index of its starting table if there are several. */
  failure?: { problems: string[]; schedule: string[]; steps: string[]; start?: number };
}

/** A state on the path of the search. */
interface Node {
  readonly state: State;
  /** Steps left to try. */
  readonly todo: Step[];
  readonly done: Taken[];
  /** The sleep set: steps that were tried in another order. */
  readonly sleeping: readonly Taken[];
}

interface Taken {
  readonly step: Step;
  /** Whether it ended an operation. */
  readonly ends: boolean;
}

export async function explore(scenario: Scenario, faults: number): Promise<Report> {
  const began = process.cpuUsage();
  const report: Report = {
    scenario: scenario.name,
    faults,
    schedules: 0,
    pruned: 0,
    states: 0,
    calls: 0,
    depth: 0,
    cpuMs: 0,
  };
  let search = new Search(scenario, report);
  const starts = await scenario.starts();
  for (const [index, rows] of starts.entries()) {
    if (search.known > MAX_STATES) search = new Search(scenario, report);
    const found = await search.from(rows);
    if (!found) continue;
    report.failure = await shortened(scenario, rows, faults, found);
    if (starts.length > 1) report.failure.start = index;
    break;
  }
  const { user, system } = process.cpuUsage(began);
  report.cpuMs = (user + system) / 1_000;
  return report;
}

class Search {
  readonly #scenario: Scenario;
  readonly #report: Report;
  readonly #system: TransitionSystem;
  /** For each known state, by its key, the steps that were asleep each time it was met. */
  readonly #known = new Map<string, readonly string[]>();
  /** The problems of the latest new state. */
  #problems: string[] = [];

  constructor(scenario: Scenario, report: Report) {
    this.#scenario = scenario;
    this.#report = report;
    this.#system = new TransitionSystem(scenario, report.faults);
  }

  get known(): number {
    return this.#known.size;
  }

  /** Searches again while partitions turn out to be written that the search took for unwritten. @returns a failing schedule, if any */
  async from(rows: Rows): Promise<string[] | undefined> {
    const before = { ...this.#report };
    for (;;) {
      const { size } = this.#system.written;
      const found = await this.#search(rows, size);
      if (found || this.#system.written.size === size) return found;
      Object.assign(this.#report, before);
      this.#known.clear();
    }
  }

  /** Stops when the number of written partitions exceeds `written`: persistent sets were too small. */
  async #search(rows: Rows, written: number): Promise<string[] | undefined> {
    const report = this.#report;
    const first = this.#enter(await this.#system.begin(rows), [], 0);
    const path: { node: Node; chosen?: Step }[] = [{ node: first }];
    const failing = () => path.flatMap(({ chosen }) => (chosen ? [chosen.name] : []));
    if (this.#problems.length > 0) return failing();
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const { state, todo, done, sleeping } = top.node;
      const step = todo.shift();
      if (!step) {
        path.pop();
        continue;
      }
      top.chosen = step;
      const after = await this.#system.take(state, step);
      if (this.#system.written.size > written) return undefined;
      const ends = after.operations !== state.operations && endedIn(after) > endedIn(state);
      const taken: Taken = { step, ends };
      const asleep = [...sleeping, ...done].filter((other) => areIndependent(other, taken));
      done.push(taken);
      const node = this.#enter(after, asleep, path.length);
      if (this.#problems.length > 0) return failing();
      report.depth = Math.max(report.depth, path.length);
      if (node.todo.length > 0) path.push({ node });
      else report.schedules += 1;
    }
    return undefined;
  }

  /** Judges a new state, and finds the steps to try: in a known one only those that slept each time it was met, and no longer sleep. */
  #enter(state: State, sleeping: readonly Taken[], depth: number): Node {
    const asleep = sleeping.map(({ step }) => step.name);
    const key = this.#system.key(state);
    const before = this.#known.get(key);
    const steps = this.#system.persistentSet(state, this.#system.steps(state));
    let todo: Step[];
    if (before) {
      const still = before.filter((name) => asleep.includes(name));
      todo = steps.filter(({ name }) => before.includes(name) && !asleep.includes(name));
      if (still.length < before.length) this.#known.set(key, still);
    } else {
      this.#report.states += 1;
      for (const { calls } of state.operations) this.#report.calls = Math.max(this.#report.calls, calls);
      this.#problems = this.#problemsOf(state, depth);
      this.#known.set(key, asleep);
      todo = steps.filter(({ name }) => !asleep.includes(name));
    }
    this.#report.pruned += steps.length - todo.length;
    return { state, todo, done: [], sleeping };
  }

  #problemsOf(state: State, depth: number): string[] {
    if (depth > MAX_STEPS) return ENDLESS;
    if (!isOver(state)) return [...state.failures];
    return problemsOf(this.#scenario, state);
  }
}

const endedIn = ({ operations }: State) => operations.filter(({ ended }) => ended).length;

const problemsOf = ({ judge }: Scenario, state: State) => [...state.failures, ...judge(finishedRun(state))];

/** Whether both orders lead to the same state: no common row, not both faults, and neither begins an operation while the other ends one. */
function areIndependent({ step: one, ends }: Taken, { step: other, ends: otherEnds }: Taken): boolean {
  if (one.process === other.process || (one.fault && other.fault)) return false;
  if ((one.begins && otherEnds) || (other.begins && ends)) return false;
  return !haveRowInCommon(one.accesses, other.accesses);
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
  const problems = taken.length > MAX_STEPS ? ENDLESS : problemsOf(scenario, state);
  return { problems, schedule: taken.map(({ name }) => name), steps: taken.map(describe) };
}

/** Shortens a failing schedule: leaves out half of it, then less and less, as long as it still fails. */
async function shortened(
  scenario: Scenario,
  rows: Rows,
  faults: number,
  found: readonly string[],
): Promise<NonNullable<Report['failure']>> {
  const system = new TransitionSystem(scenario, faults);
  let best = { forced: found, result: await replay(scenario, system, rows, found) };
  for (let size = Math.ceil(found.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let position = 0; position < best.forced.length; ) {
      const forced = best.forced.filter((_name, index) => index < position || index >= position + size);
      const result = await replay(scenario, system, rows, forced);
      if (result.problems.length > 0) best = { forced, result };
      else position += size;
    }
  return best.result;
}
