import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { itemBytes, MAX_ITEM_BYTES } from '../../limits-proxy/item-size.ts';

const bytes = (...sizes: number[]) => new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));

// DynamoDB Developer Guide, "DynamoDB item sizes and formats".
it.each<[string, AttributeValue, number]>([
  ['a string: the bytes of its UTF-8', { S: 'aé😀' }, 7],
  ['a number: a byte for two significant digits, and one more', { N: '123' }, 3],
  ['zero', { N: '0' }, 1],
  ['a negative number with a point', { N: '-12.34' }, 3],
  ['a number with zeros before it', { N: '0012' }, 2],
  ['a number with zeros after it', { N: '1200' }, 2],
  ['a number with zeros in it', { N: '10203' }, 4],
  ['a number with an exponent', { N: '1.5E+20' }, 2],
  ['true', { BOOL: true }, 1],
  ['false', { BOOL: false }, 1],
  ['null', { NULL: true }, 1],
  ['bytes', { B: bytes(5) }, 5],
  ['bytes as base64', { B: 'AAECAwQ=' as unknown as Uint8Array }, 5],
  ['a set of strings', { SS: ['a', 'é'] }, 3],
  ['a set of numbers', { NS: ['1', '123'] }, 5],
  ['a set of bytes', { BS: [bytes(1), bytes(2)] }, 3],
  ['a list: three bytes, and one more for each element', { L: [{ S: 'ab' }, { N: '1' }] }, 3 + 3 + 3],
  ['a map: three bytes, its names, and one more for each member', { M: { ab: { S: 'c' }, d: { L: [] } } }, 3 + 4 + 5],
  ['what the service does not know', { $unknown: ['X', 1] } as unknown as AttributeValue, 0],
])('size of %s', (_what, value, size) => {
  expect(itemBytes({ é: value })).toBe(2 + size);
});

it('a row takes the bytes of its names and values, at most 400 KB', () => {
  expect(itemBytes({})).toBe(0);
  expect(itemBytes({ pk: { S: 'p' }, sk: { S: 'k' }, n: { N: '10' } })).toBe(3 + 3 + 3);
  expect(MAX_ITEM_BYTES).toBe(409_600);
});
