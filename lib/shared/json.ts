/**
 * JSON whose integers stay exact over the whole int64 range. `JSON.parse` alone rounds beyond 2^53, but newer engines pass the exact
 * source text of each number to the reviver.
 */

/** An integer of the int64 range: a number while that is exact, below 2^53, and a bigint beyond. */
export type Int64 = number | bigint;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** The exact value of a decimal integer, as DynamoDB and JSON write it. */
export function toInt64(digits: string): Int64 {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
}

/** Whether `value` is an integer in the int64 range that was read without rounding. */
export function isInt64(value: unknown): value is Int64 {
  return typeof value === 'bigint' ? value >= INT64_MIN && value <= INT64_MAX : Number.isSafeInteger(value);
}

// TypeScript's library lacks the reviver's third argument and JSON.rawJSON.
type SourceReviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown;
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** An integer with more digits may be rounded. An int64 has at most 19. */
const MAX_DIGITS = 20;
const NUMBER = /(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/;

/** The exact value of the integer in a JSON text; `fraction` if it is no integer, `large` if it has over {@link MAX_DIGITS} digits. */
function exactValue(source: string): bigint | 'fraction' | 'large' {
  const [, sign = '', whole = '', fraction = '', exponent = ''] = NUMBER.exec(source) ?? [];
  const digits = whole + fraction;
  let [first, end] = [0, digits.length];
  while (digits[first] === '0') first += 1;
  while (end > first && digits[end - 1] === '0') end -= 1;
  if (first === end) return 0n;
  const trailingZeros = Number(exponent) - fraction.length + digits.length - end;
  if (trailingZeros < 0) return 'fraction';
  if (end - first + trailingZeros > MAX_DIGITS) return 'large';
  return BigInt(`${sign}${digits.slice(first, end)}${'0'.repeat(trailingZeros)}`);
}

/** Corrects a number that `JSON.parse` may have rounded, by its source text. */
function exactNumber(value: number, source: string): number | bigint {
  if (Number.isSafeInteger(value) && String(value) === source) return value;
  const exact = exactValue(source);
  if (exact === 'large') return value;
  if (exact === 'fraction') return Number.isInteger(value) ? Number.NaN : value;
  return toInt64(String(exact));
}

/**
 * Parses JSON. An integer of up to 20 digits, in any notation, is read exactly: as a number or, beyond 2^53, as a bigint. A fraction that a
 * double would round to an integer becomes NaN, so that nobody takes it for an integer. A member named `__proto__` is dropped.
 * @param onDropped called for each member that is dropped
 * @throws SyntaxError whose message quotes the text: never log or show it.
 */
export function parseJson(text: string, onDropped?: () => void): unknown {
  return parseWithSource(text, (key, value, { source }) => {
    if (key === '__proto__') return onDropped?.();
    return typeof value === 'number' && source !== undefined ? exactNumber(value, source) : value;
  });
}

/** A number that `JSON.parse` alone may round: 16 digits, a fraction or an exponent. In JSON it follows one of `:,[`. */
const ROUNDED = /[:,[]\s*-?(?:\d{16}|\d+[.eE])/;

/** Whether JSON holds a number, outside of its strings, that `JSON.parse` alone may round. Takes linear time. */
export function mayHaveRoundedNumber(text: string): boolean {
  if (!ROUNDED.test(text)) return false;
  for (let index = 0; index < text.length; ) {
    const quote = text.indexOf('"', index);
    const end = quote < 0 ? text.length : quote;
    if (ROUNDED.test(text.slice(index, end))) return true;
    index = quote < 0 ? end : endOfString(text, quote + 1);
  }
  return false;
}

/** The index after the quote that ends the string whose text begins at `from`. */
export function endOfString(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') return index + 1;
    if (character === '\\') index += 1;
  }
  return text.length;
}

/** The JSON text of `value`; a bigint is written as the integer that it is. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}
