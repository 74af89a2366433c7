import { hash } from 'node:crypto';
import { stringifyJson } from '../shared/json.ts';

/** Digits of a hash, so that two records of one millisecond have the same order wherever they arrive first. */
const TIE = 10n ** 12n;

/** The place of a record among those of its row: by its time, then by its content. A number of DynamoDB, of 25 digits at most. */
export const orderOf = (atMs: number, content: object): bigint =>
  BigInt(atMs) * TIE + (BigInt(`0x${hash('sha256', canonical(content), 'hex').slice(0, 16)}`) % TIE);

/** The time of a record, by its order. */
export const timeOf = (order: number | bigint): number => Number(BigInt(order) / TIE);

/** The same text for the same content, whatever the order of its fields. */
const canonical = (content: object): string => stringifyJson(sorted(content));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]);
}
