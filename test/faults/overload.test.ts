import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import {
  browseFleet,
  deleteWorkItem,
  getRumResource,
  type ListedOperation,
  mergeAlerts,
} from '../../lib/http/operations.ts';
import { TIME_LIMITS } from '../../lib/shared/time-limits.ts';
import { SEED, seededRandom } from '../support/chance.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import { finishFeed } from '../support/finish.ts';
import { inventory } from '../support/fleet.ts';
import { type Account, expectTrueFeeds, newAccount } from '../support/incidents.ts';
import { SILENT, watchCalls } from '../support/memory.ts';
import { RUM_RECORD } from '../support/rum.ts';
import {
  type Answer,
  callOperation,
  connectThrough,
  handlersOver,
  newTable,
  put,
  stored,
  testDeps,
} from '../support/service.ts';
import { connectAfterStorm } from '../support/storm.ts';

const SECONDS = { quick: 2, ci: 30, full: 600 }[process.env.FAULTS ?? 'quick'] ?? 0;
const CALLS_A_SECOND = 50;
const MIN_CALLS = 100;
/** Calls at the same time. A machine that is too slow sends fewer calls, so that they stay within their deadline. */
const MAX_AT_ONCE = 8;
const ACCOUNTS = SECONDS > 2 ? 20 : 5;
const SHARE_FAULTY = 0.02;
const FAULTS: Fault[] = [
  'refuse',
  'error-before',
  'error-after',
  'drop',
  'cut',
  'throttle',
  'conflict',
  'hang',
  'hang-after',
];

const table = await newTable();
const proxy = await startFaultProxy(dynamodbEndpoint());
afterAll(() => proxy.close());

const CLIENTS = [
  { when: '', connect: async () => connectThrough(table, proxy) },
  // The short form uses only a new client.
  ...(SECONDS > 2 ? [{ when: ' after a storm', connect: () => connectAfterStorm(table, proxy) }] : []),
];
const LOAD = `${CALLS_A_SECOND} calls a second for ${SECONDS} s, 2 % of the wire calls faulty`;

function isEnvelope({ body, headers, status }: Answer): boolean {
  const whole = typeof body.request_id === 'string' && headers['Svc-Request-Id'] === body.request_id;
  return whole && (status === 200 ? 'data' in body && !('error' in body) : typeof body.error?.code === 'string');
}

describe.each(CLIENTS)(`${LOAD}$when (SEED=${SEED})`, ({ connect }) => {
  it(
    'every answer is an envelope, no invariant breaks, and nothing of a call is held once it is over',
    async () => {
      const through = await connect();
      const { around, expectReleased } = watchCalls(through);
      const handlers = handlersOver({ ...testDeps(through, { timeLimits: TIME_LIMITS }), ...SILENT }, { around });
      const random = seededRandom(SEED);
      const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => newAccount(table)));
      const fixtures = await Promise.all(
        accounts.map(async (tenant) => {
          await put(table, keys.rumResource(tenant.account), RUM_RECORD);
          await put(table, keys.host(tenant.account, 'h'), inventory());
          await put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', version: 1, title: 't' });
          return {
            tenant,
            incidents: [await tenant.incident(), await tenant.incident()],
            alerts: await tenant.alerts(120),
          };
        }),
      );
      type Fixture = (typeof fixtures)[number];
      const call = (operation: ListedOperation, tenant: Account, body: object) =>
        callOperation(handlers, operation, { appKey: tenant.appKey, body });
      const kinds: ((one: Fixture) => Promise<Answer>)[] = [
        ({ tenant }) => call(browseFleet, tenant, {}),
        ({ tenant }) => call(getRumResource, tenant, {}),
        ({ tenant }) => call(deleteWorkItem, tenant, { work_item_id: 'w', version: 1 }),
        ({ tenant, incidents, alerts }) =>
          call(mergeAlerts, tenant, {
            // One in ten is too large for one transaction.
            alert_ids: alerts.slice(0, random() < 0.1 ? 120 : 5),
            incident_id: incidents[random() < 0.5 ? 0 : 1],
          }),
      ];
      const statuses = new Map<number, number>();
      const wrong: string[] = [];
      async function callOnce(): Promise<void> {
        const fixture = fixtures[Math.floor(random() * fixtures.length)] as Fixture;
        const answer = await (kinds[Math.floor(random() * kinds.length)] as (typeof kinds)[number])(fixture);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (!isEnvelope(answer) || ![200, 429, 503].includes(answer.status)) wrong.push(answer.text.slice(0, 200));
      }

      proxy.plan(() => (random() < SHARE_FAULTY ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined));
      const underWay = new Set<Promise<void>>();
      const began = Date.now();
      const until = began + 2 * SECONDS * 1_000;
      let sent = 0;
      for (; sent < MIN_CALLS || (sent < SECONDS * CALLS_A_SECOND && Date.now() < until); sent += 1) {
        await sleep(Math.max(0, began + (sent * 1_000) / CALLS_A_SECOND - Date.now()));
        const started = callOnce();
        underWay.add(started);
        void started.finally(() => underWay.delete(started));
        if (underWay.size >= MAX_AT_ONCE) await Promise.race(underWay);
      }
      await Promise.all(underWay);
      proxy.plan();

      expect(wrong).toEqual([]);
      expect(statuses.get(200)).toBeGreaterThan(sent / 4);
      await expectReleased();
      for (const { tenant, incidents, alerts } of fixtures) {
        await finishFeed(table, (await Promise.all(incidents.map((id) => tenant.feed(id)))).flat());
        await expectTrueFeeds(tenant, incidents, alerts);
        expect(Number((await stored(table, keys.workItem(tenant.account, 'w'))).version)).toBeLessThanOrEqual(2);
      }
    },
    (2 * SECONDS + 20 * 60) * 1_000,
  );
});
