import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depthOf, positionOf, syntaxErrorAt } from '../../../lib/shared/json.ts';
import { anyText } from '../../support/chance.ts';

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

describe('the position of a syntax error', () => {
  it('is found for exactly the texts that JSON.parse refuses', () => {
    const near = fc.tuple(json, fc.nat(), fc.nat(3), anyText).map(([text, at, removed, added]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + added.slice(0, 2) + text.slice(index + removed);
    });
    const signs = fc.string({ unit: fc.constantFrom(...'{}[]:,"\\ \n01-.eEtrufalsn') });
    fc.assert(
      fc.property(fc.oneof(json, near, signs, anyText), (text) => (syntaxErrorAt(text) === undefined) === isJson(text)),
      { numRuns: 2_000 },
    );
  });

  it('is that of the wrong character, or the start of the token that contains it', () => {
    fc.assert(
      fc.property(json, fc.nat(), (text, at) => {
        const index = at % (text.length + 1);
        const found = syntaxErrorAt(`${text.slice(0, index)}\u0001${text.slice(index)}`) ?? Number.NaN;
        expect(found).toBeLessThanOrEqual(index);
        expect(text.slice(found, index)).toMatch(/^(\\u?[\da-f]*|[-+.eE\d]*|[a-z]*)$/);
      }),
    );
  });

  it('has a line and a column that count code points', () => {
    expect(positionOf('{"\u{1f600}":\n  x', 9)).toEqual({ line: 2, column: 3 });
    expect(positionOf('', 0)).toEqual({ line: 1, column: 1 });
  });
});

it('the depth of JSON counts its objects and arrays, not those in strings', () => {
  const depth = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
  fc.assert(fc.property(fc.json(), (text) => depthOf(text) === depth(JSON.parse(text))));
  expect(depthOf('{"[\\"[":["]"]}')).toBe(2);
});
