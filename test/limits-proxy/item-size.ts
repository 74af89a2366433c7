/**
 * The size of a row as DynamoDB counts it for capacity and for its limit of 400 KB.
 * Source: DynamoDB Developer Guide, "DynamoDB item sizes and formats".
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Readonly<Record<string, AttributeValue>>;

/** DynamoDB Developer Guide, "Quotas in Amazon DynamoDB": attribute names and values together. */
export const MAX_ITEM_BYTES = 400 * 1024;

const sum = <Value>(values: Iterable<Value>, bytesOf: (value: Value) => number): number =>
  [...values].reduce((bytes, value) => bytes + bytesOf(value), 0);
const textBytes = (text: string) => Buffer.byteLength(text);
/** On the wire a binary value is base64. */
const binaryBytes = (value: Uint8Array | string) => Buffer.byteLength(value, 'base64');
/** One byte for every two significant digits, plus one. AWS documents this as approximate. */
const numberBytes = (text: string) =>
  Math.ceil(text.replace(/[eE].*|[-.]/g, '').replace(/^0+|0+$/g, '').length / 2) + 1;

/** Bytes of names and values. */
export const itemBytes = (item: Item): number =>
  sum(Object.entries(item), ([name, value]) => textBytes(name) + valueBytes(value));

function valueBytes({ S, N, BOOL, NULL, B, SS, NS, BS, L, M }: AttributeValue): number {
  if (S !== undefined) return textBytes(S);
  if (N !== undefined) return numberBytes(N);
  if (BOOL !== undefined || NULL !== undefined) return 1;
  if (B !== undefined) return binaryBytes(B);
  // Lists and maps take three bytes, and one more for each member.
  if (L) return 3 + sum(L, (element) => valueBytes(element) + 1);
  if (M) return 3 + Object.keys(M).length + itemBytes(M);
  return sum(SS ?? [], textBytes) + sum(NS ?? [], numberBytes) + sum(BS ?? [], binaryBytes);
}
