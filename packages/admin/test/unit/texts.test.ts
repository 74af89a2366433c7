/** Texts that operators type, and texts that they read. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyText } from '../../../../test/support/chance.ts';
import { accountId, duration, historyEntry, integer, lifetime, objectId, textOfLength } from '../../cli/arguments.ts';
import { duration as durationText, when } from '../../console/html.ts';
import {
  commandText,
  countText,
  line,
  printable,
  printableJson,
  printableLines,
  timeText,
} from '../../text/printable.ts';

const INT64_MAX = 2n ** 63n - 1n;
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

it.each<[(value: string) => unknown, Record<string, unknown>, string[]]>([
  [accountId, { 1: 1, [`${INT64_MAX}`]: INT64_MAX }, ['0', '-1', '1.5', '1e3', `${INT64_MAX + 1n}`, '']],
  [objectId, { ['A'.repeat(24)]: 'a'.repeat(24) }, ['a'.repeat(23), 'a'.repeat(25), 'g'.repeat(24)]],
  [historyEntry, { '007': 7, [`${'9'.repeat(15)}`]: 999_999_999_999_999 }, ['', '1.0', '-1', '9'.repeat(16)]],
  [duration, { 0: 0, '0.5ms': 0.5, '90d': 7_776_000_000, '10 M': 600_000 }, ['5', '-1s', '1x', '1001y', '']],
  [lifetime, { never: 'never', '1h': 3_600_000 }, ['ever']],
  [integer(1, 10), { 1: 1, 10: 10 }, ['0', '11', '1.5', '1e0', ' 1', '']],
  [textOfLength(1, 2), { '\u{1F600}\u{1F600}': '\u{1F600}\u{1F600}', a: 'a' }, ['', 'abc', '\ud800']],
])('the argument %o', (parse, accepted, refused) => {
  for (const [value, result] of Object.entries(accepted)) expect([value, parse(value)]).toEqual([value, result]);
  for (const value of refused) expect(() => parse(value), value).toThrow(/^It must /);
});

const count = (items: number) => countText(items, 'alert');
const command = (id: string) => commandText('show host', { options: ['--stack', 'My stack'], last: id });
/** A time with its distance, and with its date unless that is today. */
const distance = (ms: number) => String(when(NOW + ms, NOW)).replaceAll(/<\/?(time|small)>/g, '');
const plain = 'plain text, é, 中文, עברית, हिन्दी, 😀, 👍🏽';
it.each<[print: (value: never) => string, value: unknown, text: string]>([
  [printable, plain, plain],
  [printable, '\u001b[2J\u0007\u009b', '\\u001b[2J\\u0007\\u009b'],
  [printable, '\u202e\u2028\u2029\ufeff', '\\u202e\\u2028\\u2029\\ufeff'],
  [printable, 'half \ud83d, a tag \u{e0041}', 'half \\ud83d, a tag \\udb40\\udc41'],
  // Lines and colours of our own, and nothing else that a terminal executes.
  [printableLines, 'a\n\u001b[1;31mred\u001b[39m\u001b[2J\r', 'a\n\u001b[1;31mred\u001b[39m\\u001b[2J\\u000d'],
  [printableJson, '{"text":"a\\nb\u202e\t"}', '{"text":"a\\nb\\u202e\\u0009"}'],
  [(value) => line`${value}:\n${1}${undefined}!`, 'a\n', 'a\\n:\n1undefined!'],
  [count, 1, '1 alert'],
  [count, 2_000, '2,000 alerts'],
  [command, 'web 1', 'show host --stack "My stack" -- "web 1"'],
  [command, '%', 'show host --stack "My stack" -- TEXT-QUOTED-FOR-YOUR-SHELL'],
  [timeText, 1_795_231_205_846, '2026-11-21 03:20:05 UTC'],
  [timeText, 8.64e15, '+275760-09-13 00:00 UTC'],
  [timeText, -8.64e15 - 1, 'not a time (-8640000000000001)'],
  [durationText, 999, 'less than a second'],
  [durationText, 1_499, '1 second'],
  [durationText, 1_500, '2 seconds'],
  [distance, -765, '03:04:04 UTC less than a second ago'],
  [distance, 59_999, '03:05:05 UTC in 1 minute'],
  [distance, -86_400_000, '2026-01-01 03:04:05 UTC 1 day ago'],
])('the text by %o of %j is %j', (print, value, text) => {
  expect(print(value as never)).toBe(text);
});

it('property: any text becomes one line without control characters, and the same JSON', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const shown of [printable(text), line`a ${text} b`])
        expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u);
      expect(JSON.parse(printableJson(JSON.stringify(text)))).toBe(text);
    }),
  );
});
