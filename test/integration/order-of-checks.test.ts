import { beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { createFallbackRoute } from '../../lib/http/fallback-route.ts';
import type { Handler } from '../../lib/http/operation-handler.ts';
import {
  allowedMethods,
  browseFleet,
  deleteWorkItem,
  getRumResource,
  mergeAlerts,
  type Operation,
} from '../../lib/http/operations.ts';
import { newAccountId, newCaller } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import {
  type EventOptions,
  eventFor,
  handlersOver,
  invoke,
  NOW,
  newTable,
  put,
  putAppKey,
  testDeps,
} from '../support/service.ts';
import { type Tap, tapWire } from '../support/wire.ts';

const MINUTE = Math.floor(NOW / 60_000);
let table: Table;
let tap: Tap;
let handlers: [Operation, Handler][];
beforeAll(async () => {
  table = await newTable();
  tap = tapWire(table);
  const built = handlersOver(testDeps(table, { now: () => NOW }));
  handlers = [
    [browseFleet, built.browseFleet],
    [getRumResource, built.getRumResource],
    [deleteWorkItem, built.deleteWorkItem],
    [mergeAlerts, built.mergeAlerts],
  ];
});

/** What can be wrong with a body, in the order in which it is to be refused. */
const FAULTS = {
  type: { headers: { 'Content-Type': 'text/plain' } },
  size: { rawBody: `{"limit":0,"no_cache":0,"x":"${'x'.repeat(262_144)}` },
  body: { rawBody: '{"limit":0,"no_cache":0}' },
} satisfies Record<string, EventOptions>;

async function fullMinute(account: number): Promise<void> {
  await put(table, keys.rateCount(account, 'browse-fleet', MINUTE), { total: 30, nonces: new Set(['x']) });
}

describe('an earlier check wins over every later one, and nothing runs after it:', () => {
  it.each([0, 1, 2, 3])('app key before all others (operation %i)', async (index) => {
    const [operation, handler] = handlers[index] as [Operation, Handler];
    const account = newAccountId();
    await fullMinute(account);
    const appKey = await putAppKey(table, { account_id: account, permissions: [], expires_at: 1 });
    const event = eventFor(operation, { ...FAULTS.type, ...FAULTS.size, appKey });
    const before = tap.attempts.length;
    expectEnvelope(await invoke(handler, event), 401, 'Unauthorized');
    expect(tap.attempts.slice(before).map(({ command }) => command)).toEqual(['GetItemCommand']);
  });

  it('permission before content type, size, body and rate limit', async () => {
    const { account, appKey } = await newCaller(table, { permissions: ['other', 'Monit'] });
    await fullMinute(Number(account));
    const event = eventFor(browseFleet, { appKey, ...FAULTS.type, ...FAULTS.size });
    const before = tap.attempts.length;
    const answer = await invoke(handlers[0]?.[1] as Handler, event);
    expectEnvelope(answer, 403, 'AccessDenied');
    expect(answer.body.error.message).toContain('monit');
    expect(answer.headers).not.toHaveProperty('X-RateLimit-Limit');
    expect(tap.attempts.slice(before).map(({ command }) => command)).toEqual(['GetItemCommand']);
  });

  it('content type, size, body and cursor before the rate limit, which they leave as it is', async () => {
    const { account, appKey } = await newCaller(table);
    await fullMinute(Number(account));
    const browse = (options: EventOptions) =>
      invoke(handlers[0]?.[1] as Handler, eventFor(browseFleet, { appKey, ...options }));
    const before = tap.attempts.length;
    for (const [options, status, code] of [
      [{ ...FAULTS.type, ...FAULTS.size }, 400, 'InvalidContentType'],
      [FAULTS.size, 413, 'EntityTooLarge'],
      [FAULTS.body, 400, 'InvalidParameter'],
      [{ rawBody: '{' }, 400, 'InvalidParameter'],
      [{ body: { cursor: 'never issued' } }, 400, 'InvalidParameter'],
    ] as [EventOptions, number, string][]) {
      const answer = await browse(options);
      expectEnvelope(answer, status, code);
      expect(Object.keys(answer.headers).filter((name) => /rate-?limit/i.test(name))).toEqual([]);
    }
    expect(tap.attempts.slice(before).map(({ command }) => command)).toEqual(['GetItemCommand']);
    expectEnvelope(await browse({ body: {} }), 429, 'RequestTooFrequently');
  });

  it.each([0, 1, 2, 3])('content type before size and body (operation %i)', async (index) => {
    const [operation, handler] = handlers[index] as [Operation, Handler];
    const { appKey } = await newCaller(table);
    const event = eventFor(operation, { appKey, ...FAULTS.type, ...FAULTS.size });
    expectEnvelope(await invoke(handler, event), 400, 'InvalidContentType');
  });

  it.each([0, 1, 2, 3])('size before body, and body before the operation (operation %i)', async (index) => {
    const [operation, handler] = handlers[index] as [Operation, Handler];
    const { appKey } = await newCaller(table);
    const before = tap.attempts.length;
    expectEnvelope(await invoke(handler, eventFor(operation, { appKey, ...FAULTS.size })), 413, 'EntityTooLarge');
    expectEnvelope(await invoke(handler, eventFor(operation, { appKey, ...FAULTS.body })), 400, 'InvalidParameter');
    expect(tap.attempts.slice(before).map(({ command }) => command)).toEqual(['GetItemCommand']);
  });
});

describe('a path and method that is no operation', () => {
  const refuse = createFallbackRoute(testDepsWithoutTable(), allowedMethods());
  const sent = (resource: string, path: string, httpMethod: string) =>
    invoke(refuse, { ...eventFor(browseFleet), resource, path, httpMethod });

  it.each(['/alert/merge/', '/base/alert/merge', '/alert/merge/list/'])(
    'goes by the resource, not by the path %s',
    async (path) => {
      expectEnvelope(await sent('/alert/merge', path, 'GET'), 405, 'MethodNotAllowed');
      for (const method of ['POST', 'GET', 'OPTIONS'])
        expectEnvelope(await sent('/{proxy+}', path, method), 404, 'RouteNotFound');
    },
  );
});

function testDepsWithoutTable() {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  return { now: () => NOW, log };
}
