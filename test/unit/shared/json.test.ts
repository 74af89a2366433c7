/** JSON with exact integers, compared with `JSON.parse` and with exact arithmetic on the text of numbers. */
import httpJsonBodyParser from '@middy/http-json-body-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exceededBound,
  isInt64,
  isPlainJson,
  mayHaveRoundedNumber,
  parseJson,
  positionOf,
  stringifyJson,
  syntaxErrorAt,
} from '../../../lib/shared/json.ts';
import { anyText } from '../../support/chance.ts';
import { numbers } from './numbers.ts';

describe('JSON', () => {
  it('is read as JSON.parse does, but for its numbers', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/\d{16}|__proto__/.test(text));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('has no member named __proto__, however it is written', () => {
    for (const name of ['__proto__', '\\u005f_proto__']) {
      const value = parseJson(`{"${name}":{"limit":1},"a":{"${name}":[1]},"__proto":1}`) as object;
      expect([Object.keys(value), value]).toEqual([['a', '__proto'], { a: {}, __proto: 1 }]);
      expect(value).not.toHaveProperty('limit');
    }
  });

  it.each(['', '{"a":1,}', 'NaN', '\ufeff{}'])('is not %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('plain JSON', () => {
  type Parser = (text: string) => unknown;
  const middyParser = httpJsonBodyParser({ disableContentTypeCheck: true }).before as unknown as (request: {
    event: { body: unknown };
  }) => void;
  const byMiddy: Parser = (text) => {
    const event = { body: text as unknown };
    middyParser({ event });
    return event.body;
  };
  // With a fraction it is not plain.
  const exactly: Parser = (text) => (parseJson(`[1.5,${text}]`) as unknown[])[1];
  const outcomeOf = (parse: Parser, text: string) => {
    try {
      return { value: parse(text) };
    } catch {
      return 'not JSON';
    }
  };

  const written = fc
    .constantFrom('__proto__', 'constructor', 'prototype', 'name', '-0', ':-0', '1e3')
    .chain((text) => fc.tuple(...Array.from(text, escapedOrNot)).map((characters) => `"${characters.join('')}"`));
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('0', '-0', ' -0', '-0.0', '-1', '1', 'true', 'null', '-', '01', '{"prototype":0}'),
      numbers,
      written,
      anyText.map((text) => JSON.stringify(text)),
      fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
      fc
        .array(fc.tuple(fc.oneof(written, fc.constantFrom('"a"', '"b" ')), tie('value')), { maxLength: 3 })
        .map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
    ),
  }));
  const space = fc.constantFrom('', ' ', '\n\t', '\ufeff');

  it('is read by JSON.parse alone as by the exact parser and by that of middy', () => {
    let plain = 0;
    fc.assert(
      fc.property(space, value, (before, json) => {
        const text = `${before}${json}`;
        if (!isPlainJson(text)) return;
        plain += 1;
        for (const parse of [exactly, byMiddy])
          expect(outcomeOf(JSON.parse, text)).toStrictEqual(outcomeOf(parse, text));
      }),
      { numRuns: 3_000 },
    );
    expect(plain).toBeGreaterThan(300);
  });

  it('is what callers send, also with text that Python escapes', () => {
    const text = JSON.stringify({ text: 'a, -1 [0]', at_ms: 1_795_231_205_846, list: [0, -10, { a: null }] });
    for (const body of [text, '[]', ' {"title":"Gr\\u00fc\\u00dfe"}']) expect(isPlainJson(body)).toBe(true);
    for (const body of ['', '1', '"a"', '{"a":1.5}', '{"a" :1.5}', '{"\\u005f_proto__":1}'])
      expect(isPlainJson(body)).toBe(false);
  });

  it('is written as with a replacer for bigints', () => {
    const withReplacer = (value: unknown) =>
      JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? `bigint ${member}` : member)).replaceAll(
        /"bigint (-?\d+)"/g,
        '$1',
      );
    fc.assert(
      fc.property(fc.anything({ withBigInt: true }), (value) => {
        expect(stringifyJson({ value })).toBe(withReplacer({ value }));
      }),
    );
  });
});

const escapedOrNot = (character: string) =>
  fc.constantFrom(character, character, `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

it('the int64 range has these bounds', () => {
  for (const value of [-(2n ** 63n), 2n ** 63n - 1n, 0, -0, 2 ** 53 - 1]) expect(isInt64(value)).toBe(true);
  for (const value of [-(2n ** 63n) - 1n, 2n ** 63n, 2 ** 53, 0.5, Number.NaN, '1', null, undefined, true])
    expect(isInt64(value)).toBe(false);
});

describe('a number', () => {
  it.each<[string, unknown]>([
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', 9_007_199_254_740_992n],
    ['0.000009007199254740993e21', 9_007_199_254_740_993n],
    ['4503599627370497.5', Number.NaN],
    ['1e-400', Number.NaN],
    ['123456789012345678901', 123_456_789_012_345_680_000],
    [`1.${'0'.repeat(250_000)}`, 1],
    [`0.${'0'.repeat(250_000)}1`, Number.NaN],
  ])('%s is read as %s', (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  it('that JSON.parse may round is found wherever it is, and not in strings', () => {
    fc.assert(
      fc.property(fc.json(), numbers, fc.constantFrom('', ' ', '\n\t'), (json, number, space) => {
        const isPlain = /^-?\d{1,15}$/.test(number);
        for (const text of [`{"s\\"":${json},"x":${space}${number}}`, `[${space}${number},${json}]`])
          expect(mayHaveRoundedNumber(text) || isPlain).toBe(true);
        const inString = JSON.stringify(`:${number},[${number}`);
        expect(mayHaveRoundedNumber(`{"x":${inString},"y":${isPlain ? number : 1},"id":"a"}`)).toBe(false);
      }),
    );
    expect(mayHaveRoundedNumber(`["${'\\"'.repeat(120_000)}",1.5]`)).toBe(true);
    expect(mayHaveRoundedNumber(`[",1.5${'\\"'.repeat(120_000)}`)).toBe(false); // nor in one that does not end
  });
});

describe('the position of a syntax error', () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const json = fc
    .tuple(fc.json(), fc.nat(2))
    .map(([text, indent]) => JSON.stringify(JSON.parse(text), undefined, indent));

  it('is found for exactly the texts that JSON.parse refuses', () => {
    const near = fc.tuple(json, fc.nat(), fc.nat(3), anyText).map(([text, at, removed, added]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + added.slice(0, 2) + text.slice(index + removed);
    });
    const signs = fc.string({ unit: fc.constantFrom(...'{}[]:,"\\ \n01-.eEtrufalsn') });
    fc.assert(
      fc.property(fc.oneof(json, near, signs, anyText), (text) => {
        expect(syntaxErrorAt(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has a line and a column that count code points', () => {
    expect(positionOf('{"\u{1f600}":\n  x', 9)).toEqual({ line: 2, column: 3 });
    expect(positionOf('"\u{1f600}"', 4)).toEqual({ line: 1, column: 4 });
  });
});

describe('the bounds of JSON', () => {
  const membersOf = (value: unknown) => (typeof value === 'object' && value !== null ? Object.values(value) : []);
  const levelsOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...membersOf(value).map(levelsOf)) : 0;
  const valuesOf = (value: unknown): number => membersOf(value).reduce((sum, member) => sum + valuesOf(member), 1);

  it('are its levels and values, whatever its texts say and however it is laid out', () => {
    const json = fc.tuple(fc.jsonValue(), fc.constantFrom(undefined, ' ', '\t'));
    fc.assert(
      fc.property(json, ([value, space]) => {
        const text = JSON.stringify(value, undefined, space);
        const [levels, values] = [levelsOf(value), valuesOf(value)];
        expect(exceededBound(text, { levels, values })).toBeUndefined();
        if (levels > 0) expect(exceededBound(text, { levels: levels - 1 })).toBe('levels');
        expect(exceededBound(text, { levels, values: values - 1 })).toBe('values');
      }),
      { numRuns: 1_000 },
    );
    const tricky = '{"[\\"[,":["],[",{ },[ ]]}';
    expect(exceededBound(tricky, { levels: 3, values: 5 })).toBeUndefined();
    expect(exceededBound(tricky, { levels: 3, values: 4 })).toBe('values');
  });
});
