import fc from 'fast-check';
import { expect } from 'vitest';
import { createRateLimiter, itemBudget, type WindowState } from '../../lib/http/rate-limit.ts';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import type { Table } from '../../lib/table/client.ts';
import { NOW, testDeps } from '../support/service.ts';
import { answersTruly, anyFate, onSchedules } from './schedule.ts';

const ACCOUNT = 1;
/** A warm function, and the seconds of its clock at which it is called. */
const instance = fc.record({
  seconds: fc.array(fc.constantFrom(14, 14, 15, 59, 60), { minLength: 1, maxLength: 3 }),
  fate: anyFate,
});
/** `used`: how many calls have passed before second 14. */
const cases = fc.record({
  used: fc.constantFrom(0, 28),
  instances: fc.array(instance, { minLength: 2, maxLength: 4 }),
});

onSchedules('the fleet limit passes two calls a second and thirty a minute', cases, async (each, schedule) => {
  const limiterAt = (table: Table, secondNow: () => number) =>
    createRateLimiter(browseFleet, testDeps(table, { now: () => NOW + 1_000 * secondNow() }));
  let second = 0;
  const undisturbed = limiterAt(schedule.table, () => second);
  const calls: { second: number; outcome: 'passed' | 'failed' | 'unknown' | WindowState }[] = [];
  for (let call = 0; call < each.used; call += 1) {
    second = Math.floor(call / 2);
    await undisturbed.take(ACCOUNT);
    calls.push({ second, outcome: 'passed' });
  }
  const running = each.instances.map(({ seconds, fate }) =>
    schedule.start(async (table) => {
      let itsSecond = 0;
      const limiter = limiterAt(table, () => itsSecond);
      for (itsSecond of seconds) {
        const call: (typeof calls)[number] = { second: itsSecond, outcome: 'unknown' };
        calls.push(call);
        try {
          call.outcome = (await limiter.take(ACCOUNT)).refusedBy ?? 'passed';
        } catch {
          // A call that is counted passes: it fails only if that cannot be known.
          if (answersTruly(fate)) call.outcome = 'failed';
        }
      }
    }, fate),
  );
  await schedule.run(running);

  for (second of [14, 15, 59, 60])
    for (const { window, remaining, endsMs } of await undisturbed.peek(ACCOUNT)) {
      const endsAt = (endsMs - NOW) / 1_000;
      const own = calls.filter((call) => call.second < endsAt && call.second >= endsAt - window.seconds);
      const count = (wanted: string) => own.filter(({ outcome }) => outcome === wanted).length;
      const [passed, counted] = [count('passed'), window.limit - remaining];
      expect(passed, window.name).toBeLessThanOrEqual(counted);
      expect(counted, window.name).toBeLessThanOrEqual(passed + count('unknown'));
      const isFull = own.some(({ outcome }) => typeof outcome === 'object' && outcome.window === window);
      if (isFull) expect(remaining, `of a ${window.name} that refused a call`).toBe(0);
    }
});

/** The items that a call sends, two seconds of a minute apart. */
const sender = fc.record({
  calls: fc.array(fc.record({ second: fc.constantFrom(3, 4, 5, 6), items: fc.constantFrom(1, 4, 9, 12) }), {
    minLength: 1,
    maxLength: 3,
  }),
  fate: anyFate,
});
const senders = fc.record({ senders: fc.array(sender, { minLength: 2, maxLength: 4 }) });

onSchedules(
  'the budget of the feed counts all items that pass, and a call above it only alone',
  senders,
  async (each, schedule) => {
    const budget = itemBudget({ feedItemsPer3Seconds: 10, feedItemsPerMinute: 20 });
    let second = 0;
    const undisturbed = createRateLimiter(budget, testDeps(schedule.table, { now: () => NOW + 1_000 * second }));
    const passed: { second: number; items: number }[] = [];
    const running = each.senders.map(({ calls, fate }) =>
      schedule.start(async (table) => {
        let itsSecond = 0;
        const limiter = createRateLimiter(budget, testDeps(table, { now: () => NOW + 1_000 * itsSecond }));
        for (const call of calls) {
          itsSecond = call.second;
          const verdict = await Promise.resolve(limiter.take(ACCOUNT, undefined, call.items)).catch(() => undefined);
          if (verdict && !verdict.refusedBy) passed.push(call);
        }
      }, fate),
    );
    await schedule.run(running);
    for (second of [3, 6])
      for (const { window, remaining, endsMs } of await undisturbed.peek(ACCOUNT)) {
        const endsAt = (endsMs - NOW) / 1_000;
        const own = passed.filter((call) => call.second < endsAt && call.second >= endsAt - window.seconds);
        const items = own.reduce((sum, call) => sum + call.items, 0);
        expect(window.limit - remaining, window.name).toBeGreaterThanOrEqual(Math.min(items, window.limit));
        if (own.length > 1) expect(items, window.name).toBeLessThanOrEqual(window.limit);
      }
  },
  2_000,
);
