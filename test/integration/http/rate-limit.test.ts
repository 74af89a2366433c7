import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { createRateLimiter, type RateLimiter } from '../../../lib/http/rate-limit.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { newAccountId } from '../../support/accounts.ts';
import { SEED, seededRandom } from '../../support/chance.ts';
import { aroundCalls, losing } from '../../support/faults.ts';
import { connectAgain, NOW, newTable, stored, testDeps } from '../../support/service.ts';
import { replyLost, tapWire } from '../../support/wire.ts';

const MINUTE = NOW / 60_000;
const table = await newTable();

/** The counts of a new account: a limiter with a client and a clock of its own. */
function newCount() {
  const account = newAccountId();
  const clock = { now: NOW };
  const connection = connectAgain(table);
  const newLimiter = (client: Table) => createRateLimiter(browseFleet, testDeps(client, { now: () => clock.now }));
  const { take } = newLimiter(connection);
  return {
    account,
    clock,
    connection,
    newLimiter,
    /** Counts a call. @returns the window that refuses it */
    take: async () => (await take(account)).refusedBy?.window.name,
    row: () => stored(table, keys.rateCount(account, 'browse-fleet', MINUTE)),
  };
}

describe('a count', () => {
  it.each([1, 20])('of 300 calls in %i s is exact, though every second reply to a write is lost', async (seconds) => {
    const { account, clock, newLimiter, row } = newCount();
    const clients = Array.from({ length: 5 }, () => connectAgain(table));
    const limiters = clients.map(newLimiter);
    // Opens the connections of one client after the other, by calls of another account: all at once would overrun DynamoDB Local's socket.
    const warmUpAccount = newAccountId();
    for (const limiter of limiters) await Promise.all(Array.from({ length: 60 }, () => limiter.take(warmUpAccount)));
    let written = 0;
    for (const client of clients)
      tapWire(client, async (_attempt, send) => {
        await send();
        written += 1;
        if (written % 2 === 1) throw replyLost();
      });
    const random = seededRandom(SEED);
    const secondOfCall = Array.from({ length: 300 }, () => Math.floor(random() * seconds));
    let [allowed, passed] = [0, 0];
    for (let second = 0; second < seconds; second += 1) {
      clock.now = NOW + second * 1_000;
      const calls = secondOfCall.flatMap((callSecond, index) =>
        callSecond === second ? (limiters[index % 5] as RateLimiter) : [],
      );
      const verdicts = await Promise.all(calls.map((limiter) => limiter.take(account)));
      allowed += Math.min(calls.length, 2, 30 - allowed);
      passed += verdicts.filter(({ refusedBy }) => !refusedBy).length;
    }
    const { total } = await row();
    expect({ passed, total }).toEqual({ passed: allowed, total: allowed });
    expect(written).toBeGreaterThan(0);
  });

  it('whose reply was lost is made once, and its call passes, even if it is the last one allowed', async () => {
    const { connection, take, row } = newCount();
    const tap = tapWire(connection, async ({ number }, send) => {
      await send();
      if (number % 2 === 1) throw replyLost();
    });
    for (const total of [1, 2]) {
      expect(await take()).toBeUndefined();
      expect(tap.count('UpdateItemCommand')).toBe(2 * total);
      expect(await row()).toMatchObject({ total, w0: total });
    }
    expect(await take()).toBe('second');
  });

  it('that never reaches DynamoDB makes the call fail, although the row can be read, and is not stored', async () => {
    const { connection, take, row } = newCount();
    await take();
    const stopIntercepting = aroundCalls(connection, losing('Update'));
    await expect(take()).rejects.toThrow('connection lost');
    stopIntercepting();
    expect(await row()).toMatchObject({ total: 1 });
    expect(await take()).toBeUndefined();
  });

  it('that DynamoDB refuses without returning the row makes the call fail, since the remaining quota is unknown', async () => {
    const { connection, take } = newCount();
    aroundCalls(connection, async () => {
      throw new ConditionalCheckFailedException({ message: 'no', $metadata: {} });
    });
    await expect(take()).rejects.toThrow('returned no row');
  });

  it('that was refused is tried again when the clock is set back to before its window', async () => {
    const { clock, take } = newCount();
    expect([await take(), await take(), await take()]).toEqual([undefined, undefined, 'second']);
    clock.now -= 3_600_000;
    expect(await take()).toBeUndefined();
  });

  it('takes at most one write a call, and none after a refusal until the window ends', async () => {
    const { clock, connection, take } = newCount();
    const tap = tapWire(connection);
    for (const { afterMs, writes } of [
      ...[1, 2, 3, 3].map((writes) => ({ afterMs: 0, writes })),
      { afterMs: 999, writes: 3 },
      { afterMs: 1_000, writes: 4 },
    ]) {
      clock.now = NOW + afterMs;
      await take();
      expect(tap.attempts).toHaveLength(writes);
    }
  });

  it('is in a row below 1 KB even when its minute is full, with the time at which the row expires', async () => {
    const { clock, take, row } = newCount();
    for (let call = 0; call < 30; call += 1) {
      clock.now = NOW + 1_999 * call;
      expect(await take()).toBeUndefined();
    }
    const full = await row();
    expect(full).toMatchObject({ total: 30, ttl: NOW / 1000 + 60 + 2 * 3_600 });
    expect(itemBytes(marshall(full))).toBeLessThan(1024);
  });
});
