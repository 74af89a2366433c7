/**
 * Text of callers and of data on an operator's terminal: there a control character, an escape sequence or a line break in
 * it would forge output, and a bidirectional override would reorder it.
 */

// Control and format characters, line and paragraph separators, halves of surrogate pairs; but not the two joiners
// (U+200C, U+200D), which scripts and emoji need and which cannot deceive.
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escaped = (unsafe: string) =>
  Array.from(unsafe.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

/** The text in one line, each unsafe character as an escape of JSON: `\n`, `\u001b`. */
export const printable = (text: string) => text.replace(UNSAFE, (unsafe) => SHORT[unsafe] ?? escaped(unsafe));

/** JSON text that means the same and prints safely. @param json without line breaks */
export const printableJson = (json: string) => json.replace(UNSAFE, escaped);

/** A template whose values are made {@link printable}. */
export const line = (strings: TemplateStringsArray, ...values: unknown[]): string =>
  strings.reduce((text, string, index) => `${text}${printable(String(values[index - 1]))}${string}`);
