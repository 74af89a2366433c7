import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../../../test/support/chance.ts';
import {
  commandText,
  countText,
  line,
  printable,
  printableJson,
  printableLines,
  timeText,
} from '../../text/printable.ts';

describe('text on a terminal', () => {
  it.each([
    ['plain text, é, 中文, עברית, हिन्दी, 😀, 👍🏽', 'plain text, é, 中文, עברית, हिन्दी, 😀, 👍🏽'],
    ['a\nb\rc\td', 'a\\nb\\rc\\td'],
    ['\u001b[2J\u0007\u009b', '\\u001b[2J\\u0007\\u009b'],
    ['\u202e\u2028\u2029\ufeff', '\\u202e\\u2028\\u2029\\ufeff'],
    ['half \ud83d', 'half \\ud83d'],
    ['a tag \u{e0041}', 'a tag \\udb40\\udc41'],
    ['joined \u200d and not \u200c', 'joined \u200d and not \u200c'],
  ])('%j is shown as %j', (text, shown) => expect(printable(text)).toBe(shown));

  it('can have lines and colours of our own, and nothing else that a terminal executes', () => {
    expect(printableLines('a\n\u001b[1;31mred\u001b[39m\u001b[2J\r\u009b\u202e')).toBe(
      'a\n\u001b[1;31mred\u001b[39m\\u001b[2J\\u000d\\u009b\\u202e',
    );
  });

  it('keeps its meaning in JSON', () => {
    const json = JSON.stringify({ text: 'a\nb\u202e' });
    expect(printableJson(json)).toBe('{"text":"a\\nb\\u202e"}');
    expect(JSON.parse(printableJson(json))).toEqual({ text: 'a\nb\u202e' });
    expect(printableJson('"\t"')).toBe('"\\u0009"');
  });

  it('is escaped in the values of a template, not in the template itself', () => {
    expect(line`${'a\n'}:\n${1}${undefined}!`).toBe('a\\n:\n1undefined!');
    expect(line`nothing`).toBe('nothing');
  });

  it('property: is one line without control characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const shown of [printable(text), line`a ${text} b`])
          expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(JSON.parse(printableJson(JSON.stringify(text)))).toBe(text);
      }),
    );
  });
});

it.each([
  [0, '0 alerts'],
  [1, '1 alert'],
  [2_000, '2,000 alerts'],
])('the text of %i alerts is %s', (count, text) => {
  expect(countText(count, 'alert')).toBe(text);
});

describe('a command to paste', () => {
  it('has a placeholder for a value that a shell could read as more than a word', () => {
    expect(commandText('show host --account 1', 'a-b_1@%+=:,./')).toBe('show host --account 1 -- a-b_1@%+=:,./');
    for (const id of ['', ' a', 'a b', "a\\'; touch x; #", 'é', '$(x)', 'a&b', 'a\nb', '"', '`x`', '~', '*', '{a,b}'])
      expect(commandText('show host', id)).toBe('show host -- TEXT-QUOTED-FOR-YOUR-SHELL');
  });

  it('property: consists of characters that no shell interprets', () => {
    fc.assert(
      fc.property(anyText, anyText, (words, stored) => {
        expect(commandText(words, stored)).toMatch(/^[A-Za-z0-9_@%+=:,./ -]+$/);
      }),
    );
  });
});

it.each([
  [1_795_231_205_846, '2026-11-21 03:20:05 UTC'],
  [8.64e15, '+275760-09-13 00:00 UTC'],
  [8.64e15 + 1, 'not a time (8640000000000001)'],
  [-8.64e15 - 1, 'not a time (-8640000000000001)'],
])('the time %d is shown as %s', (milliseconds, text) => {
  expect(timeText(milliseconds)).toBe(text);
});
