/** The bytes that a function holds after thousands of calls: on the table double, where they take seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import {
  browseFleet,
  deleteWorkItem,
  getRumResource,
  type ListedOperation,
  mergeAlerts,
} from '../../lib/http/operations.ts';
import { connectDouble } from '../../packages/proof/simulation/double-client.ts';
import { TableDouble } from '../../packages/proof/simulation/table-double.ts';
import { SEED, seededRandom } from '../support/chance.ts';
import { connectionLost } from '../support/faults.ts';
import { inventory } from '../support/fleet.ts';
import { newAccount } from '../support/incidents.ts';
import { bytesInUse, SILENT } from '../support/memory.ts';
import { RUM_RECORD } from '../support/rum.ts';
import { callAlone, handlersOver, put, testDeps } from '../support/service.ts';

/** Turns of a round, each with one call of every operation. The short form has none, since a few hundred calls would show no growth. */
const TURNS = { ci: 500, full: 10_000 }[process.env.FAULTS ?? 'quick'] ?? 0;
const OPERATIONS = 4;
/** Rounds that are measured, after one to warm up. */
const ROUNDS = 5;
const SHARE_FAILING = 0.02;
/** Growth that is allowed: less than a string of 8 characters that is kept of each call, and five times the changes of V8 itself. */
const BYTES_A_CALL = 40;
/** A call's signal is kept until it aborts, which must have happened before the heap is measured. */
const LIMIT_MS = 500;
const TIME_LIMITS = {
  callMs: LIMIT_MS,
  authorizerMs: LIMIT_MS,
  inventoryMs: LIMIT_MS,
  liveStatusMs: LIMIT_MS,
  movesMs: LIMIT_MS,
};

it.skipIf(TURNS === 0)(
  `the heap does not grow with ${TURNS * OPERATIONS * ROUNDS} calls, 2 % of their calls to the table failing (SEED=${SEED})`,
  async () => {
    const random = seededRandom(SEED);
    let double = new TableDouble();
    let failing = false;
    let now = Date.now();
    const table = connectDouble(async (request) => {
      if (failing && random() < SHARE_FAILING) throw connectionLost();
      return double.apply(request);
    });
    const tenant = await newAccount(table);
    await put(table, keys.rumResource(tenant.account), RUM_RECORD);
    await put(table, keys.host(tenant.account, 'h'), inventory());
    await put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', version: 1, title: 't' });
    const incidents = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(5);
    const rows = double.rows;

    const handlers = handlersOver({ ...testDeps(table, { now: () => now, timeLimits: TIME_LIMITS }), ...SILENT });
    const call = async (operation: ListedOperation, body: object) =>
      (await callAlone(handlers, operation, { appKey: tenant.appKey, body })).status;
    async function round(): Promise<number> {
      // Each round begins with the same rows, since those that it adds are on the heap, too.
      double = new TableDouble(rows);
      failing = true;
      const statuses: number[] = [];
      for (let turn = 0; turn < TURNS; turn += 1) {
        now += 10_000; // within the limit of the fleet
        statuses.push(
          await call(browseFleet, {}),
          await call(getRumResource, {}),
          await call(deleteWorkItem, { work_item_id: 'w', version: 1 }),
          await call(mergeAlerts, { alert_ids: alerts, incident_id: incidents[turn % 2] }),
        );
      }
      failing = false;
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0.8 * statuses.length);
      double = new TableDouble(rows);
      await sleep(LIMIT_MS);
      return bytesInUse();
    }

    let before = await round();
    const growth: number[] = [];
    for (let times = 0; times < ROUNDS; times += 1) {
      const after = await round();
      growth.push((after - before) / (TURNS * OPERATIONS));
      before = after;
    }
    const median = growth.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)];
    expect(median, `bytes a call in each round: ${growth.map(Math.round)}`).toBeLessThan(BYTES_A_CALL);
  },
  20 * 60_000,
);
