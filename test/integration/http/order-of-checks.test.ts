/** A refused call runs nothing after the check that refuses it. The contract has the order of the checks. */
import { expect, it } from 'vitest';
import { createFallbackRoute } from '../../../lib/http/fallback-route.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { allowedMethods, operations } from '../../../lib/operations/index.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newAccountId } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
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
} from '../../support/service.ts';
import { tapWire } from '../../support/wire.ts';

const table = await newTable();
const tap = tapWire(table);
const handlers = handlersOver(testDeps(table, { now: () => NOW }));

/** A key of a new account whose rate limit is used up. */
async function newKey(row: { permissions?: string[] } = {}): Promise<string> {
  const account_id = newAccountId();
  await put(table, keys.rateCount(account_id, 'browse-fleet', NOW / 60_000), { total: 30, nonces: new Set(['x']) });
  const appKey = await putAppKey(table, { account_id, ...row });
  tap.attempts.splice(0);
  return appKey;
}

it.each(operations)('$name reads only the key for a call that its checks refuse', async (operation) => {
  const appKey = await newKey();
  const wrong: EventOptions[] = [
    { headers: { 'Content-Type': 'text/plain' } },
    { rawBody: `{"x":"${'x'.repeat(262_144)}"}` },
    { rawBody: '{' },
    { rawBody: '{"limit":0,"no_cache":0}' },
    ...(operation.name === 'browse-fleet' ? [{ rawBody: '{"cursor":"never issued"}' }] : []),
  ];
  for (const options of wrong) {
    const answer = await callOperation(handlers, operation, { appKey, ...options });
    expect(answer.status).toBeLessThan(429);
    expect(Object.keys(answer.headers).filter((name) => /rate-?limit/i.test(name))).toEqual([]);
  }
  expect(tap.attempts.map(({ command }) => command)).toEqual(['GetItemCommand']);
});

it('a caller without the permission is not counted', async () => {
  const appKey = await newKey({ permissions: ['other', 'Monit'] });
  const answer = await callOperation(handlers, browseFleet, { appKey });
  expectEnvelope(answer, 403, 'AccessDenied');
  expect(answer.headers).not.toHaveProperty('X-RateLimit-Limit');
  expect(tap.attempts.map(({ command }) => command)).toEqual(['GetItemCommand']);
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
