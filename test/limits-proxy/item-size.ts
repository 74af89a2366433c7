/**
 * The size of a row as DynamoDB counts it for capacity and for its limit of 400 KB.
 * Source: DynamoDB Developer Guide, "DynamoDB item sizes and formats".
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Readonly<Record<string, AttributeValue>>;

/** DynamoDB Developer Guide, "Quotas in Amazon DynamoDB": attribute names and values together. */
export const MAX_ITEM_BYTES = 400 * 1024;

const NESTED_BYTES = 3;
const ELEMENT_BYTES = 1;

const textBytes = (text: string) => Buffer.byteLength(text);

/** Bytes of names and values. */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const name in item) bytes += textBytes(name) + valueBytes(item[name] as AttributeValue);
  return bytes;
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return textBytes(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  if (value.B !== undefined) return binaryBytes(value.B);
  if (value.SS !== undefined) return sum(value.SS, textBytes);
  if (value.NS !== undefined) return sum(value.NS, numberBytes);
  if (value.BS !== undefined) return sum(value.BS, binaryBytes);
  if (value.L !== undefined) return NESTED_BYTES + sum(value.L, (element) => valueBytes(element) + ELEMENT_BYTES);
  if (value.M !== undefined) return NESTED_BYTES + itemBytes(value.M) + sum(Object.keys(value.M), () => ELEMENT_BYTES);
  return 0;
}

/** One byte for every two significant digits, plus one. AWS documents this as approximate. */
function numberBytes(text: string): number {
  const digits = text.replace(/[eE].*|[-.]/g, '').replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1;
}

/** On the wire a binary value is base64. */
const binaryBytes = (value: Uint8Array | string) => Buffer.byteLength(value, 'base64');

function sum<Value>(values: readonly Value[], bytesOf: (value: Value) => number): number {
  let bytes = 0;
  for (const value of values) bytes += bytesOf(value);
  return bytes;
}
