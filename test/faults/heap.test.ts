/** The memory that a function holds after thousands of calls. It uses the table double, on which these take seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SEED, seededRandom } from '../support/chance.ts';
import { connectionLost } from '../support/faults.ts';
import { callAlone, handlersOver, testDeps } from '../support/service.ts';
import { connectDouble } from '../table-double/client.ts';
import { TableDouble } from '../table-double/table-double.ts';
import { bytesInUse, newLoad, SILENT } from './memory.ts';

/** Calls of a round. A few hundred would show no growth. */
const CALLS = process.env.FAULTS === 'full' ? 40_000 : 2_000;
/** Rounds that are measured, after one to warm up. */
const ROUNDS = 5;
const SHARE_FAILING = 0.02;
/** The allowed growth: less than one string of 8 characters for each call, and five times the variation that V8 itself causes. */
const MAX_BYTES_A_CALL = 40;
/** A call's signal is kept until it aborts, which must have happened before the heap is measured. */
const LIMIT_MS = 500;
const timeLimits = {
  ...{ callMs: LIMIT_MS, authorizerMs: LIMIT_MS, inventoryMs: LIMIT_MS, liveStatusMs: LIMIT_MS },
  movesMs: LIMIT_MS,
};

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
    const handlers = handlersOver({ ...testDeps(table, { now: () => now, timeLimits }), ...SILENT });

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
