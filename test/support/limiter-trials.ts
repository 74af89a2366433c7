/** Trials of the exact limit: many callers at once, through several clients, over a network that loses replies. */
import { randomBytes } from 'node:crypto';
import type { Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { browseFleet } from '../../lib/http/operations.ts';
import { createRateLimiter, type RateLimiter } from '../../lib/http/rate-limit.ts';
import { newAccountId } from './accounts.ts';
import { seededRandom } from './chance.ts';
import { NOW, stored } from './service.ts';
import { replyLost, tapWire } from './wire.ts';

const CALLERS = 300;
const CLIENTS = 5;
const newId = () => randomBytes(16).toString('hex');
const [SECOND, MINUTE] = browseFleet.rateWindows;

export interface Trial {
  seed: number;
  /** Calls that should pass. */
  allowed: number;
  /** Calls that passed, with those that would have if not every reply to them had been lost. */
  passed: number;
  /** Calls that the row counts. */
  counted: number;
  /** Replies that were lost. */
  lost: number;
}

/**
 * Runs trials, each with 300 callers in the seconds of a minute of its own account.
 * @param connect a further client of the same table
 * @param share of DynamoDB's replies lost after the write
 */
export async function limiterTrials(connect: () => Table, trials: number, share: number): Promise<Trial[]> {
  const clock = { now: NOW };
  const random = seededRandom(1);
  const clients = Array.from({ length: CLIENTS }, connect);
  const limiters = clients.map((table) => createRateLimiter(browseFleet, { table, now: () => clock.now, newId }));
  // Connections opened all in one moment would overrun DynamoDB Local's socket.
  const other = newAccountId();
  for (const limiter of limiters)
    await Promise.all(Array.from({ length: CALLERS / CLIENTS }, () => limiter.take(other)));
  let lost = 0;
  const taps = clients.map((table) =>
    tapWire(table, async (_attempt, send) => {
      await send();
      if (random() >= share) return;
      lost += 1;
      throw replyLost();
    }),
  );
  const results: Trial[] = [];
  for (let seed = 0; seed < trials; seed += 1) results.push(await runTrial(seed));
  for (const tap of taps) tap.remove();
  return results;

  async function runTrial(seed: number): Promise<Trial> {
    const account = newAccountId();
    const lostBefore = lost;
    const seconds = [1, 1, 5, 20][seed % 4] as number;
    const offered = Array.from({ length: seconds }, () => 0);
    for (let caller = 0; caller < CALLERS; caller += 1) (offered[Math.floor(random() * seconds)] as number) += 1;
    let [allowed, passed] = [0, 0];
    for (const [second, calls] of offered.entries()) {
      clock.now = NOW + second * SECOND.seconds * 1000;
      allowed += Math.min(calls, SECOND.limit, MINUTE.limit - allowed);
      const verdicts = await Promise.allSettled(
        Array.from({ length: calls }, (_, index) => (limiters[index % CLIENTS] as RateLimiter).take(account)),
      );
      const through = verdicts.filter((verdict) => verdict.status === 'fulfilled' && !verdict.value.refusedBy).length;
      const failed = verdicts.filter(({ status }) => status === 'rejected').length;
      // A call that lost every reply fails, whether it was counted or not; as many of them as had room are taken as passed.
      passed += failed === 0 ? through : Math.min(through + failed, Math.max(through, allowed - passed));
    }
    const key = keys.rateCount(account, browseFleet.name, NOW / (MINUTE.seconds * 1000));
    const row = await stored(clients[0] as Table, key);
    return { seed, allowed, passed, counted: Number(row?.total), lost: lost - lostBefore };
  }
}
