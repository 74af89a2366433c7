import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { createFallbackRoute } from '../../lib/http/fallback-route.ts';
import { allowedMethods, browseFleet, operations } from '../../lib/http/operations.ts';
import { newAccountId } from '../support/accounts.ts';
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

const WRONG_TYPE: EventOptions = { headers: { 'Content-Type': 'text/plain' } };
const TOO_LARGE: EventOptions = { rawBody: `{"limit":0,"no_cache":0,"x":"${'x'.repeat(262_144)}` };
const WRONG_FIELDS: EventOptions = { rawBody: '{"limit":0,"no_cache":0}' };

/** The calls to DynamoDB since `tap.attempts` was emptied. */
const commandsSent = () => tap.attempts.map(({ command }) => command);

/** A key of a new account whose rate limit is used up. */
async function newKey(row: { permissions?: string[]; expires_at?: number } = {}): Promise<string> {
  const account_id = newAccountId();
  await put(table, keys.rateCount(account_id, 'browse-fleet', MINUTE), { total: 30, nonces: new Set(['x']) });
  return putAppKey(table, { account_id, ...row });
}

describe('an earlier check wins over every later one, and nothing runs after it:', () => {
  it.each(operations)('$name checks app key, content type, size and body in this order', async (operation) => {
    const send = (options: EventOptions) => callOperation(handlers, operation, options);
    const expired = await newKey({ expires_at: 1, permissions: [] });
    const appKey = await newKey();
    tap.attempts.splice(0);
    expectEnvelope(await send({ appKey: expired, ...WRONG_TYPE, ...TOO_LARGE }), 401, 'Unauthorized');
    expectEnvelope(await send({ appKey, ...WRONG_TYPE, ...TOO_LARGE }), 400, 'InvalidContentType');
    expectEnvelope(await send({ appKey, ...TOO_LARGE }), 413, 'EntityTooLarge');
    expectEnvelope(await send({ appKey, ...WRONG_FIELDS }), 400, 'InvalidParameter');
    // The look-ups of the two keys.
    expect(commandsSent()).toEqual(['GetItemCommand', 'GetItemCommand']);
  });

  it('permission before content type, size, body and rate limit', async () => {
    const appKey = await newKey({ permissions: ['other', 'Monit'] });
    tap.attempts.splice(0);
    const answer = await callOperation(handlers, browseFleet, { appKey, ...WRONG_TYPE, ...TOO_LARGE });
    expectEnvelope(answer, 403, 'AccessDenied');
    expect(answer.body.error.message).toContain('monit');
    expect(answer.headers).not.toHaveProperty('X-RateLimit-Limit');
    expect(commandsSent()).toEqual(['GetItemCommand']);
  });

  it('content type, size, body and cursor before the rate limit, which does not count refused calls', async () => {
    const appKey = await newKey();
    const browse = (options: EventOptions) => callOperation(handlers, browseFleet, { appKey, ...options });
    tap.attempts.splice(0);
    for (const [options, status, code] of [
      [{ ...WRONG_TYPE, ...TOO_LARGE }, 400, 'InvalidContentType'],
      [TOO_LARGE, 413, 'EntityTooLarge'],
      [WRONG_FIELDS, 400, 'InvalidParameter'],
      [{ rawBody: '{' }, 400, 'InvalidParameter'],
      [{ body: { cursor: 'never issued' } }, 400, 'InvalidParameter'],
    ] as const) {
      const answer = await browse(options);
      expectEnvelope(answer, status, code);
      expect(Object.keys(answer.headers).filter((name) => /rate-?limit/i.test(name))).toEqual([]);
    }
    expect(commandsSent()).toEqual(['GetItemCommand']);
    expectEnvelope(await browse({ body: {} }), 429, 'RequestTooFrequently');
  });
});

it.each(['/alert/merge/', '/base/alert/merge', '/alert/merge/list/'])(
  'the refusal of a call that is for no operation goes by the resource, not by the path %s',
  async (path) => {
    const fallbackRoute = createFallbackRoute(testDeps(table), allowedMethods());
    const send = (resource: string, httpMethod: string) =>
      invoke(fallbackRoute, { ...eventFor(browseFleet), resource, path, httpMethod });
    expectEnvelope(await send('/alert/merge', 'GET'), 405, 'MethodNotAllowed');
    for (const method of ['POST', 'GET', 'OPTIONS'])
      expectEnvelope(await send('/{proxy+}', method), 404, 'RouteNotFound');
  },
);
