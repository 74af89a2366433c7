/** A load of calls of every operation while some of their calls to DynamoDB fail. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { TIME_LIMITS } from '../../lib/shared/settings.ts';
import { keys } from '../../lib/table/keys.ts';
import { expectTrueEntries, mergesOf } from '../integration/merge-alerts/merging.ts';
import { SEED, seededRandom } from '../support/chance.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { FAULTS, startFaultProxy } from '../support/fault-proxy.ts';
import {
  type Answer,
  callAlone,
  connectThrough,
  createHandlers,
  type EventOptions,
  newTable,
  stored,
  testDeps,
} from '../support/service.ts';
import { newLoad } from './load.ts';

const SECONDS = process.env.FAULTS === 'full' ? 600 : 30;
const CALLS_A_SECOND = 50;
const MIN_CALLS = 100;
/** Calls at the same time. A machine that is too slow sends fewer calls, so that they stay within their deadline. */
const MAX_AT_ONCE = 8;
const ACCOUNTS = 20;
const SHARE_FAULTY = 0.02;
/** Faults after which the service can continue, and which it does not report as bugs. */
const RECOVERABLE = FAULTS.filter((fault) => fault !== 'invalid');

function isEnvelope({ body, headers, status }: Answer): boolean {
  const isWhole = typeof body.request_id === 'string' && headers['Svc-Request-Id'] === body.request_id;
  return isWhole && (status === 200 ? 'data' in body && !('error' in body) : typeof body.error?.code === 'string');
}

it(
  `of ${CALLS_A_SECOND} calls a second for ${SECONDS} s, 2 % of the wire calls faulty, every answer is an envelope, and no invariant breaks (SEED=${SEED})`,
  async () => {
    const table = await newTable();
    const proxy = await startFaultProxy(dynamodbEndpoint());
    onTestFinished(proxy.close);
    const through = connectThrough(table, proxy);
    const handlers = createHandlers(testDeps(through, { timeLimits: TIME_LIMITS }));
    const random = seededRandom(SEED);
    const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
    // More alerts than a transaction holds.
    const loads = await Promise.all(Array.from({ length: ACCOUNTS }, () => newLoad(table, 120)));
    const statuses: number[] = [];
    const wrong: string[] = [];
    async function call([operation, options]: [ListedOperation, EventOptions]): Promise<void> {
      const answer = await callAlone(handlers, operation, options);
      statuses.push(answer.status);
      if (!isEnvelope(answer) || ![200, 429, 503].includes(answer.status)) wrong.push(answer.text.slice(0, 200));
    }

    proxy.plan(() => (random() < SHARE_FAULTY ? pick(RECOVERABLE) : undefined));
    const ongoing = new Set<Promise<void>>();
    const began = Date.now();
    const until = began + 2 * SECONDS * 1_000;
    for (let sent = 0; sent < MIN_CALLS || (sent < SECONDS * CALLS_A_SECOND && Date.now() < until); sent += 1) {
      await sleep(Math.max(0, began + (sent * 1_000) / CALLS_A_SECOND - Date.now()));
      const started = call(pick(pick(loads).calls(random)));
      ongoing.add(started);
      void started.finally(() => ongoing.delete(started));
      if (ongoing.size >= MAX_AT_ONCE) await Promise.race(ongoing);
    }
    await Promise.all(ongoing);
    proxy.plan();

    expect(wrong).toEqual([]);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(statuses.length / 4);
    for (const { tenant, incidents, alerts } of loads) {
      const merges = mergesOf(table, tenant, incidents);
      await merges.finish();
      const first = { incidents, alerts, start: undefined, title: 'Checkout is down' };
      await expectTrueEntries(table, tenant, await merges.entries(), first);
      expect(Number((await stored(table, keys.workItem(tenant.account, 'w'))).version)).toBeLessThanOrEqual(2);
    }
  },
  20 * 60_000,
);
