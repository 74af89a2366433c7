import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { createFallbackRoute } from '../../lib/http/fallback-route.ts';
import { allowedMethods, browseFleet, type ListedOperation, operations } from '../../lib/http/operations.ts';
import { newAccountId, newCaller } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import {
  callOperation,
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
import { tapWire } from '../support/wire.ts';

const MINUTE = Math.floor(NOW / 60_000);
const table = await newTable();
const tap = tapWire(table);
const handlers = handlersOver(testDeps(table, { now: () => NOW }));

/** What can be wrong with a body, in the order in which it is to be refused. */
const FAULTS = {
  type: { headers: { 'Content-Type': 'text/plain' } },
  size: { rawBody: `{"limit":0,"no_cache":0,"x":"${'x'.repeat(262_144)}` },
  body: { rawBody: '{"limit":0,"no_cache":0}' },
} satisfies Record<string, EventOptions>;

const send = (operation: ListedOperation, options: EventOptions) => callOperation(handlers, operation, options);

/** Stores a rate count that is used up. */
async function fillMinute(account: number | bigint): Promise<void> {
  await put(table, keys.rateCount(account, 'browse-fleet', MINUTE), { total: 30, nonces: new Set(['x']) });
}

describe('an earlier check wins over every later one, and nothing runs after it:', () => {
  it.each(operations)('app key before all others ($name)', async (operation) => {
    const account = newAccountId();
    await fillMinute(account);
    const appKey = await putAppKey(table, { account_id: account, permissions: [], expires_at: 1 });
    const before = tap.attempts.length;
    expectEnvelope(await send(operation, { ...FAULTS.type, ...FAULTS.size, appKey }), 401, 'Unauthorized');
    expect(tap.attempts.slice(before).map(({ command }) => command)).toEqual(['GetItemCommand']);
  });

  it('permission before content type, size, body and rate limit', async () => {
    const { account, appKey } = await newCaller(table, { permissions: ['other', 'Monit'] });
    await fillMinute(account);
    const before = tap.attempts.length;
    const answer = await send(browseFleet, { appKey, ...FAULTS.type, ...FAULTS.size });
    expectEnvelope(answer, 403, 'AccessDenied');
    expect(answer.body.error.message).toContain('monit');
    expect(answer.headers).not.toHaveProperty('X-RateLimit-Limit');
    expect(tap.attempts.slice(before).map(({ command }) => command)).toEqual(['GetItemCommand']);
  });

  it('content type, size, body and cursor before the rate limit, which they leave as it is', async () => {
    const { account, appKey } = await newCaller(table);
    await fillMinute(account);
    const browse = (options: EventOptions) => send(browseFleet, { appKey, ...options });
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

  it.each(operations)('content type before size before body before the operation ($name)', async (operation) => {
    const { appKey } = await newCaller(table);
    const before = tap.attempts.length;
    expectEnvelope(await send(operation, { appKey, ...FAULTS.size, ...FAULTS.type }), 400, 'InvalidContentType');
    expectEnvelope(await send(operation, { appKey, ...FAULTS.size }), 413, 'EntityTooLarge');
    expectEnvelope(await send(operation, { appKey, ...FAULTS.body }), 400, 'InvalidParameter');
    expect(tap.attempts.slice(before).map(({ command }) => command)).toEqual(['GetItemCommand']);
  });
});

describe('the refusal of a path and method that is no operation', () => {
  const refuse = createFallbackRoute(testDeps(table), allowedMethods());
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
