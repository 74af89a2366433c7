import { hash } from 'node:crypto';
import { stringifyJson } from '../shared/json.ts';

/** An order ends in 12 digits of a hash. So which of two records of the same millisecond counts as later does not depend on their arrival. */
const HASH_RANGE = 10n ** 12n;

/** The order of a record among those of its row: by time, then by content. It has at most 25 digits; DynamoDB stores 38. */
export const orderOf = (atMs: number, content: object): bigint =>
  BigInt(atMs) * HASH_RANGE + (BigInt(`0x${hash('sha256', canonical(content), 'hex').slice(0, 16)}`) % HASH_RANGE);

/** The time of the record that has this order, in Unix milliseconds. */
export const timeOf = (order: number | bigint): number => Number(BigInt(order) / HASH_RANGE);

/** The same text for the same content, whatever the order of its fields. */
const canonical = (content: object): string => stringifyJson(sorted(content));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]);
}
