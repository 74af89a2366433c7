import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { itemBytes } from '../../limits-proxy/item-size.ts';

const bytes = (size: number) => new Uint8Array(size);

// DynamoDB Developer Guide, "DynamoDB item sizes and formats".
it.each<[size: number, AttributeValue]>([
  [7, { S: 'aé😀' }],
  // A byte for two significant digits, and one more.
  ...[
    [3, '123'],
    [1, '0'],
    [3, '-12.34'],
    [2, '0012'],
    [2, '1200'],
    [4, '10203'],
    [2, '1.5E+20'],
  ].map(([size, N]): [number, AttributeValue] => [Number(size), { N: String(N) }]),
  [1, { BOOL: false }],
  [1, { NULL: true }],
  [5, { B: bytes(5) }],
  [5, { B: 'AAECAwQ=' as unknown as Uint8Array }],
  [3, { SS: ['a', 'é'] }],
  [5, { NS: ['1', '123'] }],
  [3, { BS: [bytes(1), bytes(2)] }],
  [3 + 3 + 3, { L: [{ S: 'ab' }, { N: '1' }] }],
  [3 + 4 + 5, { M: { ab: { S: 'c' }, d: { L: [] } } }],
])('the size, without the name, is %d bytes for %j', (size, value) => {
  expect(itemBytes({ é: value, n: { N: '10' } })).toBe(2 + size + 1 + 2);
});
