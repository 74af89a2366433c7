/**
 * Tries all schedules of a scenario, depth first.
 *
 * Left out is only what cannot differ from what was tried:
 * - a state that was met before (the same rows, and processes with the same deliveries), and
 * - of two steps that touch no common row, neither of which begins an operation while the other ends one, and which are not both
 *   faults, one of the two orders (sleep sets, kept with each state: Godefroid, Holzmann and Pirottin, "State-space caching
 *   revisited"); where one process is left, what is late arrives only next to calls that have a row in common with it; and where
 *   one reads what nobody writes, it goes first (a persistent set: Godefroid, "Partial-order methods").
 */
import type { Rows } from './table-double.ts';
import {
  type Cast,
  describe,
  haveRowInCommon,
  isOver,
  type Outcome,
  outcomeOfRun,
  type State,
  type Step,
  TransitionSystem,
} from './transition-system.ts';

/** Number of states after which the next starting table begins with an empty memory, to bound the memory used. */
const MAX_STATES = 500_000;
/** Steps after which a run counts as endless. */
const MAX_STEPS = 400;

export interface Scenario extends Cast {
  readonly name: string;
  /** How many states there are with one fault: hundreds, thousands, tens of thousands, a hundred thousand, millions, more. */
  readonly cost: 1 | 2 | 3 | 4 | 5 | 6;
  /** The starting tables: runs begin with each of them. */
  readonly starts: () => Promise<readonly Rows[]>;
  /** The problems of a finished run; empty: it is correct. */
  readonly judge: (run: Outcome) => string[];
}

export interface Report {
  readonly scenario: string;
  /** At most. */
  readonly faults: number;
  /** Number of schedules run, each to its end or to a known state. */
  schedules: number;
  /** Steps that were skipped, because their order does not matter or the state was known. */
  pruned: number;
  states: number;
  /** The most calls to the table that an operation made; more than its limit is a failure. */
  calls: number;
  /** Steps of the longest run. */
  depth: number;
  /** Of processor time. */
  cpuMs: number;
  /** Absent: no schedule failed. */
  failure?: { problems: string[]; schedule: string[]; steps: string[]; start?: number };
}

/** A state on the way. */
interface Node {
  readonly state: State;
  /** Left to try. */
  readonly todo: Step[];
  readonly done: Taken[];
  readonly sleeping: readonly Taken[];
}

interface Taken {
  readonly step: Step;
  /** It ended an operation. */
  readonly ends: boolean;
}

const NONE: readonly string[] = [];

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
    if (search.met > MAX_STATES) search = new Search(scenario, report);
    const found = await search.from(rows);
    if (!found) continue;
    report.failure = await shortest(scenario, rows, faults, found);
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
  /** For each known state, the steps that were asleep in it each time. */
  readonly #met = new Map<string, readonly string[]>();
  /** By what they were judged by. */
  readonly #judged = new Map<string, string[]>();
  #failed: string[] = [];

  constructor(scenario: Scenario, report: Report) {
    this.#scenario = scenario;
    this.#report = report;
    this.#system = new TransitionSystem(scenario, report.faults);
  }

  get met(): number {
    return this.#met.size;
  }

  /** @returns a schedule that fails */
  async from(rows: Rows): Promise<string[] | undefined> {
    const before = { ...this.#report };
    for (;;) {
      const { size } = this.#system.written;
      const found = await this.#search(rows, size);
      if (found || this.#system.written.size === size) return found;
      Object.assign(this.#report, before);
      this.#met.clear();
    }
  }

  /** Stops when a partition is written that was not known as written. */
  async #search(rows: Rows, written: number): Promise<string[] | undefined> {
    const report = this.#report;
    const first = this.#enter(await this.#system.begin(rows), [], 0);
    const path: { node: Node; chosen?: Step }[] = [{ node: first }];
    const failing = () => path.flatMap(({ chosen }) => (chosen ? [chosen.name] : []));
    if (this.#failed.length > 0) return failing();
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
      if (this.#failed.length > 0) return failing();
      report.depth = Math.max(report.depth, path.length);
      if (node.todo.length > 0) path.push({ node });
      else report.schedules += 1;
    }
    return undefined;
  }

  #enter(state: State, sleeping: readonly Taken[], depth: number): Node {
    const asleep = sleeping.length === 0 ? NONE : sleeping.map(({ step }) => step.name);
    const key = this.#system.key(state);
    const before = this.#met.get(key);
    const steps = this.#system.withoutOthers(state, this.#system.steps(state));
    let todo: Step[];
    if (before) {
      const still = before.filter((name) => asleep.includes(name));
      todo = steps.filter(({ name }) => before.includes(name) && !asleep.includes(name));
      if (still.length < before.length) this.#met.set(key, still.length > 0 ? still : NONE);
    } else {
      this.#report.states += 1;
      for (const { calls } of state.operations) this.#report.calls = Math.max(this.#report.calls, calls);
      this.#failed = this.#problemsOf(state, depth);
      this.#met.set(key, asleep);
      todo = steps.filter(({ name }) => !asleep.includes(name));
    }
    this.#report.pruned += steps.length - todo.length;
    return { state, todo, done: [], sleeping };
  }

  #problemsOf(state: State, depth: number): string[] {
    if (depth > MAX_STEPS) return [`it does not end within ${MAX_STEPS} steps`];
    if (!isOver(state)) return [...state.failures];
    const judged = this.#system.judged(state);
    let problems = this.#judged.get(judged);
    if (!problems) {
      problems = problemsOf(this.#scenario, state);
      this.#judged.set(judged, problems);
    }
    return problems;
  }
}

const endedIn = ({ operations }: State) => operations.filter(({ ended }) => ended).length;

const problemsOf = ({ judge }: Scenario, state: State) => [...state.failures, ...judge(outcomeOfRun(state))];

function areIndependent({ step: one, ends }: Taken, { step: other, ends: otherEnds }: Taken): boolean {
  if (one.process === other.process || (one.fault && other.fault)) return false;
  if ((one.begins && otherEnds) || (other.begins && ends)) return false;
  return !haveRowInCommon(one.accesses, other.accesses);
}

/**
 * Runs a schedule, then each process to its end. Steps that are not possible are skipped.
 * @param system of the scenario
 */
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
  const problems =
    taken.length > MAX_STEPS ? [`it does not end within ${MAX_STEPS} steps`] : problemsOf(scenario, state);
  return { problems, schedule: taken.map(({ name }) => name), steps: taken.map(describe) };
}

/** Shortens a failing schedule: leaves out parts, then single steps, as long as it still fails. */
async function shortest(
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
