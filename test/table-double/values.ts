/** Attribute values as the document client gives and takes them, and how DynamoDB compares them. */
import { isSet, isUint8Array } from 'node:util/types';
import { toInt64 } from '../../lib/shared/json.ts';

export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | ReadonlySet<Value>
  | readonly Value[]
  | { readonly [name: string]: Value };
export type Item = { readonly [name: string]: Value };

export const isMap = (value: unknown): value is Item =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Set) &&
  !(value instanceof Uint8Array);

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';

/**
 * A deep copy, as the document client returns it: without undefined members, and integers as numbers if these are exact, otherwise as
 * bigints. The document client loses an attribute named `__proto__` in either direction; an update can still name one.
 */
export function normalize(value: unknown): Value {
  if (typeof value === 'bigint') return toInt64(String(value));
  if (typeof value === 'number') return Object.is(value, -0) ? 0 : value;
  if (typeof value !== 'object' || value === null) return value as Value;
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (value instanceof Set) return new Set([...value].map(normalize));
  if (Array.isArray(value)) return value.filter((member) => member !== undefined).map(normalize);
  const copy: Record<string, Value> = {};
  // The document client takes maps for objects.
  for (const [name, member] of value instanceof Map ? value : Object.entries(value))
    if (member !== undefined && name !== '__proto__') copy[name] = normalize(member);
  return copy;
}

/** DynamoDB's type of a value. Values of different types are neither equal nor ordered. */
export function typeOf(value: Value): string {
  if (typeof value === 'string') return 'S';
  if (isNumber(value)) return 'N';
  if (typeof value === 'boolean') return 'BOOL';
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return 'B';
  if (Array.isArray(value)) return 'L';
  if (!(value instanceof Set)) return 'M';
  const [first = ''] = value;
  return `${typeOf(first as Value)}S`;
}

/** Canonical text of a value: values have equal texts only if they have the same type and are equal. */
export function canonical(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (isNumber(value) || typeof value === 'boolean' || value === null || value === undefined) return String(value);
  // Not `instanceof`: the client makes the attribute `__proto__` of a row the prototype of the object.
  if (isUint8Array(value)) return `b${Buffer.from(value).toString('base64')}`;
  if (isSet(value)) return `s(${[...value].map(canonical).sort().join()})`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const fields = Object.entries(value as object).filter(([, member]) => member !== undefined);
  return `{${fields
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
    .sort()
    .join()}}`;
}

/** @returns a negative number, 0 or a positive one; undefined: the values have no order */
export function compare(a: Value, b: Value): number | undefined {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : Number(a > b);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  return undefined;
}

/** The sum of two numbers: integers beyond 2^53 stay exact. */
export function sum(a: number | bigint, b: number | bigint): number | bigint {
  const plain = Number(a) + Number(b);
  const isExact = typeof a === 'number' && typeof b === 'number' && Number.isSafeInteger(plain);
  if (isExact || !isInteger(a) || !isInteger(b)) return plain;
  return toInt64(String(BigInt(a) + BigInt(b)));
}

const isInteger = (value: number | bigint) => typeof value === 'bigint' || Number.isInteger(value);
