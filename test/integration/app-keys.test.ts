import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../lib/auth/app-keys.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { getRumResource } from '../../lib/http/operations.ts';
import { newAccountId, newCaller } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import { aroundCalls } from '../support/faults.ts';
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
} from '../support/service.ts';
import { silentServer, tapWire } from '../support/wire.ts';

const NOW = 1_750_000_000_000;
const SECONDS = NOW / 1000;
const table = await newTable();
const deps = testDeps(table, { now: () => NOW });
const handlers = handlersOver(deps);

describe('the answer to a caller without a valid key', () => {
  it('is the same byte for byte except for request_id, whatever is wrong with the key', async () => {
    const valid = (await newCaller(table)).appKey;
    const given: Record<string, string | string[] | undefined> = {
      missing: undefined,
      empty: '',
      twice: [valid, valid],
      'once empty': [valid, ''],
      long: 'x'.repeat(257),
      'long, of astral characters': '\u{1f511}'.repeat(257),
      unknown: newAppKey(),
      expired: await putAppKey(table, { account_id: newAccountId(), expires_at: SECONDS - 1 }),
      'expired this second': await putAppKey(table, { account_id: newAccountId(), expires_at: SECONDS }),
      revoked: await putAppKey(table, { account_id: newAccountId(), revoked_at: SECONDS - 1 }),
      'revoked by a clock that is an hour ahead': await putAppKey(table, {
        account_id: newAccountId(),
        revoked_at: SECONDS + 3600,
      }),
      suspended: await putAppKey(table, { account_id: newAccountId(), suspended: true }),
      'not ASCII': '密钥\ud800\0',
      'long and stored': await putAppKey(table, { account_id: newAccountId() }, 'y'.repeat(257)),
    };
    const answers = await Promise.all(
      Object.entries(given).map(async ([kind, appKey]) => {
        const answer = await callOperation(handlers, getRumResource, { appKey });
        expectEnvelope(answer, 401, 'Unauthorized');
        const headers = Object.entries(answer.headers).sort();
        const seen = JSON.stringify([answer.status, headers, answer.text]).replaceAll(answer.body.request_id, 'ID');
        return [kind, seen] as const;
      }),
    );
    for (const [kind, seen] of answers) expect(seen, kind).toBe(answers[0]?.[1]);
  });

  it('is not given to a key of 256 characters, nor to one before the second in which it expires', async () => {
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
  for (const given of [appKey, [unknown, unknown]]) {
    const event = eventFor(getRumResource, { appKey: given, body: { no_cache: 7 } });
    const answer = await invokeAlone(handlers.getRumResource, event);
    const seen = JSON.stringify([answer, event, deps.log.lines]);
    for (const key of [appKey, unknown]) expect(seen).not.toContain(key);
  }
});

describe('a warm handler', () => {
  const warm = (settings = {}) => {
    const clock = { now: NOW };
    const own = connectAgain(table);
    return { clock, own, appKeys: createAppKeys(testDeps(own, { now: () => clock.now, settings })) };
  };

  it.each<[string, { settings?: object; lookUpMs: number; trustedMs: number }]>([
    ['for 30 s', { lookUpMs: 0, trustedMs: 29_999 }],
    ['from the moment that its look-up began', { lookUpMs: 2_000, trustedMs: 27_999 }],
    ['as long as the setting says', { settings: { appKeyCacheSeconds: 5 }, lookUpMs: 0, trustedMs: 4_999 }],
  ])('trusts a key that is revoked %s', async (_howLong, { settings = {}, lookUpMs, trustedMs }) => {
    const { clock, appKeys, own } = warm(settings);
    const { account, appKey } = await newCaller(table);
    const end = aroundCalls(own, async (_call, send) => {
      await send();
      await putAppKey(table, { account_id: account, revoked_at: 1 }, appKey); // just after the row was read
      clock.now += lookUpMs;
    });
    expect(await appKeys.find(appKey)).toMatchObject({ accountId: account, permissions: ['monit'] });
    end();
    clock.now += trustedMs;
    expect(await appKeys.find(appKey)).toBeDefined();
    clock.now += 1;
    expect(await appKeys.find(appKey)).toBeUndefined();
  });

  it.each([-3_600_000, 3_600_000])(
    'lets a new key in, and refuses a revoked or suspended one, when its clock is %i ms ahead of the operator’s',
    async (aheadMs) => {
      const { clock, appKeys } = warm();
      clock.now += aheadMs;
      const { account, appKey } = await newCaller(table, { created_at: SECONDS });
      expect(await appKeys.find(appKey)).toMatchObject({ accountId: account });
      for (const row of [{ revoked_at: SECONDS }, { suspended: true }])
        expect(await appKeys.find(await putAppKey(table, { account_id: account, ...row }))).toBeUndefined();
    },
  );

  it('refuses a revoked key at once when its clock was set back to before the look-up', async () => {
    const { clock, appKeys } = warm();
    const { account, appKey } = await newCaller(table);
    expect(await appKeys.find(appKey)).toBeDefined();
    clock.now -= 3_600_000;
    await putAppKey(table, { account_id: account, revoked_at: Math.floor(clock.now / 1_000) }, appKey);
    expect(await appKeys.find(appKey)).toBeUndefined();
  });

  it('checks the expiry at every call, also of a remembered key', async () => {
    const { clock, appKeys } = warm();
    const appKey = await putAppKey(table, { account_id: newAccountId(), expires_at: SECONDS + 2 });
    expect(await appKeys.find(appKey)).toBeDefined();
    clock.now += 1_999;
    expect(await appKeys.find(appKey)).toBeDefined();
    clock.now += 1;
    expect(await appKeys.find(appKey)).toBeUndefined();
  });

  it('looks a key up once for 1,000 calls at the same time, and not again while it trusts it', async () => {
    const { appKeys, own } = warm();
    const { appKey } = await newCaller(table);
    const tap = tapWire(own);
    const found = await Promise.all(Array.from({ length: 1_000 }, () => appKeys.find(appKey)));
    expect(found.filter((caller) => caller === undefined)).toEqual([]);
    await appKeys.find(appKey);
    expect(tap.attempts.map(({ command }) => command)).toEqual(['GetItemCommand']);
    tap.remove();
  });

  it('remembers an unknown key for a few seconds only', async () => {
    const { clock, appKeys, own } = warm();
    const appKey = newAppKey();
    const tap = tapWire(own);
    expect(await appKeys.find(appKey)).toBeUndefined();
    expect(await appKeys.find(appKey)).toBeUndefined();
    expect(tap.attempts).toHaveLength(1);
    tap.remove();
    await putAppKey(table, { account_id: newAccountId() }, appKey);
    clock.now += 3_001;
    expect(await appKeys.find(appKey)).toBeDefined();
  });

  it('looks a key up again after a look-up failed', async () => {
    const { appKeys, own } = warm();
    const { appKey } = await newCaller(table);
    const tap = tapWire(own, async () => {
      throw Object.assign(new Error('no'), { name: 'ValidationException' });
    });
    await expect(appKeys.find(appKey)).rejects.toThrow('no');
    tap.remove();
    expect(await appKeys.find(appKey)).toBeDefined();
  });
});

describe('the last use of a key', () => {
  const HOUR = 3_600_000;
  const lastUse = async (appKey: string) => (await stored(table, keys.appKey(hashAppKey(appKey)))).last_used_at;
  const recordingUse = () => {
    const clock = { now: NOW };
    const own = connectAgain(table);
    const create = () => createAppKeys(testDeps(own, { now: () => clock.now }), { recordsUse: true });
    return { clock, own, create, appKeys: create() };
  };

  it('is stored once an hour, by one write, however many functions look the key up', async () => {
    const { clock, own, appKeys, create } = recordingUse();
    const { appKey } = await newCaller(table);
    const tap = tapWire(own);
    const writes = () => tap.attempts.filter(({ command }) => command === 'UpdateItemCommand').length;
    await appKeys.find(appKey);
    expect([await lastUse(appKey), writes()]).toEqual([SECONDS, 1]);
    clock.now += HOUR - 1_000;
    for (const found of [appKeys, create(), create()]) await found.find(appKey);
    expect([await lastUse(appKey), writes()]).toEqual([SECONDS, 1]);
    clock.now += 31_000;
    await appKeys.find(appKey);
    expect([await lastUse(appKey), writes()]).toEqual([SECONDS + 3_630, 2]);
    tap.remove();
  });

  it('is not stored for a refused key', async () => {
    const { appKeys } = recordingUse();
    const appKey = await putAppKey(table, { account_id: newAccountId(), revoked_at: SECONDS - 1 });
    const unknown = newAppKey();
    for (const refused of [appKey, unknown]) expect(await appKeys.find(refused)).toBeUndefined();
    expect(await lastUse(appKey)).toBeUndefined();
    expect(await stored(table, keys.appKey(hashAppKey(unknown)))).toBeUndefined();
  });

  it('neither fails nor delays a call when it cannot be stored', async () => {
    const { own, appKeys } = recordingUse();
    const silent = await silentServer();
    for (const fault of ['refused', 'silent']) {
      const { appKey } = await newCaller(table);
      const tap = tapWire(own, async ({ command, redirect }, send) => {
        const isWrite = command === 'UpdateItemCommand';
        if (isWrite && fault === 'refused') throw Object.assign(new Error('no'), { name: 'AccessDeniedException' });
        if (isWrite) redirect(silent.port);
        await send();
      });
      const startedMs = performance.now();
      expect(await appKeys.find(appKey)).toBeDefined();
      expect(performance.now() - startedMs).toBeLessThan(700);
      expect([tap.count('UpdateItemCommand') > 0, await lastUse(appKey)]).toEqual([true, undefined]);
      tap.remove();
    }
    silent.close();
  });
});
