import fc from 'fast-check';
import { expect } from 'vitest';
import { createRateLimiter, type WindowState } from '../../lib/http/rate-limit.ts';
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
