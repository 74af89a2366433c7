/** Source: DynamoDB Developer Guide, "DynamoDB item sizes and formats". */

/** The bytes of a row by which DynamoDB counts units: its names and values. A number counts a byte more than it takes at most. */
export const rowBytes = (row: object): number =>
  sum(Object.entries(row), ([name, value]) => Buffer.byteLength(name) + valueBytes(value));

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  // One byte for two digits, and one more.
  if (typeof value === 'number' || typeof value === 'bigint') return Math.ceil(String(value).length / 2) + 1;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Set) return sum(value, valueBytes);
  // Lists and maps take three bytes, and one more for each member.
  if (Array.isArray(value)) return 3 + sum(value, (element) => valueBytes(element) + 1);
  if (typeof value === 'object' && value !== null) return 3 + Object.keys(value).length + rowBytes(value);
  return 1;
}

const sum = <Value>(values: Iterable<Value>, bytesOf: (value: Value) => number): number =>
  [...values].reduce((bytes, value) => bytes + bytesOf(value), 0);
