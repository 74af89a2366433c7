import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInt64, mayHaveRoundedNumber, parseJson, toInt64 } from '../../../lib/shared/json.ts';

describe('JSON', () => {
  it('reads an integer as a number up to 2^53, and as a bigint beyond', () => {
    expect(parseJson('9007199254740991')).toBe(9007199254740991);
    expect(toInt64('-9007199254740991')).toBe(-9007199254740991);
    expect(toInt64('9007199254740992')).toBe(9007199254740992n);
  });

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

  it.each(['', '{"a":1,}', 'NaN', '\ufeff{}'])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

it('the int64 range has these bounds', () => {
  for (const value of [-(2n ** 63n), 2n ** 63n - 1n, 0, -0, 2 ** 53 - 1]) expect(isInt64(value)).toBe(true);
  for (const value of [-(2n ** 63n) - 1n, 2n ** 63n, 2 ** 53, 0.5, Number.NaN, '1', null, undefined, true])
    expect(isInt64(value)).toBe(false);
});

describe('a number', () => {
  it.each<[string, unknown]>([
    ['1e3', 1_000],
    ['1.50e1', 15],
    ['1000e-3', 1],
    ['0.0e-5', 0],
    ['0.000009007199254740993e21', 9_007_199_254_740_993n],
    ['9007199254740992', 9_007_199_254_740_992n],
    ['4503599627370497.5', Number.NaN],
    ['9007199254740993.0', 9_007_199_254_740_993n],
    ['-92233720368547758.08e2', -(2n ** 63n)],
    ['12345678901234567890', 12_345_678_901_234_567_890n],
    ['123456789012345678901', Number('123456789012345678901')],
    ['1e19', 10_000_000_000_000_000_000n],
    ['-0.5e-3', -0.0005],
    ['1e-400', Number.NaN],
  ])('%s is read as %s', (text, value) => {
    expect(parseJson(text)).toBe(value);
    expect(parseJson(`[ ${text} ]`)).toEqual([value]);
  });

  it('in a string is not read as a number, and a member named __proto is kept', () => {
    expect(parseJson('{"a":"9007199254740993","__proto":1}')).toEqual({ a: '9007199254740993', __proto: 1 });
  });
});

it.each([
  ...['[12.5]', '{"a": 1E3}', '[0,-1.5]', '[1234567890123456]', '[ -1234567890123456]', '{"a\\"":1.5}'],
  ...['{"a":"\\\\","b":1.5}', '["x",1.5]', '"":1.5', '{"a":1.5,"b'],
])('JSON.parse may round a number in %s', (text) => expect(mayHaveRoundedNumber(text)).toBe(true));
