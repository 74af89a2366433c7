import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../lib/table/client.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { FAULTS } from '../support/fault-proxy.ts';
import { type Cut, ORDERS, openArena, runCuts } from '../support/merge-sweep.ts';
import { newTable } from '../support/service.ts';

/** How many cuts of each size: every one in the long form, as many as fit into some seconds otherwise. */
const MOST: Readonly<Record<string, number>> = { full: Number.POSITIVE_INFINITY, ci: 60, quick: 6 };
const FORM = process.env.FAULTS ?? 'quick';
const SAMPLED_OF_1000 = 24;
/** Merges at once: as many as DynamoDB Local answers in time. */
const atOnce = (alerts: number) => (FORM === 'quick' || alerts === 1_000 ? 2 : 4);

let table: Table;
beforeAll(async () => {
  table = await newTable();
});

/** With a title, an owner and a key, 95 alerts are the most that fit into one transaction. */
const sizes = FORM === 'quick' ? [1, 95, 150] : [1, 95, 96, 101, 250, 1_000];
const SWEEPS = [
  ...sizes.map((alerts) => ({ alerts, afterStorm: false, when: '' })),
  ...(FORM === 'quick' ? [] : [1, 95, 250]).map((alerts) => ({ alerts, afterStorm: true, when: ' after a storm' })),
];

describe(`merges that are cut (SEED=${SEED})`, () => {
  describe.each(SWEEPS)('of $alerts alerts$when', ({ alerts, afterStorm }) => {
    let arenas: Awaited<ReturnType<typeof openArena>>[];
    beforeAll(async () => {
      arenas = await Promise.all(
        Array.from({ length: atOnce(alerts) }, () => openArena(table, dynamodbEndpoint(), alerts, afterStorm)),
      );
    });
    afterAll(() => Promise.all(arenas.map((arena) => arena.close())));

    it(
      'are all done or not begun, whatever is cut, after finish-merges and a retry in either order',
      async () => {
        const random = seededRandom(SEED + alerts);
        const calls = Math.max(...(await Promise.all(arenas.map((arena) => arena.calls(alerts)))));
        const all: Cut[] = [];
        for (let at = 1; at <= calls; at += 1)
          for (const fault of FAULTS) for (const first of ORDERS) all.push({ alerts, at, fault, first });
        // The calls around the commit, and the last one, are where most can go wrong.
        const structural = ({ at }: Cut) => at <= calls - alerts || at > calls - 2;
        const most = Math.min(MOST[FORM] ?? 0, alerts === 1_000 ? SAMPLED_OF_1000 : Number.POSITIVE_INFINITY);
        const cuts =
          all.length <= most
            ? all
            : [
                ...sample(all.filter(structural), Math.ceil(most / 2), random),
                ...sample(
                  all.filter((cut) => !structural(cut)),
                  Math.floor(most / 2),
                  random,
                ),
              ];
        expect(cuts.length).toBeGreaterThan(0);
        expect(await runCuts(arenas, cuts)).toEqual([]);
      },
      40 * 60_000,
    );
  });
});
