import { describe, expect, it } from 'vitest';
import { idempotencyKeyOf } from '../../../lib/http/call.ts';
import type { ApiEvent } from '../../../lib/http/operation.ts';

const keyOf = (headers: object | null, multiValueHeaders: object | null = null) =>
  idempotencyKeyOf({ headers, multiValueHeaders } as ApiEvent);
/** Expects that reading the key is refused. @param invalid its first character that is not printable ASCII */
const expectRefused = (readKey: () => unknown, invalid?: object) =>
  expect(readKey).toThrow(
    expect.objectContaining({
      code: 'InvalidParameter',
      explanation: { name: 'invalidIdempotencyKey', values: { invalid } },
    }),
  );

describe('an Idempotency-Key', () => {
  it('is absent where no header has its name and a value', () => {
    for (const headers of [
      null,
      { 'Idempotency-Keys': 'x', 'X-Idempotency-Key': 'x' },
      { 'Idempotency-Key': undefined },
    ])
      expect(keyOf(headers)).toBeUndefined();
  });

  it.each(['x', ' ', '~', 'deploy 42, again', 'x'.repeat(255)])('may be %j', (key) => {
    expect(keyOf({ 'Idempotency-Key': key })).toBe(key);
    expect(keyOf({ 'idempotency-key': 'other' }, { 'IDEMPOTENCY-KEY': [key] })).toBe(key);
  });

  it.each([
    ['', undefined],
    ['x'.repeat(256), undefined],
    ['é', { position: 1, codePoint: 'U+00E9' }],
    ['a b\tb\u0001', { position: 4, codePoint: 'U+0009' }],
    ['x\u{1f600}', { position: 2, codePoint: 'U+1F600' }],
  ])('may not be %j: the refusal names the first wrong character', (key, invalid) => {
    expectRefused(() => keyOf({ 'Idempotency-Key': key }), invalid);
  });

  it('is refused when given twice, in whatever letter case', () => {
    for (const multiple of [{ 'Idempotency-Key': ['a', 'b'] }, { 'Idempotency-Key': ['a'], 'idempotency-key': ['a'] }])
      expectRefused(() => keyOf({ 'Idempotency-Key': 'a' }, multiple));
    expectRefused(() => keyOf({ 'Idempotency-Key': 'a', 'idempotency-key': 'b' }));
  });
});
