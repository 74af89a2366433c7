import { describe, expect, it } from 'vitest';
import type { ApiEvent } from '../../lib/http/call.ts';
import { idempotencyKeyOf } from '../../lib/http/idempotency-key.ts';

const keyOf = (headers: object | null, multiValueHeaders: object | null = null) =>
  idempotencyKeyOf({ headers, multiValueHeaders } as ApiEvent);
const REFUSED = expect.objectContaining({
  code: 'InvalidParameter',
  explanation: { name: 'invalidIdempotencyKey', values: { other: undefined } },
});
const refused = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('it was taken');
};

describe('an Idempotency-Key', () => {
  it('is absent where no header has its name', () => {
    for (const headers of [null, {}, { 'Idempotency-Keys': 'x', 'X-Idempotency-Key': 'x' }])
      expect(keyOf(headers, headers)).toBeUndefined();
  });

  it.each(['x', ' ', '~', 'deploy 42, again', 'x'.repeat(255)])('may be %j', (key) => {
    expect(keyOf({ 'Idempotency-Key': key })).toBe(key);
    expect(keyOf({ 'idempotency-key': 'other' }, { 'IDEMPOTENCY-KEY': [key] })).toBe(key);
  });

  it.each([
    ['', undefined],
    ['x'.repeat(256), undefined],
    ['é', { position: 1, codePoint: 'U+00E9' }],
    ['a\u007f', { position: 2, codePoint: 'U+007F' }],
    ['a b\tb\u0001', { position: 4, codePoint: 'U+0009' }],
    ['x\u{1f600}', { position: 2, codePoint: 'U+1F600' }],
  ])('may not be %j: the refusal names the first other character', (key, other) => {
    const explanation = { name: 'invalidIdempotencyKey', values: { other } };
    expect(refused(() => keyOf({ 'Idempotency-Key': key }))).toEqual(
      expect.objectContaining({ code: 'InvalidParameter', explanation }),
    );
  });

  it('is given once, whatever the letter case of its name', () => {
    for (const multiple of [{ 'Idempotency-Key': ['a', 'b'] }, { 'Idempotency-Key': ['a'], 'idempotency-key': ['a'] }])
      expect(refused(() => keyOf({ 'Idempotency-Key': 'a' }, multiple))).toEqual(REFUSED);
    expect(refused(() => keyOf({ 'Idempotency-Key': 'a', 'idempotency-key': 'b' }))).toEqual(REFUSED);
  });

  it('with a name and no value counts as missing', () => {
    expect(keyOf({ 'Idempotency-Key': undefined })).toBeUndefined();
  });
});
