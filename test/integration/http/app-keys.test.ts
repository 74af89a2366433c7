import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../../lib/http/app-keys.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newAccountId, newCaller } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { aroundCalls } from '../../support/faults.ts';
import {
  callOperation,
  connectAgain,
  eventFor,
  handlersOver,
  invokeAlone,
  newAppKey,
  newTable,
  putAppKey,
  stored,
  testDeps,
} from '../../support/service.ts';
import { silentServer, tapWire } from '../../support/wire.ts';

const NOW = 1_750_000_000_000;
const SECONDS = NOW / 1000;
const HOUR_MS = 3_600_000;
const table = await newTable();
const deps = testDeps(table, { now: () => NOW });
const handlers = handlersOver(deps);

describe('the answer to a caller without a valid key', () => {
  it('is the same byte for byte except for request_id, whatever is wrong with the key', async () => {
    const valid = (await newCaller(table)).appKey;
    const putKey = (row: object, appKey?: string) => putAppKey(table, { account_id: newAccountId(), ...row }, appKey);
    const invalidKeys: Record<string, string | string[] | undefined> = {
      missing: undefined,
      empty: '',
      twice: [valid, valid],
      'twice, one of them empty': [valid, ''],
      long: 'x'.repeat(257),
      'long, of astral characters': '\u{1f511}'.repeat(257),
      'long and stored': await putKey({}, 'y'.repeat(257)),
      'not ASCII': '密钥\ud800\0',
      unknown: newAppKey(),
      expired: await putKey({ expires_at: SECONDS - 1 }),
      'expired this second': await putKey({ expires_at: SECONDS }),
      revoked: await putKey({ revoked_at: SECONDS - 1 }),
      'revoked by a clock that is an hour ahead': await putKey({ revoked_at: SECONDS + 3600 }),
      suspended: await putKey({ suspended: true }),
    };
    const seen = new Map<string, string>();
    for (const [what, appKey] of Object.entries(invalidKeys)) {
      const answer = await callOperation(handlers, getRumResource, { appKey });
      expectEnvelope(answer, 401, 'Unauthorized');
      const { request_id } = answer.body;
      const text = JSON.stringify([answer.status, Object.entries(answer.headers).sort(), answer.text]);
      seen.set(what, text.replaceAll(request_id, 'ID'));
    }
    for (const [what, text] of seen) expect(text, what).toBe(seen.get('unknown'));
  });

  it('is not given to a valid key of 256 characters, nor to a key that expires a second from now', async () => {
    for (const appKey of [
      await putAppKey(table, { account_id: newAccountId() }, 'z'.repeat(256)),
      await putAppKey(table, { account_id: newAccountId() }, '\u{1f511}'.repeat(256)),
      await putAppKey(table, { account_id: newAccountId(), expires_at: SECONDS + 1 }),
    ])
      expectEnvelope(await callOperation(handlers, getRumResource, { appKey }), 400, 'ResourceNotFound');
  });
});

it('an app key is taken out of the event before anything can log it, also when it is refused', async () => {
  const { appKey } = await newCaller(table);
  const unknown = newAppKey();
  for (const sent of [appKey, [unknown, unknown]]) {
    const event = eventFor(getRumResource, { appKey: sent, body: { no_cache: 7 } });
    const answer = await invokeAlone(handlers.getRumResource, event);
    const seen = JSON.stringify([answer, event, deps.log.lines]);
    for (const key of [appKey, unknown]) expect(seen).not.toContain(key);
  }
});

/** The look-up of keys in a warm function, with a clock and a client of its own. */
function newLookUp({ recordsUse = false } = {}) {
  const clock = { now: NOW };
  const connection = connectAgain(table);
  const newInstance = () => createAppKeys(testDeps(connection, { now: () => clock.now }), { recordsUse });
  const tap = tapWire(connection);
  return {
    clock,
    connection,
    newInstance,
    find: newInstance().find,
    commandsSent: () => tap.attempts.map(({ command }) => command),
  };
}

describe('a warm handler', () => {
  it.each<[string, { lookUpMs: number; trustedMs: number }]>([
    ['for 30 s', { lookUpMs: 0, trustedMs: 29_999 }],
    ['from the moment that its look-up began', { lookUpMs: 2_000, trustedMs: 27_999 }],
  ])('trusts a key that is revoked %s', async (_howLong, { lookUpMs, trustedMs }) => {
    const { clock, find, connection } = newLookUp();
    const { account, appKey } = await newCaller(table);
    const stopIntercepting = aroundCalls(connection, async (_call, send) => {
      await send();
      await putAppKey(table, { account_id: account, revoked_at: 1 }, appKey); // just after the row was read
      clock.now += lookUpMs;
    });
    expect(await find(appKey)).toMatchObject({ accountId: account, permissions: ['monit', 'feed'] });
    stopIntercepting();
    clock.now += trustedMs;
    expect(await find(appKey)).toBeDefined();
    clock.now += 1;
    expect(await find(appKey)).toBeUndefined();
  });

  it.each([-HOUR_MS, HOUR_MS])(
    'lets a new key in, and refuses a revoked or suspended one, when its clock is %i ms ahead of the operator’s',
    async (aheadMs) => {
      const { clock, find } = newLookUp();
      clock.now += aheadMs;
      const { account, appKey } = await newCaller(table, { created_at: SECONDS });
      expect(await find(appKey)).toMatchObject({ accountId: account });
      for (const row of [{ revoked_at: SECONDS }, { suspended: true }])
        expect(await find(await putAppKey(table, { account_id: account, ...row }))).toBeUndefined();
    },
  );

  it('refuses a revoked key at once when its clock was set back to before the look-up', async () => {
    const { clock, find } = newLookUp();
    const { account, appKey } = await newCaller(table);
    expect(await find(appKey)).toBeDefined();
    clock.now -= HOUR_MS;
    await putAppKey(table, { account_id: account, revoked_at: SECONDS - 3_600 }, appKey);
    expect(await find(appKey)).toBeUndefined();
  });

  it('checks the expiry at every call, also of a remembered key', async () => {
    const { clock, find } = newLookUp();
    const appKey = await putAppKey(table, { account_id: newAccountId(), expires_at: SECONDS + 2 });
    for (const { ms, isValid } of [
      { ms: 0, isValid: true },
      { ms: 1_999, isValid: true },
      { ms: 2_000, isValid: false },
    ]) {
      clock.now = NOW + ms;
      expect((await find(appKey)) !== undefined).toBe(isValid);
    }
  });

  it('looks a key up once for 1,000 calls at the same time, and not again while it trusts it', async () => {
    const { find, commandsSent } = newLookUp();
    const { appKey } = await newCaller(table);
    const callers = await Promise.all(Array.from({ length: 1_000 }, () => find(appKey)));
    expect(callers.filter((caller) => caller === undefined)).toEqual([]);
    await find(appKey);
    expect(commandsSent()).toEqual(['GetItemCommand']);
  });

  it('remembers an unknown key for a few seconds only', async () => {
    const { clock, find, commandsSent } = newLookUp();
    const appKey = newAppKey();
    for (let times = 0; times < 2; times += 1) expect(await find(appKey)).toBeUndefined();
    expect(commandsSent()).toHaveLength(1);
    await putAppKey(table, { account_id: newAccountId() }, appKey);
    clock.now += 3_001;
    expect(await find(appKey)).toBeDefined();
  });

  it('looks a key up again after a look-up failed', async () => {
    const { find, connection } = newLookUp();
    const { appKey } = await newCaller(table);
    const stopIntercepting = aroundCalls(connection, async () => {
      throw Object.assign(new Error('no'), { name: 'ValidationException' });
    });
    await expect(find(appKey)).rejects.toThrow('no');
    stopIntercepting();
    expect(await find(appKey)).toBeDefined();
  });
});

describe('the last use of a key', () => {
  const lastUse = async (appKey: string) => (await stored(table, keys.appKey(hashAppKey(appKey))))?.last_used_at;

  it('is stored once an hour, by one write, however many functions look the key up', async () => {
    const { clock, newInstance, find, commandsSent } = newLookUp({ recordsUse: true });
    const { appKey } = await newCaller(table);
    const writes = () => commandsSent().filter((command) => command === 'UpdateItemCommand').length;
    await find(appKey);
    expect([await lastUse(appKey), writes()]).toEqual([SECONDS, 1]);
    clock.now += HOUR_MS - 1_000;
    for (const { find } of [newInstance(), newInstance()]) await find(appKey);
    await find(appKey);
    expect([await lastUse(appKey), writes()]).toEqual([SECONDS, 1]);
    clock.now += 31_000;
    await find(appKey);
    expect([await lastUse(appKey), writes()]).toEqual([SECONDS + 3_630, 2]);
  });

  it('is not stored for a refused key', async () => {
    const { find } = newLookUp({ recordsUse: true });
    const revoked = await putAppKey(table, { account_id: newAccountId(), revoked_at: SECONDS - 1 });
    for (const refused of [revoked, newAppKey()]) {
      expect(await find(refused)).toBeUndefined();
      expect(await lastUse(refused)).toBeUndefined();
    }
  });

  it('neither fails nor delays a call when it cannot be stored', async () => {
    const { connection, find } = newLookUp({ recordsUse: true });
    const silent = await silentServer();
    for (const fault of ['refused', 'silent']) {
      const { appKey } = await newCaller(table);
      const tap = tapWire(connection, async ({ command, redirect }, send) => {
        const isWrite = command === 'UpdateItemCommand';
        if (isWrite && fault === 'refused') throw Object.assign(new Error('no'), { name: 'AccessDeniedException' });
        if (isWrite) redirect(silent.port);
        await send();
      });
      const startedMs = performance.now();
      expect(await find(appKey)).toBeDefined();
      expect(performance.now() - startedMs).toBeLessThan(700);
      expect([tap.count('UpdateItemCommand') > 0, await lastUse(appKey)]).toEqual([true, undefined]);
      tap.remove();
    }
    silent.close();
  });
});
