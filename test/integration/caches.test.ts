import { describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../lib/auth/app-keys.ts';
import { connectTable, type Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { forEach as forEachOf } from '../../lib/dynamodb/pool.ts';
import { browseFleet, getRumResource } from '../../lib/http/operations.ts';
import { createRateLimiter } from '../../lib/http/rate-limit.ts';
import { createGetRumResource } from '../../lib/operations/get-rum-resource/resource.ts';
import { newAccount } from '../support/incidents.ts';
import { RUM_RECORD } from '../support/rum.ts';
import { callAlone, handlersOver, newTable, put, putAll, testDeps } from '../support/service.ts';
import { tapWire } from '../support/wire.ts';

const table = await newTable();
const tap = tapWire(table);

/** Calls `act` for each number below `count`, up to 50 at the same time. */
const forEach = (count: number, act: (number: number) => Promise<unknown>) =>
  forEachOf([...Array(count).keys()], act, { concurrency: 50 });

/** A table whose replies are made here: thousands of calls to DynamoDB Local would show no more. */
function cannedTable(reply: () => { statusCode: number; body: string }): Table {
  const canned = connectTable({ name: 'canned', endpoint: 'http://127.0.0.1:1' });
  const handle = async () => {
    const { statusCode, body } = reply();
    return { response: { statusCode, headers: {}, body: Buffer.from(body) } };
  };
  Object.assign(canned.client.config, { requestHandler: { handle } });
  return canned;
}

// quick-lru may hold twice its size, since it drops entries by halves.
describe('a cache is bounded: what was used longest ago makes room', () => {
  it('of app keys at twice its size', async () => {
    let asked = 0;
    const canned = cannedTable(() => {
      asked += 1;
      return { statusCode: 200, body: '{}' };
    });
    // A clock that stands still: nothing is too old.
    const appKeys = createAppKeys(testDeps(canned, { now: () => 1_000_000 }), { cacheSize: 100 });
    await forEach(100, (number) => appKeys.find(`key ${number}`));
    await appKeys.find('key 99');
    expect(asked).toBe(100);
    await forEach(200, (number) => appKeys.find(`further ${number}`));
    await appKeys.find('key 0');
    expect(asked).toBe(301);
    await appKeys.find('further 199');
    expect(asked).toBe(301);
  });

  it('of RUM records at twice its size', async () => {
    const accounts = Array.from({ length: 210 }, (_, number) => 100_000 + number);
    await putAll(
      table,
      accounts.map((account) => ({ ...keys.rumResource(account), ...RUM_RECORD })),
    );
    const get = createGetRumResource(testDeps(table, { now: () => 1_000_000 }), 100);
    const read = (accountId: number) =>
      get({
        body: { no_cache: false },
        caller: { accountId, appKeyId: 'k', permissions: [], cursorSecret: new Uint8Array() },
        requestId: 'r',
        idempotencyKey: undefined,
        signal: AbortSignal.timeout(5_000),
      });
    await forEach(210, (number) => read(accounts[number] as number));
    const reads = async (account: number) => {
      const before = tap.attempts.length;
      await read(account);
      // With the record in the cache the usage alone is read, by its key.
      return tap.attempts.slice(before).map(({ command }) => command);
    };
    expect(await reads(100_209)).toEqual(['GetItemCommand']);
    expect(await reads(100_000)).toEqual(['QueryCommand']);
  });

  it('of refusals at twice its size', async () => {
    let counted = 0;
    const refusal = JSON.stringify({
      __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      Item: { total: { N: '30' } },
    });
    const full = cannedTable(() => {
      counted += 1;
      return { statusCode: 400, body: refusal };
    });
    const limiter = createRateLimiter(browseFleet, testDeps(full, { now: () => 1_000_000 }), 100);
    for (let account = 1; account <= 201; account += 1) await limiter.take(account);
    expect(counted).toBe(201);
    await limiter.take(201);
    expect(counted).toBe(201);
    expect((await limiter.take(1)).refusedBy?.window.name).toBe('minute');
    expect(counted).toBe(202);
  });
});

describe('a revoked key', () => {
  it('is refused at once when the clock was set back to before its look-up', async () => {
    const tenant = await newAccount(table);
    const key = keys.appKey(hashAppKey(tenant.appKey));
    let nowMs = 2_050_000_000_000;
    const appKeys = createAppKeys(testDeps(table, { now: () => nowMs }));
    expect(await appKeys.find(tenant.appKey)).toBeDefined();
    nowMs -= 3_600_000;
    const row = { account_id: tenant.account, permissions: ['monit'], cursor_secret: Buffer.from('s') };
    await put(table, key, { ...row, revoked_at: Math.floor(nowMs / 1000) });
    expect(await appKeys.find(tenant.appKey)).toBeUndefined();
  });

  it('is refused when its lifetime in the cache ends, however calls, look-ups and the revocation interleave', async () => {
    const tenant = await newAccount(table);
    const key = keys.appKey(hashAppKey(tenant.appKey));
    let nowMs = 2_050_000_000_000;
    const handlers = handlersOver(testDeps(table, { now: () => nowMs }));
    const call = async () => (await callAlone(handlers, getRumResource, { appKey: tenant.appKey, body: {} })).status;
    // Calls every 7 s, so that look-ups fall at every distance from the revocation.
    for (let revokedAfter = 0; revokedAfter < 5; revokedAfter += 1) {
      const row = { account_id: tenant.account, permissions: ['monit'], cursor_secret: Buffer.from('s') };
      await put(table, key, row);
      nowMs += 60_000;
      for (let calls = 0; calls < revokedAfter; calls += 1) {
        expect(await call()).not.toBe(401);
        nowMs += 7_000;
      }
      await put(table, key, { ...row, revoked_at: Math.floor(nowMs / 1000) });
      const revokedAt = nowMs;
      for (; nowMs <= revokedAt + 30_000; nowMs += 7_000) await call();
      nowMs = revokedAt + 30_000;
      expect(await call()).toBe(401);
    }
  });
});
