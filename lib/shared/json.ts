/**
 * JSON whose integers stay exact over the whole int64 range. `JSON.parse` alone rounds beyond 2^53, but newer engines pass the exact
 * source text of each number to the reviver.
 */
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';

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
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact;
}

/**
 * Parses JSON. An integer of up to 20 digits, in any notation, is read exactly: as a number or, beyond 2^53, as a bigint. A fraction that a
 * double would round to an integer becomes NaN, so that nobody takes it for an integer. A member named `__proto__` is dropped.
 * @param onDropped called for each member that is dropped
 * @throws SyntaxError whose message quotes the text: never log or show it.
 */
export function parseJson(text: string, onDropped?: () => void): unknown {
  if (isPlainJson(text)) return JSON.parse(text);
  return parseWithSource(text, (key, value, { source }) => {
    if (key === '__proto__') return onDropped?.();
    return typeof value === 'number' && source !== undefined ? exactNumber(value, source) : value;
  });
}

/**
 * A number that `JSON.parse` alone may round: 16 digits, a fraction or an exponent. In JSON it follows a name with its colon, or one of `,[`. A
 * colon alone would find most times of day, such as `08:30:00.125`.
 */
const ROUNDED = /(?:"\s*:|[,[])\s*-?(?:\d{16}|\d+[.eE])/;

/** A string, or one that does not end. Without alternatives in its loop, so that long ones need little memory. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"?/gs;

/** Whether JSON holds a number, outside of its strings, that `JSON.parse` alone may round. Takes linear time. */
export const mayHaveRoundedNumber = (text: string): boolean =>
  ROUNDED.test(text) && ROUNDED.test(text.replace(STRINGS, '"'));

/** Names that parsers treat specially, which may be written with escapes; and a negative zero, which the exact parser reads as zero. */
const SPECIAL = /__proto__|constructor|\\u00[5-7]|[:,[]\s*-0/;

/** Whether `JSON.parse` alone reads an object or array as the exact parser and middy's do, which call a function for each value. */
export const isPlainJson = (text: string) =>
  /^\s*[{[]/.test(text) && !SPECIAL.test(text) && !mayHaveRoundedNumber(text);

/** The members of an object of JSON. */
export type Members = Readonly<Partial<Record<string, unknown>>>;

/** Whether a value of JSON is an object, and no array. */
export const isJsonObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// What walks JSON compares numbers: several times as fast as texts of one character.

/** Characters of JSON as UTF-16 code units. */
export const UNITS = {
  space: 32,
  quote: 34,
  comma: 44,
  bracket: 91,
  backslash: 92,
  endOfBracket: 93,
  brace: 123,
  endOfBrace: 125,
};
export const isOpening = (unit: number) => unit === UNITS.brace || unit === UNITS.bracket;
export const isClosing = (unit: number) => unit === UNITS.endOfBrace || unit === UNITS.endOfBracket;

/** The index after the quote that ends the string whose text begins at `from`. */
export function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === UNITS.backslash) first -= 1;
    if ((quote - first) % 2 === 0) return quote + 1; // an even number of backslashes escapes no quote
  }
  return text.length;
}

/** The JSON text of `value`; a bigint is written as the integer that it is. */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value); // several times as fast as with a replacer
  } catch {
    // There is a bigint.
  }
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}

/** The length of a text as JSON Schema and the contract count it: a surrogate pair is one character. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index += 1)
    if (isLow(text.charCodeAt(index)) && isHigh(text.charCodeAt(index - 1))) count -= 1;
  return count;
}
const isHigh = (unit: number) => (unit & 0xfc00) === 0xd800;
const isLow = (unit: number) => (unit & 0xfc00) === 0xdc00;

// Where the first syntax error of a JSON text is, and how deep the text is nested.

const WHITESPACE = /[ \t\n\r]*/y;
/** A string without its closing quote. The match ends before that quote, or before the first character that is invalid in a string. */
const STRING = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/**
 * The index of the first syntax error; undefined for valid JSON. It is the index of the wrong character, or of the start of the word, number
 * or escape that contains it. `JSON.parse` reports an index only for some errors.
 */
export function syntaxErrorAt(text: string): number | undefined {
  /** The closing brackets that the open objects and arrays need. */
  const closing: string[] = [];
  let at = 0;
  function take(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  }
  function takeMark(mark: string): boolean {
    if (text[at] !== mark) return false;
    at += 1;
    return take(WHITESPACE);
  }
  const takeString = () => take(STRING) && takeMark('"');
  const takeName = () => takeString() && takeMark(':');

  take(WHITESPACE);
  for (;;) {
    if (takeMark('{')) {
      closing.push('}');
      if (text[at] !== '}') {
        if (!takeName()) return at;
        continue;
      }
    } else if (takeMark('[')) {
      closing.push(']');
      if (text[at] !== ']') continue;
    } else if (!takeString() && !(take(SCALAR) && take(WHITESPACE))) return at;
    // A value has ended: takes the brackets that close the objects and arrays around it.
    while (closing.length > 0 && takeMark(closing.at(-1) as string)) closing.pop();
    const nextClosing = closing.at(-1);
    if (nextClosing === undefined) return at < text.length ? at : undefined;
    if (!takeMark(',') || (nextClosing === '}' && !takeName())) return at;
  }
}

/** Line and column of an index, in code points and from 1. */
export function positionOf(text: string, index: number): { line: number; column: number } {
  const lines = text.slice(0, index).split('\n');
  return { line: lines.length, column: codePoints(lines.at(-1) ?? '') + 1 };
}

/** Bounds of a JSON text. A value is an object, an array, a text, a number, a boolean or null. */
interface JsonBounds {
  /** Maximum nesting of objects and arrays. */
  readonly levels: number;
  /** Maximum number of values at all levels. */
  readonly values?: number;
}

/**
 * The bound that a JSON text exceeds, found in linear time without parsing it; undefined if there is none.
 * @param json several texts have their values together
 */
export function exceededBound(
  json: string | readonly string[],
  { levels, values = Number.POSITIVE_INFINITY }: JsonBounds,
): keyof JsonBounds | undefined {
  let count = 0;
  for (const text of [json].flat()) {
    let depth = 0;
    count += 1;
    let isFirst = false; // the last character, but for blanks, was an opening bracket
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (isOpening(unit)) {
        if (++depth > levels) return 'levels';
        count += 1; // what follows it, unless the next is its closing bracket
        isFirst = true;
        continue;
      }
      if (unit === UNITS.quote) index = endOfString(text, index + 1) - 1;
      else if (isClosing(unit)) {
        depth -= 1;
        if (isFirst) count -= 1;
      } else if (unit === UNITS.comma && ++count > values) return 'values';
      if (unit > UNITS.space) isFirst = false;
    }
  }
  return count > values ? 'values' : undefined;
}

// Types of schemas, and parts that several schemas share.

type Int64Pattern = { pattern: { type: 'integer'; format: 'int64' }; output: Int64 };
export type TypeOf<Schema extends JSONSchema> = FromSchema<Schema, { deserialize: [Int64Pattern] }>;

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const natural = { type: 'integer', format: 'int64', minimum: 0 } as const;
export const objectId = { type: 'string', format: 'objectid', pattern: '^[0-9a-fA-F]{24}$' } as const;
/** Stored in place of an incident's id where an alert is in none. */
export const NO_INCIDENT = '0'.repeat(24);
export const hostId = { type: 'string', minLength: 1, maxLength: 256 } as const;

// Fields of responses.
export const int64Field = (description: string) => ({ type: 'integer', format: 'int64', description }) as const;
export const textField = (description: string) => ({ ...text, description }) as const;
export const flagField = (description: string) => ({ ...flag, description }) as const;
export const textsField = (description: string) => ({ type: 'array', items: text, description }) as const;
