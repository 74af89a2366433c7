/** JSON whose integers stay exact: a number while that is exact, a bigint beyond 2^53. Works in any ES2022 engine. */
import { NUMBER_PATHS } from './types.ts';

/** Matches JSON that may contain an integer beyond 2^53. */
const MAYBE_LONG_INTEGER = /[:,[]\s*-?\d{16}/;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/** 32 hexadecimal digits that nobody can guess. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @throws SyntaxError */
export function parseJson(text: string): unknown {
  if (!MAYBE_LONG_INTEGER.test(text)) return JSON.parse(text);
  // JSON.parse would round: long integers are passed as strings with an unguessable prefix.
  const mark = randomId();
  const marked = text.replace(TOKEN, (token) =>
    LONG_INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

/** JSON.stringify, with bigints as integers. */
export function jsonText(value: object): string;
export function jsonText(value: unknown): string | undefined;
export function jsonText(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => jsonText(item) ?? 'null').join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([field, member]) => {
    const text = jsonText(member);
    return text === undefined ? [] : [`${JSON.stringify(field)}:${text}`];
  });
  return `{${members.join(',')}}`;
}

/** The path of the first number of a request that is an integer beyond 2^53, and so may have been rounded. */
export function roundedField(request: object): string | undefined {
  for (const [field, value] of Object.entries(request)) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) return field;
    const inner = typeof value === 'object' && value !== null ? roundedField(value) : undefined;
    if (inner !== undefined) return `${field}.${inner}`;
  }
  return undefined;
}

/** The path of the first bigint of an answer where the type has a number, such as `data.items[3].servicemap.node_count`. */
export function bigintField(value: unknown, path = 'data', names: readonly string[] = []): string | undefined {
  if (typeof value === 'bigint') return NUMBER_PATHS.has(JSON.stringify(names)) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = Array.isArray(value)
      ? bigintField(member, `${path}[${key}]`, names)
      : bigintField(member, `${path}.${key}`, [...names, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
