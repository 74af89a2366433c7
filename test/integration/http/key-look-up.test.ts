import { expect, it } from 'vitest';
import { appKeyIdOf, createAppKeys, hashAppKey } from '../../../lib/http/app-keys.ts';
import { createUsageKeyAuthorizer, REFUSED_KEY_MESSAGE } from '../../../lib/http/usage-key-authorizer.ts';
import { PERMISSIONS } from '../../../lib/model/account.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newAccountId } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { hookedTable, noReply } from '../../support/faults.ts';
import { callAlone, createHandlers, NOW, newAppKey, putAppKey, stored, testDeps } from '../../support/service.ts';
import { within } from '../../support/within.ts';

const SECONDS = NOW / 1_000;
const HOUR_MS = 3_600_000;

/** Warm functions over a table in memory, with a clock. */
function newLookUp({ recordsUse = false } = {}) {
  const clock = { now: NOW, monotonic: 0 };
  const { table, hooked, hook } = hookedTable();
  const deps = testDeps(hooked, { now: () => clock.now, monotonicNow: () => clock.monotonic });
  const newInstance = () => createAppKeys(deps, { recordsUse });
  const putKey = (row: object = {}, appKey?: string) =>
    putAppKey(table, { account_id: newAccountId(), ...row }, appKey);
  const lastUse = async (appKey: string) => (await stored(table, keys.appKey(hashAppKey(appKey))))?.last_used_at;
  return { clock, table, hook, deps, newInstance, find: newInstance().find, putKey, lastUse };
}

it('every invalid key gets the same answer byte for byte except for request_id, after the same work', async () => {
  const { hook, deps, putKey } = newLookUp();
  const handlers = createHandlers(deps);
  const valid = await putKey();
  const invalidKeys: Record<string, string | string[] | undefined> = {
    ...{ missing: undefined, empty: '', twice: [valid, valid], 'twice, one of them empty': [valid, ''] },
    'long and stored': await putKey({}, 'y'.repeat(257)),
    'not ASCII': '密钥\ud800\0',
    unknown: newAppKey(),
    'expired this second': await putKey({ expires_at: SECONDS }),
    'revoked by a clock that is an hour ahead': await putKey({ revoked_at: SECONDS + 3_600 }),
    suspended: await putKey({ suspended: true }),
  };
  const seen: Record<string, string> = {};
  for (const [what, appKey] of Object.entries(invalidKeys)) {
    hook.calls.length = 0;
    const answer = await callAlone(handlers, getRumResource, { appKey });
    expectEnvelope(answer, 401, 'Unauthorized');
    const text = JSON.stringify([answer.status, answer.headers, answer.text]);
    seen[what] = text.replaceAll(answer.body.request_id, 'ID');
    if (/unknown|expired|revoked|suspended/.test(what)) expect(hook.calls).toEqual(['GetCommand']);
  }
  for (const [what, text] of Object.entries(seen)) expect(text, what).toBe(seen.unknown);
  const appKey = await putKey({ expires_at: SECONDS + 1 }, '\u{1f511}'.repeat(256));
  expectEnvelope(await callAlone(handlers, getRumResource, { appKey }), 400, 'ResourceNotFound');
});

/** Beyond 2^53. */
const ACCOUNT = 9_007_199_254_740_993n;

it.each<[what: string, row: { gateway_key?: string; [name: string]: unknown } | undefined, reason?: string]>([
  ['that has expired is told', { expires_at: SECONDS, gateway_key: 'own' }, 'expired'],
  ['that is revoked is told', { revoked_at: SECONDS }, 'revoked'],
  ['of a suspended account is told', { suspended: true, expires_at: SECONDS }, 'suspended'],
  ['that is valid is not', { gateway_key: 'own' }],
  ['of an account without a gateway key is not, which is told itself', {}],
  // Otherwise anybody could raise the alarm.
  ['that is unknown is not', undefined],
])(
  'the refusal of a key %s to the access log and to status, by its id, after one look-up; any but a valid one has the shared gateway key',
  async (_what, row, reason) => {
    const { hook, deps, newInstance, putKey } = newLookUp();
    const app_key = row ? await putKey({ account_id: ACCOUNT, ...row }) : newAppKey();
    const authorize = createUsageKeyAuthorizer(newInstance(), deps, 'shared');
    const event = { methodArn: 'arn/stage/POST/x', queryStringParameters: { app_key } };
    const [account_id, app_key_id] = [String(ACCOUNT), appKeyIdOf(hashAppKey(app_key))];
    const valid = reason ? undefined : row;
    // The policy allows every path, since API Gateway caches it.
    const Statement = [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: 'arn/stage/*' }];
    expect(await authorize(event as never)).toEqual({
      principalId: valid ? account_id : 'unknown',
      policyDocument: { Version: '2012-10-17', Statement },
      usageIdentifierKey: valid?.gateway_key ?? 'shared',
      ...(reason && { context: { refused: app_key_id } }),
    });
    const lacksKey = valid && !valid.gateway_key;
    expect(deps.metrics.events).toEqual(lacksKey ? ['account_without_gateway_key'] : []);
    expect(deps.log.lines).toMatchObject([
      ...(reason ? [{ message: REFUSED_KEY_MESSAGE, fields: { account_id, app_key_id, reason } }] : []),
      ...(lacksKey ? [{ fields: { account_id } }] : []),
    ]);
    expect(JSON.stringify(deps.log.lines)).not.toContain(app_key);
    expect(hook.calls).toEqual(['GetCommand']);
  },
);

const REVOKED = { revoked_at: SECONDS };
/** What happens to a key between two look-ups of a warm function, and how much later by its clock the second is. */
it.each<[first: object | undefined, then: object | undefined, laterMs: number, isValid: boolean]>([
  [{}, REVOKED, 29_999, true],
  [{}, REVOKED, 30_000, false],
  // The clock was set back to before the first look-up.
  [{}, REVOKED, -HOUR_MS, false],
  [{ expires_at: SECONDS + 2 }, undefined, 1_999, true],
  [{ expires_at: SECONDS + 2 }, undefined, 2_000, false],
  [undefined, {}, 2_999, false],
  [undefined, {}, 3_000, true],
])('a key %j, then %j, is looked up %i ms later: it is valid: %s', async (first, then, laterMs, isValid) => {
  const { clock, find, putKey } = newLookUp();
  const appKey = newAppKey();
  if (first) await putKey(first, appKey);
  expect((await find(appKey)) !== undefined).toBe(first !== undefined);
  if (then) await putKey(then, appKey);
  clock.now += laterMs;
  expect((await find(appKey)) !== undefined).toBe(isValid);
});

it('a key is trusted for 30 s from the start of its look-up, however long that takes', async () => {
  const { clock, hook, find, putKey } = newLookUp();
  const appKey = await putKey();
  hook.around = async (reply) => {
    const row = reply();
    await putKey(REVOKED, appKey); // just after the row was read
    clock.now += 2_000;
    return row;
  };
  expect(await find(appKey)).toMatchObject({ permissions: PERMISSIONS });
  clock.now += 28_000;
  expect(await find(appKey)).toBeUndefined();
});

it('a key is trusted for 30 s however often the clock of a warm function is set back', async () => {
  const { clock, find, putKey } = newLookUp();
  const appKey = await putKey();
  await find(appKey);
  await putKey(REVOKED, appKey);
  for (let seconds = 1; seconds < 30; seconds += 1) {
    clock.monotonic += 1_000;
    clock.now = NOW + (seconds % 10) * 1_000;
    expect(await find(appKey)).toBeDefined();
  }
  clock.monotonic += 1_000;
  expect(await find(appKey)).toBeUndefined();
});

it('a look-up that ends long after it began, since the process was frozen, is made again, also for calls that join it', async () => {
  const { clock, hook, find, putKey } = newLookUp();
  const [appKey, reached] = [await putKey(), Promise.withResolvers<void>()];
  hook.around = async (reply) => {
    const row = reply();
    await reached.promise;
    return row;
  };
  const beginning = find(appKey);
  await putKey(REVOKED, appKey); // just after the row was read
  clock.now += 600_000;
  const joining = find(appKey);
  hook.around = (reply) => reply();
  reached.resolve();
  expect(await Promise.all([beginning, joining])).toEqual([undefined, undefined]);
  expect(hook.calls).toEqual(['GetCommand', 'GetCommand']);
});

it('concurrent calls share one look-up; each waits for it only until its own signal aborts', async () => {
  const { hook, find, putKey } = newLookUp();
  const appKey = await putKey();
  const reached = Promise.withResolvers<void>();
  hook.around = (reply) => reached.promise.then(reply);
  const hurried = new AbortController();
  const patient = Array.from({ length: 1_000 }, () => find(appKey, new AbortController()));
  const impatient = find(appKey, hurried);
  hurried.abort(new Error('over'));
  await expect(impatient).rejects.toThrow('over');
  await expect(find(appKey, { signal: AbortSignal.abort(new Error('late')) })).rejects.toThrow('late');
  reached.resolve();
  expect((await Promise.all(patient)).filter((caller) => caller === undefined)).toEqual([]);
  await find(appKey);
  expect(hook.calls).toEqual(['GetCommand']);
});

it('a key is looked up again after a look-up failed', async () => {
  const { hook, find, putKey } = newLookUp();
  const appKey = await putKey();
  hook.around = () => Promise.reject(new Error('no'));
  await expect(find(appKey)).rejects.toThrow('no');
  hook.around = (reply) => reply();
  expect(await find(appKey)).toBeDefined();
});

it('the last use of a valid key is stored once an hour, however many functions look the key up', async () => {
  const { clock, hook, find, newInstance, putKey, lastUse } = newLookUp({ recordsUse: true });
  const [appKey, revoked] = [await putKey(), await putKey(REVOKED)];
  for (const key of [appKey, revoked]) await find(key);
  expect([await lastUse(appKey), await lastUse(revoked)]).toEqual([SECONDS, undefined]);
  clock.now += HOUR_MS - 1_000;
  await newInstance().find(appKey);
  expect(await lastUse(appKey)).toBe(SECONDS);
  expect(hook.calls.filter((name) => name === 'UpdateCommand')).toHaveLength(1);
  clock.now += 1_000;
  await newInstance().find(appKey);
  expect(await lastUse(appKey)).toBe(SECONDS + 3_600);
});

it('a last use whose write is not answered neither fails nor delays the call', async () => {
  const { hook, find, putKey, lastUse } = newLookUp({ recordsUse: true });
  const appKey = await putKey();
  hook.around = (reply, { name }, signal) => (name === 'UpdateCommand' ? noReply(signal) : reply());
  expect(await within(1_000, () => find(appKey))).toBeDefined();
  expect(await lastUse(appKey)).toBeUndefined();
});
