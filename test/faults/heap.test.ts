/** The memory that a function holds after thousands of calls. It uses the table double, on which these take seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { SEED, seededRandom } from '../support/chance.ts';
import { connectionLost } from '../support/faults.ts';
import { callAlone, createHandlers, testDeps } from '../support/service.ts';
import { connectDouble } from '../table-double/client.ts';
import { TableDouble } from '../table-double/table-double.ts';
import { newLoad } from './load.ts';

/** Calls of a round. A few hundred would show no growth. */
const CALLS = process.env.FAULTS === 'full' ? 40_000 : 2_000;
/** Rounds that are measured, after one to warm up. */
const ROUNDS = 3;
const SHARE_FAILING = 0.02;
/** The allowed growth: less than one string of 8 characters for each call, and five times the variation that V8 itself causes. */
const MAX_BYTES_A_CALL = 40;
/** A call's signal is kept until it aborts, which must have happened before the heap is measured. */
const LIMIT_MS = 500;
const timeLimits = { callMs: LIMIT_MS, authorizerMs: LIMIT_MS, inventoryMs: LIMIT_MS, liveStatusMs: LIMIT_MS };
const silent = () => undefined;
/** In place of a log and metrics that keep everything. */
const SILENT = {
  log: { info: silent, warn: silent, error: silent },
  metrics: { call: silent, event: silent, records: silent },
};

/** Bytes that objects, strings and arrays take. Code is left out, since V8 compiles and drops it at any time. */
async function bytesInUse(): Promise<number> {
  setFlagsFromString('--expose-gc');
  for (let times = 0; times < 3; times += 1) {
    await sleep(0); // until a turn ends, V8 keeps each object that a WeakRef returned in it
    runInNewContext('gc')();
  }
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => /^(new|old|large_object|new_large_object)_space$/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

it(
  `the heap does not grow with ${CALLS * ROUNDS} calls, 2 % of their calls to the table failing (SEED=${SEED})`,
  async () => {
    const random = seededRandom(SEED);
    let double = new TableDouble();
    let isFailing = false;
    let now = Date.now();
    const table = connectDouble(async (request) => {
      if (isFailing && random() < SHARE_FAILING) throw connectionLost();
      return double.apply(request);
    });
    const { calls } = await newLoad(table, 5);
    const rows = double.rows;
    const handlers = createHandlers({ ...testDeps(table, { now: () => now, timeLimits }), ...SILENT });

    const bytes: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      // Each round begins with the same rows, since those that it adds are on the heap, too.
      double = new TableDouble(rows);
      isFailing = true;
      let succeeded = 0;
      for (let sent = 0; sent < CALLS; ) {
        now += 10_000; // within the limit of the fleet
        for (const [operation, options] of calls(random)) {
          sent += 1;
          succeeded += Number((await callAlone(handlers, operation, options)).status === 200);
        }
      }
      expect(succeeded).toBeGreaterThan(0.8 * CALLS);
      isFailing = false;
      double = new TableDouble(rows);
      await sleep(LIMIT_MS);
      bytes.push(await bytesInUse());
    }
    const growth = bytes.slice(1).map((after, round) => (after - (bytes[round] ?? 0)) / CALLS);
    const median = growth.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
    expect(median, `bytes a call in each round: ${growth.map(Math.round)}`).toBeLessThan(MAX_BYTES_A_CALL);
  },
  20 * 60_000,
);
