/** Bodies whose list reaches the operation as its items, each with its JSON text as it came. */
import { endOfString, isClosing, isOpening, isPlainJson, positionOf, syntaxErrorAt, UNITS } from '../shared/json.ts';
import { type ApiError, refusal } from './errors.ts';

/** An item of a list. */
export interface ItemText {
  readonly text: string;
  /** What the text says; absent if `JSON.parse` may read it otherwise than the exact parser, or was not asked. */
  readonly value?: unknown;
}

/** The refusal of a body that is not JSON. */
export function malformed(body: string): ApiError {
  if (body.startsWith('\ufeff')) return refusal('bodyWithMark');
  return refusal('malformedBody', positionOf(body, syntaxErrorAt(body) ?? body.length));
}

/** The media types of a body that has an item a line. */
export const LINES_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;

/** The lines of a body that are not blank: with one of {@link LINES_TYPES} each is an item. */
export const linesOf = (body: string): string[] =>
  body
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * The list of this name in a JSON body, which may also be the list alone. Of several members of a name the last counts, as for `JSON.parse`. A
 * value that is no list stays what it is.
 * @throws ApiError if the body is not a JSON object or array
 */
export function withItemTexts(body: string, list: string): Record<string, unknown> {
  const value = parse(body);
  if (typeof value !== 'object' || value === null) throw refusal('bodyNotObject');
  if (Array.isArray(value)) return { [list]: itemsOf(body, value, isPlainJson(body)) };
  const { [list]: items } = value as Record<string, unknown>;
  if (!Array.isArray(items)) return items === undefined ? {} : { [list]: items };
  const member = textsWithin(body).findLast((text) => JSON.parse(text.slice(0, endOfString(text, 1))) === list) ?? '';
  return { [list]: itemsOf(member.slice(endOfString(member, 1)), items, isPlainJson(body)) };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw malformed(body);
  }
}

/** @param json holds the list @param arePlain whether the whole body is: if not, each item is looked at */
const itemsOf = (json: string, values: readonly unknown[], arePlain: boolean): ItemText[] =>
  textsWithin(json).map((text, index) => (arePlain || isPlainJson(text) ? { text, value: values[index] } : { text }));

/** The texts within the first brackets of valid JSON: an array's items, or an object's members. */
function textsWithin(json: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  let start = json.search(/[{[]/) + 1;
  for (let index = start; index < json.length && depth >= 0; index += 1) {
    const unit = json.charCodeAt(index);
    if (unit === UNITS.quote) index = endOfString(json, index + 1) - 1;
    else if (isOpening(unit)) depth += 1;
    else if (isClosing(unit)) depth -= 1;
    if (depth < 0 || (depth === 0 && unit === UNITS.comma)) {
      texts.push(json.slice(start, index).trim());
      start = index + 1;
    }
  }
  return texts.length === 1 && texts[0] === '' ? [] : texts;
}
