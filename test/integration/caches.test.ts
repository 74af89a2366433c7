import { beforeAll, describe, expect, it } from 'vitest';
import { createAppKeys, hashAppKey } from '../../lib/accounts/app-keys.ts';
import { browseFleet, getRumResource } from '../../lib/api/operations.ts';
import { createRateLimiter } from '../../lib/api/throttle.ts';
import { createGetRumResource } from '../../lib/rum/resource.ts';
import { connectTable, type Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { newAccount } from '../support/incidents.ts';
import { eventFor, handlersOver, invokeAlone, newTable, put, putAll, testDeps } from '../support/service.ts';
import { type Tap, tapWire } from '../support/wire.ts';

let table: Table;
let tap: Tap;
beforeAll(async () => {
  table = await newTable();
  tap = tapWire(table);
});

/** Does something for each number, a few at once. */
async function forEach(count: number, act: (number: number) => Promise<unknown>): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  const worker = async () => {
    for (const number of numbers) await act(number);
  };
  await Promise.all(Array.from({ length: 50 }, worker));
}
async function callsOf(act: () => Promise<unknown>): Promise<number> {
  const before = tap.attempts.length;
  await act();
  return tap.attempts.length - before;
}

// Twice as many may be there, for quick-lru drops them by halves.
describe('a cache is bounded: what was used longest ago makes room', () => {
  it('of app keys at 20,000', async () => {
    // A clock that stands still: nothing is too old.
    const appKeys = createAppKeys(testDeps(table, { now: () => 1_000_000 }));
    await forEach(10_000, (number) => appKeys.find(`key ${number}`));
    expect(await callsOf(() => appKeys.find('key 9999'))).toBe(0);
    // More than are looked up at once, for those end in any order.
    expect(await callsOf(() => forEach(10_100, (number) => appKeys.find(`further ${number}`)))).toBe(10_100);
    expect(await callsOf(() => appKeys.find('key 0'))).toBe(1);
    expect(await callsOf(() => appKeys.find('further 9999'))).toBe(0);
  });

  it('of RUM records at 2,000', async () => {
    const accounts = Array.from({ length: 2_100 }, (_, number) => 100_000 + number);
    await putAll(
      table,
      accounts.map((account) => ({ ...keys.rumResource(account), product: 'rum' })),
    );
    const get = createGetRumResource(testDeps(table, { now: () => 1_000_000 }));
    const read = (accountId: number) =>
      get({
        body: { no_cache: false },
        caller: { accountId, appKeyId: 'k', permissions: [], cursorSecret: new Uint8Array() },
        requestId: 'r',
        idempotencyKey: undefined,
        signal: AbortSignal.timeout(5_000),
      });
    await forEach(2_100, (number) => read(accounts[number] as number));
    const reads = async (account: number) => {
      const before = tap.attempts.length;
      await read(account);
      // With the record in the cache the usage alone is read, by its key.
      return tap.attempts.slice(before).map(({ command }) => command);
    };
    expect(await reads(102_099)).toEqual(['GetItemCommand']);
    expect(await reads(100_000)).toEqual(['QueryCommand']);
  });

  it('of refusals at 20,000', async () => {
    let counted = 0;
    const full = connectTable({ name: 'full', endpoint: 'http://127.0.0.1:1' });
    const refusal = JSON.stringify({
      __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      Item: { total: { N: '30' } },
    });
    Object.assign(full.client.config, {
      requestHandler: {
        handle: async () => {
          counted += 1;
          return { response: { statusCode: 400, headers: {}, body: Buffer.from(refusal) } };
        },
      },
    });
    const limiter = createRateLimiter(browseFleet, testDeps(full, { now: () => 1_000_000 }));
    for (let account = 1; account <= 20_001; account += 1) await limiter.take(account);
    expect(counted).toBe(20_001);
    await limiter.take(20_001);
    expect(counted).toBe(20_001);
    expect((await limiter.take(1)).refusedBy?.window.name).toBe('minute');
    expect(counted).toBe(20_002);
  });
});

describe('a revoked key', () => {
  it('is refused when its lifetime in the cache ends, however calls, looks-up and the revocation interleave', async () => {
    const at = await newAccount(table);
    const key = keys.appKey(hashAppKey(at.appKey));
    let now = 2_050_000_000_000;
    const handler = handlersOver(testDeps(table, { now: () => now })).getRumResource;
    const call = async () =>
      (await invokeAlone(handler, eventFor(getRumResource, { appKey: at.appKey, body: {} }))).status;
    // Calls every 7 s, so that look-ups fall at every distance from the revocation.
    for (let revokedAfter = 0; revokedAfter < 5; revokedAfter += 1) {
      const row = { account_id: at.account, permissions: ['monit'], cursor_secret: Buffer.from('s') };
      await put(table, key, row);
      now += 60_000;
      for (let calls = 0; calls < revokedAfter; calls += 1) {
        expect(await call()).not.toBe(401);
        now += 7_000;
      }
      await put(table, key, { ...row, revoked_at: Math.floor(now / 1000) });
      const revokedAt = now;
      for (; now <= revokedAt + 30_000; now += 7_000) await call();
      now = revokedAt + 30_000;
      expect(await call()).toBe(401);
    }
  });
});
