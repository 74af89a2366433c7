import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { FAULTS } from '../support/fault-proxy.ts';
import { type FaultyTable, faultyDouble, faultyTable } from '../support/faulty-table.ts';
import { type Cut, ORDERS, openArena, runCuts, TIMEOUTS } from '../support/merge-sweep.ts';
import { newTable } from '../support/service.ts';

const FORM = process.env.FAULTS ?? 'quick';
const ALL = Number.POSITIVE_INFINITY;

interface Sweep {
  alerts: number;
  /** Most cuts that are tried: a sample, or all. */
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
  { where: 'in DynamoDB Local, after a storm', afterStorm: true, sweeps: AFTER_STORM[FORM] ?? [] },
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
