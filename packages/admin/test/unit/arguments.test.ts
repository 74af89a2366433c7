import { expect, it } from 'vitest';
import { accountId, duration, historyEntry, integer, lifetime, objectId, textOfLength } from '../../cli/arguments.ts';

const INT64_MAX = 2n ** 63n - 1n;

/** For each parser: values with their results, and the closest values that it refuses. */
it.each<[(value: string) => unknown, Record<string, unknown>, string[]]>([
  [accountId, { 1: 1, [`${INT64_MAX}`]: INT64_MAX }, ['0', '-1', '1.5', '1e3', `${INT64_MAX + 1n}`, '']],
  [objectId, { ['A'.repeat(24)]: 'a'.repeat(24) }, ['a'.repeat(23), 'a'.repeat(25), 'g'.repeat(24)]],
  [historyEntry, { '007': 7, [`${'9'.repeat(15)}`]: 999_999_999_999_999 }, ['', '1.0', '-1', '9'.repeat(16)]],
  [duration, { 0: 0, '0.5ms': 0.5, '90d': 7_776_000_000, '10 M': 600_000 }, ['5', '-1s', '1x', '1001y', '']],
  [lifetime, { never: 'never', '1h': 3_600_000 }, ['ever']],
  [integer(1, 10), { 1: 1, 10: 10 }, ['0', '11', '1.5', '1e0', ' 1', '']],
  [textOfLength(1, 2), { '\u{1F600}\u{1F600}': '\u{1F600}\u{1F600}', a: 'a' }, ['', 'abc', '\ud800']],
])('%o', (parse, accepted, refused) => {
  for (const [value, result] of Object.entries(accepted)) expect([value, parse(value)]).toEqual([value, result]);
  for (const value of refused) expect(() => parse(value), value).toThrow(/^It must /);
});
