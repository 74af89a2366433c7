import { expect, it } from 'vitest';
import { isCurrent } from '../../../lib/http/app-keys.ts';

it.each([
  [1_000, 1_000, true],
  [1_000, 1_499, true],
  [1_000, 1_500, false],
  [1_000, 999, false],
])('a value cached at %i for 500 ms is current at %i: %s', (sinceMs, nowMs, expected) => {
  expect(isCurrent(sinceMs, 500, nowMs)).toBe(expected);
});
