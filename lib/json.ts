/**
 * JSON whose integers stay exact over the whole int64 range. `JSON.parse` alone rounds beyond 2^53; the source text of
 * each number, which newer engines hand to the reviver, tells what the caller wrote.
 */

/** An integer of the int64 range: a number while that is exact, a bigint beyond. */
export type Int64 = number | bigint;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INTEGER = /^-?\d{1,20}$/;

/** The exact value of a decimal integer, as DynamoDB and JSON write it. */
export function toInt64(digits: string): Int64 {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
}

/** Whether `value` is an integer of the int64 range that was read without rounding. */
export function isInt64(value: unknown): value is Int64 {
  return typeof value === 'bigint' ? value >= INT64_MIN && value <= INT64_MAX : Number.isSafeInteger(value);
}

// The reviver's third argument and JSON.rawJSON are newer than the type library this project compiles against.
type SourceReviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown;
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * Parses JSON; an integer beyond 2^53 becomes a bigint, a member named `__proto__` is left out.
 * @throws SyntaxError whose message quotes the text: never log or show it.
 */
export function parseJson(text: string): unknown {
  return parseWithSource(text, (key, value, { source }) => {
    if (key === '__proto__') return undefined;
    const rounded = typeof value === 'number' && !Number.isSafeInteger(value);
    return rounded && source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
  });
}

/** The JSON text of `value`; a bigint is written as the integer that it is. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}
