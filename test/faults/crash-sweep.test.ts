/** Merges that a fault interrupts, which are then finished and retried, and what must hold of them whatever the fault. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { FAULTS, type Fault } from '../support/fault-proxy.ts';
import { type FaultyTable, faultyDouble, faultyTable } from '../support/faulty-table.ts';
import { finishFeed } from '../support/finish.ts';
import { newAccount } from '../support/incidents.ts';
import { handlersOver, invokeAlone, newTable, testDeps } from '../support/service.ts';

/** How a merge is interrupted: by `fault` at its `nth` wire call; then finish-merges or the caller's retry comes first. */
interface Cut {
  alerts: number;
  nth: number;
  fault: Fault;
  first: 'finish' | 'retry';
}

const ORDERS = ['finish', 'retry'] as const;
const OWNER = 7;
/** A call that took longer may have reached its deadline, and had no time to check whether its merge is committed. */
const IN_TIME_MS = 1_800;
/** Time-outs of the table's clients: shorter than production's, since hundreds of cuts wait for a reply that does not come. */
const TIMEOUTS = { connectionTimeout: 500, requestTimeout: 600 };

interface Arena {
  /** Merges alerts into a new incident, interrupted as the cut says. @returns the problems found */
  run(cut: Cut): Promise<string[]>;
  /** Number of wire calls that a merge takes without a fault. */
  calls(alerts: number): Promise<number>;
}

/** An account whose alerts are merged again and again, each time into a new incident. */
async function openArena(faulty: FaultyTable, mostAlerts: number): Promise<Arena> {
  const { table } = faulty;
  const tenant = await newAccount(table);
  await tenant.member(OWNER);
  const all = await tenant.alerts(mostAlerts);
  let place = new Map<string, string | undefined>(all.map((id) => [id, undefined]));
  let serial = 0;

  const callMerge = async (through: Table, body: object, key: string) => {
    const { mergeAlerts } = handlersOver(testDeps(through));
    const answer = await invokeAlone(mergeAlerts, tenant.event(body, { headers: { 'Idempotency-Key': key } }));
    return answer.status;
  };

  /** Retries after 503, as callers do: a busy DynamoDB Local may not answer in time. */
  const callUntilAnswered = async (through: Table, body: object, key: string) => {
    let status = 503;
    for (let tries = 0; status === 503 && tries < 5; tries += 1) status = await callMerge(through, body, key);
    return status;
  };

  async function state(alerts: string[], to: string) {
    const [where, feed, incident, pending] = await Promise.all([
      tenant.placements(alerts),
      tenant.feed(to),
      tenant.incidentRow(to),
      tenant.pending(),
    ]);
    const recorded = feed.flatMap(({ moved }) => Object.values(moved).flat());
    return {
      moved: where.filter((incidentId) => incidentId === to).length,
      kept: where.filter((incidentId, index) => incidentId === place.get(alerts[index] as string)).length,
      entries: feed,
      /** Number of alerts of the entry, moved or not. */
      listed: feed.reduce((sum, entry) => sum + (entry.listed ?? Object.values(entry.moved).flat().length), 0),
      recorded: recorded.length,
      changed: incident.title === 'New' && incident.owner_id === OWNER,
      untouched: incident.title === 'Old' && incident.owner_id === undefined,
      pendingMarks: pending.length + feed.filter((row) => row.pending).length,
    };
  }

  const finish = async (to: string) => finishFeed(table, await tenant.feed(to));

  /** A new incident, and the merge of the first alerts into it. */
  async function prepare(count: number) {
    serial += 1;
    const to = await tenant.incident({ title: 'Old' });
    const alerts = all.slice(0, count);
    const body = { alert_ids: alerts, incident_id: to, title: 'New', owner_id: OWNER };
    return { to, alerts, body, key: `k${serial}` };
  }

  return {
    async calls(count) {
      const { body, key, to, alerts } = await prepare(count);
      faulty.plan();
      const through = faulty.connect();
      if ((await callUntilAnswered(through, body, key)) !== 200) throw new Error('a merge that nothing cut has failed');
      // On a busy machine the call may answer before all is moved.
      await finish(to);
      for (const id of alerts) place.set(id, to);
      return faulty.calls();
    },

    async run({ alerts: count, nth, fault, first }) {
      const { to, alerts, body, key } = await prepare(count);
      const problems: string[] = [];
      const check = (holds: boolean, problem: string) => {
        if (!holds) problems.push(problem);
      };
      faulty.plan((call) => (call.number === nth ? fault : undefined));
      const through = faulty.connect();
      const began = Date.now();
      const status = await callMerge(through, body, key);
      const took = Date.now() - began;
      const died = faulty.killed();
      faulty.plan();

      const after = await state(alerts, to);
      const committed = after.entries.length > 0;
      check(after.entries.length <= 1, `${after.entries.length} entries right after`);
      if (committed) {
        check(after.changed, 'the entry is there, title and owner are not');
        check(after.listed === count, `the entry has ${after.listed} alerts`);
      } else {
        check(after.untouched, 'title or owner are there without the entry');
        check(after.kept === count, `only ${after.kept} alerts are where they were, without an entry`);
      }
      if (!died) {
        // The service takes a ValidationException for a bug of its own and answers 500.
        check([200, 503, ...(fault === 'invalid' ? [500] : [])].includes(status), `answered ${status}`);
        if (status === 200) check(committed, 'answered 200, and nothing is committed');
        else if (took < IN_TIME_MS) check(!committed, `answered ${status}, and the merge is committed`);
      }

      const retry = async () => {
        const again = faulty.connect();
        const repeated = await callUntilAnswered(again, body, key);
        check(repeated === 200, `the retry answered ${repeated}`);
      };
      if (first === 'retry') await retry();
      await finish(to);
      if (first === 'finish') {
        const between = await state(alerts, to);
        if (committed) check(between.moved === count, `${between.moved} alerts moved after finish-merges`);
        else check(between.kept === count && between.untouched, 'finish-merges has done what was not committed');
        check(between.pendingMarks === 0, `${between.pendingMarks} pending marks after finish-merges`);
        await retry();
        await finish(to);
      }
      const end = await state(alerts, to);
      check(end.moved === count, `${end.moved} alerts moved in the end`);
      check(end.entries.length === 1, `${end.entries.length} entries in the end`);
      check(end.recorded === count, `the feed records ${end.recorded} alerts in the end`);
      check(end.changed, 'title or owner are missing in the end');
      check(end.pendingMarks === 0, `${end.pendingMarks} pending marks in the end`);
      place = new Map([...place, ...alerts.map((id): [string, string] => [id, to])]);
      return problems;
    },
  };
}

/** Runs cuts in parallel lanes. @param open opens the arena of a lane, and a new one after each `cutsAnArena` cuts */
async function runCuts(
  open: (lane: number) => Promise<Arena>,
  { lanes, cutsAnArena }: { lanes: number; cutsAnArena: number },
  cuts: readonly Cut[],
): Promise<string[]> {
  const left = cuts.values();
  const broken: string[] = [];
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      let arena = await open(lane);
      let ran = 0;
      for (const cut of left) {
        if (ran > 0 && ran % cutsAnArena === 0) arena = await open(lane);
        ran += 1;
        const problems = await arena.run(cut);
        if (problems.length > 0) broken.push(`${JSON.stringify(cut)}: ${problems.join('; ')}`);
      }
    }),
  );
  return broken;
}

const FORM = process.env.FAULTS ?? 'quick';
const ALL = Number.POSITIVE_INFINITY;

interface Sweep {
  alerts: number;
  /** Maximum number of cuts that are tried: a sample, or all. */
  most: number;
}

/** With a title, an owner and a key, 95 alerts are the most that fit into one transaction. */
const IN_MEMORY: Readonly<Record<string, Sweep[]>> = {
  quick: [1, 95, 96].map((alerts) => ({ alerts, most: 22 })),
  ci: [
    ...[1, 95, 96, 101].map((alerts) => ({ alerts, most: ALL })),
    { alerts: 250, most: 300 },
    { alerts: 1_000, most: 60 },
  ],
  full: [1, 95, 96, 101, 250, 1_000].map((alerts) => ({ alerts, most: ALL })),
};
const LOCAL: Readonly<Record<string, Sweep[]>> = {
  quick: [1, 96].map((alerts) => ({ alerts, most: 2 })),
  ci: [1, 95, 96, 250].map((alerts) => ({ alerts, most: 16 })),
  full: [1, 95, 96, 101, 250, 1_000].map((alerts) => ({ alerts, most: ALL })),
};
const AFTER_STORM: Readonly<Record<string, Sweep[]>> = {
  quick: [],
  ci: [1, 95, 250].map((alerts) => ({ alerts, most: 12 })),
  full: [1, 95, 250].map((alerts) => ({ alerts, most: ALL })),
};

/** The cuts of a sweep over merges that take `calls` wire calls. */
function cutsOf({ alerts, most }: Sweep, calls: number): Cut[] {
  const random = seededRandom(SEED + alerts);
  const all: Cut[] = [];
  for (let nth = 1; nth <= calls; nth += 1)
    for (const fault of FAULTS) for (const first of ORDERS) all.push({ alerts, nth, fault, first });
  if (all.length <= most) return all;
  // The calls around the commit, and the last one, are where most can go wrong.
  const isStructural = ({ nth }: Cut) => nth <= calls - alerts || nth > calls - 2;
  const others = all.filter((cut) => !isStructural(cut));
  return [
    ...sample(all.filter(isStructural), Math.ceil(most / 2), random),
    ...sample(others, Math.floor(most / 2), random),
  ];
}

const NAME = 'are whole or absent, wherever they are cut, after finish-merges and a retry in either order';
const TIMEOUT_MS = 40 * 60_000;

describe.each(IN_MEMORY[FORM] ?? [])(`merges of $alerts alerts that are cut, in memory (SEED=${SEED})`, (sweep) => {
  it(
    NAME,
    async () => {
      const open = () => openArena(faultyDouble(), sweep.alerts);
      const cuts = cutsOf(sweep, await (await open()).calls(sweep.alerts));
      expect(cuts.length).toBeGreaterThan(10);
      // New arenas now and then: in memory each read goes through all rows.
      expect(await runCuts(open, { lanes: 4, cutsAnArena: 10 }, cuts)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

const SWEEPS = [
  { where: 'in DynamoDB Local', afterStorm: false, sweeps: LOCAL[FORM] ?? [] },
  { where: 'in DynamoDB Local, after a storm of throttled calls', afterStorm: true, sweeps: AFTER_STORM[FORM] ?? [] },
].filter(({ sweeps }) => sweeps.length > 0);

describe.each(SWEEPS)(`merges that are cut, $where (SEED=${SEED})`, ({ afterStorm, sweeps }) => {
  const lanes: FaultyTable[] = [];
  beforeAll(async () => {
    const table = await newTable();
    for (let lane = 0; lane < 4; lane += 1)
      lanes.push(await faultyTable(table, { afterStorm, ...(!afterStorm && { timeouts: TIMEOUTS }) }));
  });
  afterAll(() => Promise.all(lanes.map((faulty) => faulty.close())));

  it.each(sweeps)(
    `of $alerts alerts ${NAME}`,
    async (sweep: Sweep) => {
      const arenas = await Promise.all(lanes.map((faulty) => openArena(faulty, sweep.alerts)));
      const calls = await Promise.all(arenas.map((arena) => arena.calls(sweep.alerts)));
      const cuts = cutsOf(sweep, Math.max(...calls));
      expect(cuts.length).toBeGreaterThan(0);
      const open = async (lane: number) => arenas[lane] as (typeof arenas)[number];
      expect(await runCuts(open, { lanes: lanes.length, cutsAnArena: ALL }, cuts)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
