import { expect, test } from 'vitest';
import { duration, tableOf, when } from '../../console/html.ts';

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

test.each([
  [-765, '<time>03:04:04 UTC</time> <small>less than a second ago</small>'],
  [90_000, '<time>03:05:35 UTC</time> <small>in 2 minutes</small>'],
  [-86_400_000, '<time>2026-01-01 03:04:05 UTC</time> <small>1 day ago</small>'],
])('a time %i ms from now is shown with its distance, and with its date unless that is today', (ms, text) => {
  expect(String(when(NOW + ms, NOW))).toBe(text);
});

test('a table leaves out empty columns', () => {
  const table = tableOf({
    head: ['a', 'b', 'c'],
    rows: [
      ['1', '', 0],
      ['2', undefined, 1_000],
    ],
    none: '',
  });
  expect(
    String(table)
      .replace(/<[^>]*>/g, ' ')
      .split(/\s+/)
      .filter(Boolean),
  ).toEqual(['a', 'c', '1', '0', '2', '1,000']);
});
