import { expect, it } from 'vitest';
import { operations } from '../../../../lib/operations/index.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { WINDOW_MINUTES } from '../../../admin/status/measured.ts';
import { createCounters } from '../../counters.ts';

const [{ name: operation, path }] = operations;

it('gives for each operation the calls of the last hour, the failed ones and the p99', () => {
  let now = 0;
  const counters = createCounters(() => now);
  const figures = () => counters.operations().filter(({ calls }) => calls > 0);
  // The probe of `admin status` has an unknown key.
  counters.addCall({ path, status: 401, code: 'Unauthorized', durationMs: 99_000 } as never);
  for (const status of [500, 503, 200, 200]) counters.addCall({ path, status, durationMs: 9_000 } as never);
  now += WINDOW_MINUTES * 60_000;
  expect(figures()).toEqual([{ operation, calls: 4, failed: 2, p99_ms: 9_000 }]);
  now += 1;
  // 100 calls of 1.4 to 100.4 ms in mixed order.
  for (let call = 0; call < 100; call++)
    counters.addCall({ path, status: 499, durationMs: ((call * 37) % 100) + 1.4 } as never);
  expect(figures()).toEqual([{ operation, calls: 100, failed: 0, p99_ms: 99 }]);
});

it('keeps the last failed attempt to finish each merge', () => {
  let now = 0;
  const counters = createCounters(() => now);
  for (const name of ['ThrottlingException', 'TimeoutError']) {
    now += 1;
    const message = JSON.stringify(keys.historyEntry(7, 'a'.repeat(24), 3));
    counters.addFailedAttempt(message, Object.assign(new Error(), { name }));
  }
  expect(counters.attempts()).toEqual([{ incident_id: 'a'.repeat(24), sequence: 3, error: 'TimeoutError', at_ms: 2 }]);
});
