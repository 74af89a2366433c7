import { expect, it } from 'vitest';
import type { ApiEvent } from '../../../lib/http/operation.ts';
import { idempotencyKeyOf } from '../../../lib/http/parameters.ts';

const keyOf = (headers: object | null, multiValueHeaders: object | null = null) =>
  idempotencyKeyOf({ headers, multiValueHeaders } as ApiEvent);

it.each([' ', '~', 'deploy 42, again', 'x'.repeat(255)])('an Idempotency-Key may be %j', (key) => {
  expect(keyOf({ 'Idempotency-Key': key })).toBe(key);
  expect(keyOf({ 'idempotency-key': 'other' }, { 'IDEMPOTENCY-KEY': [key] })).toBe(key);
});

it.each<[headers: object, multiValueHeaders?: object | null, invalid?: object]>([
  [{ 'Idempotency-Key': '' }],
  [{ 'Idempotency-Key': 'x'.repeat(256) }],
  [{ 'Idempotency-Key': 'a b\tb\u0001' }, null, { position: 4, codePoint: 'U+0009' }],
  [{ 'Idempotency-Key': 'x\u{1f600}' }, null, { position: 2, codePoint: 'U+1F600' }],
  [{}, { 'Idempotency-Key': ['a', 'b'] }],
  [{}, { 'Idempotency-Key': ['a'], 'idempotency-key': ['a'] }],
])(
  'an Idempotency-Key of the headers %j, %j is refused, with its first wrong character',
  (headers, multiple, invalid) =>
    expect(() => keyOf(headers, multiple)).toThrow(
      expect.objectContaining({ explanation: { name: 'invalidIdempotencyKey', values: { invalid } } }),
    ),
);
