import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browseFleet, deleteWorkItem, getRumResource, mergeAlerts, type Operation } from '../../lib/api/operations.ts';
import type { Deps } from '../../lib/deps.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { TIME_LIMITS } from '../../lib/time-limits.ts';
import { SEED, seededRandom } from '../support/chance.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { finishFeed } from '../support/finish.ts';
import { inventory } from '../support/fleet.ts';
import { type Account, newAccount } from '../support/incidents.ts';
import { measured } from '../support/measured.ts';
import { RUM_RECORD } from '../support/rum.ts';
import {
  type Answer,
  connectThrough,
  eventFor,
  type Handlers,
  handlersOver,
  invoke,
  newTable,
  put,
  stored,
  testDeps,
} from '../support/service.ts';
import { connectAfterStorm } from '../support/storm.ts';

const SECONDS = { quick: 2, ci: 60, full: 600 }[process.env.FAULTS ?? 'quick'] ?? 0;
/** Some seconds say nothing of growth. */
const MEASURES_HEAP = SECONDS >= 60;
const CALLS_A_SECOND = 50;
const SHARE_FAULTY = 0.02;
const HEAP_BYTES_A_MINUTE = 1024 * 1024;
/** Share of the time after which the heap is looked at, every so many seconds. */
const WARM_UP = 0.3;
const SAMPLE_SECONDS = 4;
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

let table: Table;
let proxy: FaultProxy;
beforeAll(async () => {
  table = await newTable();
  proxy = await startFaultProxy(dynamodbEndpoint());
});
afterAll(() => proxy.close());

function quietHandlers(through: Table): Handlers {
  const quiet = () => undefined;
  // A log that keeps its lines would grow by itself.
  const deps: Deps = {
    ...testDeps(through, { timeLimits: TIME_LIMITS }),
    log: { info: quiet, warn: quiet, error: quiet },
    metrics: { call: quiet, event: quiet },
  };
  return handlersOver(deps);
}

/** The short form makes do with a new client. */
const CLIENTS = [
  { when: '', connect: async () => connectThrough(table, proxy) },
  ...(SECONDS < 60 ? [] : [{ when: ' after a storm', connect: () => connectAfterStorm(table, proxy) }]),
];
const LOAD = `${CALLS_A_SECOND} calls a second for ${SECONDS} s, 2 % of the wire calls faulty`;

/** Bytes that are in use after a full collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

/** Bytes a minute, by least squares. */
function slopeOf(samples: readonly { at: number; bytes: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [at, bytes] = [mean(samples.map((one) => one.at)), mean(samples.map((one) => one.bytes))];
  const covariance = mean(samples.map((one) => (one.at - at) * (one.bytes - bytes)));
  return covariance / mean(samples.map((one) => (one.at - at) ** 2));
}

function isEnvelope({ body, headers, status }: Answer): boolean {
  const whole = typeof body.request_id === 'string' && headers['Svc-Request-Id'] === body.request_id;
  return whole && (status === 200 ? 'data' in body && !('error' in body) : typeof body.error?.code === 'string');
}

describe.each(CLIENTS)(`${LOAD}$when (SEED=${SEED})`, ({ connect }) => {
  it(
    `every answer is an envelope, and no invariant breaks${MEASURES_HEAP ? ', and the heap does not grow' : ''}`,
    async () => {
      const handlers = quietHandlers(await connect());
      const random = seededRandom(SEED);
      const accounts = await Promise.all(Array.from({ length: 20 }, () => newAccount(table)));
      const things = await Promise.all(
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
      type Things = (typeof things)[number];
      const call = (handler: keyof Handlers, operation: Operation, tenant: Account, body: object) =>
        invoke(handlers[handler], eventFor(operation, { appKey: tenant.appKey, body }));
      const kinds: ((one: Things) => Promise<Answer>)[] = [
        ({ tenant }) => call('browseFleet', browseFleet, tenant, {}),
        ({ tenant }) => call('getRumResource', getRumResource, tenant, {}),
        ({ tenant }) => call('deleteWorkItem', deleteWorkItem, tenant, { work_item_id: 'w', version: 1 }),
        ({ tenant, incidents, alerts }) =>
          call('mergeAlerts', mergeAlerts, tenant, {
            // One in ten is too large for one transaction.
            alert_ids: alerts.slice(0, random() < 0.1 ? 120 : 5),
            incident_id: incidents[random() < 0.5 ? 0 : 1],
          }),
      ];
      const statuses = new Map<number, number>();
      const wrong: string[] = [];
      async function one(): Promise<void> {
        const which = things[Math.floor(random() * things.length)] as Things;
        const answer = await (kinds[Math.floor(random() * kinds.length)] as (typeof kinds)[number])(which);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (!isEnvelope(answer) || ![200, 429, 503].includes(answer.status)) wrong.push(answer.text.slice(0, 200));
      }

      proxy.plan(() => (random() < SHARE_FAULTY ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined));
      const underWay = new Set<Promise<void>>();
      const began = Date.now();
      const heap: { at: number; bytes: number }[] = [];
      for (let sent = 0; sent < SECONDS * CALLS_A_SECOND; sent += 1) {
        await sleep(Math.max(0, began + (sent * 1_000) / CALLS_A_SECOND - Date.now()));
        const started = one();
        underWay.add(started);
        void started.finally(() => underWay.delete(started));
        if (sent % (SAMPLE_SECONDS * CALLS_A_SECOND) !== 0 || sent < WARM_UP * SECONDS * CALLS_A_SECOND) continue;
        // Nothing under way, and of the calls on the wire, which the proxy keeps, none.
        await Promise.all(underWay);
        (proxy.calls as unknown[]).length = 0;
        heap.push({ at: Date.now() / 60_000, bytes: heapUsed() });
      }
      await Promise.all(underWay);
      proxy.plan();

      expect(wrong).toEqual([]);
      expect(statuses.get(200)).toBeGreaterThan((SECONDS * CALLS_A_SECOND) / 2);
      if (MEASURES_HEAP) {
        expect(heap.length).toBeGreaterThan(5);
        expect(slopeOf(heap)).toBeLessThan(HEAP_BYTES_A_MINUTE);
      }
      for (const { tenant, incidents, alerts } of things) {
        const feeds = () => Promise.all(incidents.map((id) => tenant.feed(id)));
        await finishFeed(table, (await feeds()).flat());
        const place = new Map<string, string>();
        const entries = (await feeds()).flat().sort((a, b) => a.sequence - b.sequence);
        for (const { moved, incident_id } of entries)
          for (const [from, ids] of Object.entries(moved as Record<string, string[]>))
            for (const id of ids) {
              expect(place.get(id) ?? 'none').toBe(from);
              place.set(id, incident_id);
            }
        expect(await tenant.placements(alerts)).toEqual(alerts.map((id) => place.get(id)));
        expect(Number((await stored(table, keys.workItem(tenant.account, 'w'))).version)).toBeLessThanOrEqual(2);
      }
    },
    (2 * SECONDS + 240) * 1_000,
  );
});

describe.each(CLIENTS)('DynamoDB is gone$when', ({ connect }) => {
  it('every call is 503 within 3 s, of three wire calls at the most, and the first call after it is back succeeds', async () => {
    const handlers = quietHandlers(await connect());
    const tenant = await newAccount(table);
    await put(table, keys.rumResource(tenant.account), RUM_RECORD);
    const read = async () => {
      const event = eventFor(getRumResource, { appKey: tenant.appKey, body: {} });
      const { result, tookMs } = await measured(() => invoke(handlers.getRumResource, event));
      return { status: result.status, tookMs };
    };
    await expect.poll(async () => (await read()).status).toBe(200);
    proxy.plan(() => 'refuse');
    const before = proxy.calls.length;
    for (let call = 0; call < 30; call += 1) {
      const { status, tookMs } = await read();
      expect(status).toBe(503);
      expect(tookMs).toBeLessThan(3_000);
    }
    // One read each, of three attempts. The authorizer has a client of its own, elsewhere.
    expect((proxy.calls.length - before) / 30).toBeLessThanOrEqual(3);
    proxy.plan();
    const { status, tookMs } = await read();
    expect(status).toBe(200);
    expect(tookMs).toBeLessThan(2_000);
  });
});
