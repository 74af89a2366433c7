import { expect, test } from 'vitest';
import { duration, when } from '../../console/html.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

test.each([
  [0, 'less than a second'],
  [765, 'less than a second'],
  [1_000, '1 second'],
  [1_499, '1 second'],
  [1_500, '2 seconds'],
  [59_999, '1 minute'],
  [3 * 3_600_000, '3 hours'],
])('%i ms is shown as %s', (durationMs, text) => {
  expect(duration(durationMs)).toBe(text);
});

test('a moment is shown with its distance, past or to come', () => {
  expect(String(when(NOW - 765, NOW))).toBe('2026-01-02 03:04:04 UTC <small>(less than a second ago)</small>');
  expect(String(when(NOW + 90_000, NOW))).toBe('2026-01-02 03:05:35 UTC <small>(in 2 minutes)</small>');
});
