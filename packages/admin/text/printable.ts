/**
 * Texts for terminals and pages. Text of callers is escaped there: its control characters, escape sequences and line breaks
 * could forge output, bidirectional overrides could reorder it, and characters without ink could hide in it.
 */
import { escaped, shellWord, UNSAFE } from '../../client/src/terminal-text.ts';

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text in one line, each unsafe character as an escape of JSON: `\n`, `\u001b`. */
export const printable = (text: string) => text.replace(UNSAFE, (unsafe) => SHORT_ESCAPES[unsafe] ?? escaped(unsafe));

/** JSON text with the same meaning that is safe to print. @param json without line breaks */
export const printableJson = (json: string) => json.replace(UNSAFE, escaped);

/** Text of several lines, which keeps its line breaks and its colours, each of which is the escape sequence `ESC [ NUMBERS m`. */
export const printableLines = (text: string) =>
  text.replace(UNSAFE, (unsafe, at: number) =>
    unsafe === '\n' || (unsafe === '\u001b' && /^\[[\d;]*m/.test(text.slice(at + 1))) ? unsafe : escaped(unsafe),
  );

/** A template whose values are made {@link printable}. */
export const line = (strings: TemplateStringsArray, ...values: unknown[]): string =>
  strings.reduce((text, string, index) => `${text}${printable(String(values[index - 1]))}${string}`);

/** A count with its noun: `1 alert`, `2,000 alerts`. */
export const countText = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`;

/** What may follow the words of a command to paste. */
export interface CommandArguments {
  /** Options, each a word such as `--stack` or `--cluster=fra 1`. */
  readonly options?: readonly string[];
  /** Its last argument, such as a stored text. It follows `--`, so that it is never read as an option. */
  readonly last?: string | undefined;
}

/** A command to paste. @param words its own words, none of which has blanks */
export const commandText = (words: string, { options = [], last }: CommandArguments = {}) =>
  [...words.split(' '), ...options, ...(last === undefined ? [] : ['--', last])].map(shellWord).join(' ');

/** The last moment of JavaScript's dates, in Unix milliseconds. */
const LAST_DATE_MS = 8.64e15;

/** A time in UTC, to the second. */
export const timeText = (milliseconds: number) =>
  Math.abs(milliseconds) <= LAST_DATE_MS
    ? `${new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ')} UTC`
    : `not a time (${milliseconds})`;

/** Attributes of a row that only the service uses: its key, the orders of records, and when DynamoDB removes it. */
const INTERNAL = /^(pk|sk|ttl|.+_order)$/;

/** The attributes of a row that people see, with hexadecimal texts in place of bytes. */
export const shownFields = (row: object) =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => !INTERNAL.test(name))
      .map(([name, value]) => [name, withHexBytes(value)]),
  );

/** A value of a row with hexadecimal texts in place of its bytes. */
export function withHexBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(withHexBytes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withHexBytes(member)]));
}
