import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInt64, parseJson, stringifyJson, toInt64 } from '../../lib/json.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('JSON', () => {
  it('keeps every integer of the int64 range exact, in and out', () => {
    fc.assert(
      fc.property(int64, (value) => {
        const text = `{"id":${value},"list":[${value}]}`;
        expect(stringifyJson(parseJson(text))).toBe(text);
        const { id } = parseJson(text) as { id: unknown };
        expect(String(id)).toBe(String(value));
        expect(isInt64(id)).toBe(true);
      }),
    );
  });

  it.each(['9007199254740993', '-9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    'keeps %s exact',
    (digits) => {
      expect(parseJson(digits)).toBe(BigInt(digits));
      expect(stringifyJson(BigInt(digits))).toBe(digits);
      expect(toInt64(digits)).toBe(BigInt(digits));
    },
  );

  it('reads an integer as a number while a number is exact', () => {
    expect(parseJson('9007199254740991')).toBe(9007199254740991);
    expect(toInt64('-9007199254740991')).toBe(-9007199254740991);
    expect(toInt64('9007199254740992')).toBe(9007199254740992n);
  });

  it.each(['9223372036854775808', '-9223372036854775809', '1e400', '9007199254740993.5', `1${'0'.repeat(40)}`])(
    'does not take %s for an int64',
    (text) => expect(isInt64(parseJson(text))).toBe(false),
  );

  it('reads all else as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!/\d{16}|__proto__/.test(text));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('leaves out a member named __proto__, however it is written', () => {
    for (const name of ['__proto__', '\\u005f_proto__']) {
      const value = parseJson(`{"${name}":{"limit":1},"a":{"${name}":[1]}}`) as object;
      expect(Object.keys(value)).toEqual(['a']);
      expect(value).not.toHaveProperty('limit');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
  });

  it.each(['', '{', '{"a":1,}', "{'a':1}", 'NaN', '01', '{"a":1}x', '\ufeff{}'])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
