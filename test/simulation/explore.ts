/**
 * Tries all schedules of a scenario: depth first, each run from the start, since the code under test cannot be copied half-way.
 *
 * Left out is only what cannot differ from what was tried:
 * - a state that was met before (the same rows, and processes that were told the same), and
 * - of two steps that touch no common row, in neither of which an operation begins or both of which are faults, one of the two
 *   orders (sleep sets, kept with each state: Godefroid, Holzmann and Pirottin, "State-space caching revisited").
 */
import type { Access, Rows } from './table-double.ts';
import type { Step, World } from './world.ts';

/** Steps after which a run counts as one that does not end. */
const LONGEST_RUN = 400;

export interface Scenario {
  readonly name: string;
  /** How many schedules there are with one fault: hundreds, thousands, tens of thousands, more; 5: as many with none. */
  readonly cost: 1 | 2 | 3 | 4 | 5;
  /** Rows that runs begin with: each of these. */
  readonly starts: () => Promise<readonly Rows[]>;
  /** Begins the processes. */
  readonly begin: (world: World) => Promise<void>;
  /** What is wrong with a run that is over. */
  readonly judge: (world: World) => string[] | Promise<string[]>;
}

export interface Report {
  readonly scenario: string;
  /** At most. */
  readonly faults: number;
  /** Runs from the start. */
  schedules: number;
  /** Steps that were not tried, for their order does not matter; and runs that ended in a state that was met before. */
  pruned: number;
  states: number;
  /** States that were not gone on from, for a call had lost to others too often. */
  cut: number;
  /** Steps of the longest run. */
  depth: number;
  ms: number;
  /** Absent: nothing is wrong in any schedule. */
  failure?: { problems: string[]; schedule: string[]; steps: string[]; start?: number };
  /** Not all was tried. */
  stoppedEarly?: boolean;
}

interface Node {
  chosen: Step;
  /** Left to try, the chosen one first. */
  todo: Step[];
  done: Step[];
  sleeping: readonly Step[];
}

export type NewWorld = (rows: Rows, faults: number) => World;

export async function explore(
  scenario: Scenario,
  newWorld: NewWorld,
  faults: number,
  mostSchedules = Number.POSITIVE_INFINITY,
): Promise<Report> {
  const began = performance.now();
  const report: Report = {
    scenario: scenario.name,
    faults,
    schedules: 0,
    pruned: 0,
    states: 0,
    cut: 0,
    depth: 0,
    ms: 0,
  };
  /** Of each state that was met, the steps that were asleep in it each time. */
  const met = new Map<string, readonly string[]>();
  const starts = await scenario.starts();
  for (const [index, rows] of starts.entries()) {
    const found = await exploreFrom(rows, scenario, newWorld, report, met, mostSchedules);
    if (!found) continue;
    report.failure = await shortest(scenario, newWorld, rows, faults, found);
    if (starts.length > 1) report.failure.start = index;
    break;
  }
  report.ms = performance.now() - began;
  return report;
}

/** @returns a schedule that fails */
async function exploreFrom(
  rows: Rows,
  scenario: Scenario,
  newWorld: NewWorld,
  report: Report,
  met: Map<string, readonly string[]>,
  mostSchedules: number,
): Promise<string[] | undefined> {
  const path: Node[] = [];
  let failed: string[] | undefined;
  while (report.schedules < mostSchedules) {
    report.schedules += 1;
    const world = newWorld(rows, report.faults);
    await scenario.begin(world);
    for (const { chosen } of path) await take(world, chosen);
    for (;;) {
      const last = path.at(-1);
      const sleeping = last ? [...last.sleeping, ...last.done].filter((step) => areIndependent(step, last.chosen)) : [];
      const asleep = sleeping.map(({ name }) => name);
      const key = world.key();
      const before = met.get(key);
      const steps = world.isCut() ? [] : world.steps();
      let todo = steps;
      if (!before) {
        report.states += 1;
        if (world.isCut()) {
          report.cut += 1;
          failed = [...world.failures];
          if (failed.length > 0) break;
        }
        if (world.isOver() || path.length > LONGEST_RUN) {
          failed =
            path.length > LONGEST_RUN
              ? [`it does not end within ${LONGEST_RUN} steps`]
              : await problemsOf(scenario, world);
          if (failed.length > 0) break;
        }
        met.set(key, asleep);
        todo = todo.filter(({ name }) => !asleep.includes(name));
      } else {
        met.set(
          key,
          before.filter((name) => asleep.includes(name)),
        );
        todo = todo.filter(({ name }) => before.includes(name) && !asleep.includes(name));
      }
      report.pruned += steps.length - todo.length;
      const [chosen] = todo;
      if (!chosen) break;
      path.push({ chosen, todo, done: [], sleeping });
      report.depth = Math.max(report.depth, path.length);
      await take(world, chosen);
    }
    world.close();
    if (failed && failed.length > 0) return path.map(({ chosen }) => chosen.name);
    while (path.length > 0) {
      const top = path.at(-1) as Node;
      top.done.push(...top.todo.splice(0, 1));
      const [next] = top.todo;
      if (next) {
        top.chosen = next;
        break;
      }
      path.pop();
    }
    if (path.length === 0) return undefined;
  }
  report.stoppedEarly = true;
  return undefined;
}

async function take(world: World, { name }: Step): Promise<void> {
  if (!(await world.take(name)))
    throw new Error(`a run is not the same when it is repeated: there is no step "${name}"`);
}

const problemsOf = async ({ judge }: Scenario, world: World) => [...world.failures, ...(await judge(world))];

function areIndependent(one: Step, other: Step): boolean {
  if (one.process === other.process || one.begins || other.begins || (one.fault && other.fault)) return false;
  return !one.accesses.some((access) => other.accesses.some((another) => collide(access, another)));
}

function collide(one: Access, other: Access): boolean {
  if (!one.write && !other.write) return false;
  const meets = (a: string | undefined, b: string | undefined) => a === undefined || b === undefined || a === b;
  return meets(one.pk, other.pk) && meets(one.sk, other.sk);
}

/** Runs a schedule; after its end each process to its own. Steps that are not there are passed over. */
export async function replay(
  scenario: Scenario,
  newWorld: NewWorld,
  rows: Rows,
  faults: number,
  schedule: readonly string[],
) {
  const world = newWorld(rows, faults);
  await scenario.begin(world);
  const taken: string[] = [];
  const take = async (name: string) => {
    if (await world.take(name)) taken.push(name);
  };
  for (const name of schedule) await take(name);
  while (!world.isOver() && taken.length <= LONGEST_RUN) await take((world.steps()[0] as Step).name);
  const problems =
    taken.length > LONGEST_RUN ? [`it does not end within ${LONGEST_RUN} steps`] : await problemsOf(scenario, world);
  return { problems, schedule: taken, steps: world.taken };
}

/** Leaves out of a schedule that fails whatever it fails without: parts of it first, then single steps. */
async function shortest(
  scenario: Scenario,
  newWorld: NewWorld,
  rows: Rows,
  faults: number,
  found: readonly string[],
): Promise<NonNullable<Report['failure']>> {
  const run = (schedule: readonly string[]) => replay(scenario, newWorld, rows, faults, schedule);
  let best = { forced: found, result: await run(found) };
  for (let size = Math.ceil(found.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let position = 0; position < best.forced.length; ) {
      const forced = best.forced.filter((_name, index) => index < position || index >= position + size);
      const result = await run(forced);
      if (result.problems.length > 0) best = { forced, result };
      else position += size;
    }
  return best.result;
}
