/** Bodies whose list reaches the operation as its items, each with its JSON text as it came. */
import { endOfString, isClosing, isOpening, isPlainJson, positionOf, syntaxErrorAt, UNITS } from '../shared/json.ts';
import { type ApiError, refusal } from './errors.ts';

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
  const values = Array.isArray(value) ? value : (value as Record<string, unknown>)[list];
  if (!Array.isArray(values)) return values === undefined ? {} : { [list]: values };
  const isPlain = isPlainJson(body);
  const items = textsOf(body, list).map(
    (text, index): ItemText => (isPlain || isPlainJson(text) ? { text, value: values[index] } : { text }),
  );
  return { [list]: items };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw malformed(body);
  }
}

/** The texts of the items of a valid body that is a list, or of the last list of this name in one that is an object. */
function textsOf(body: string, list: string): string[] {
  let texts: string[] = [];
  let depth = 0;
  /** The depth of the items; 0: outside of the list. */
  let level = 0;
  /** Where an item, or a member of the body, begins. */
  let start = 0;
  for (let index = 0; index < body.length; index += 1) {
    const unit = body.charCodeAt(index);
    if (unit === UNITS.quote) index = endOfString(body, index + 1) - 1;
    else if (isOpening(unit)) {
      depth += 1;
      const isList =
        unit === UNITS.bracket &&
        (depth === 1 || (depth === 2 && level === 0 && nameOf(body.slice(start, index)) === list));
      if (isList) {
        level = depth;
        texts = [];
      }
      if (isList || depth === 1) start = index + 1;
    } else if (unit === UNITS.comma) {
      if (depth === level) texts.push(body.slice(start, index).trim());
      if (depth === (level || 1)) start = index + 1;
    } else if (isClosing(unit)) {
      if (depth === level) {
        texts.push(body.slice(start, index).trim());
        level = 0;
      }
      depth -= 1;
    }
  }
  return texts.length === 1 && texts[0] === '' ? [] : texts;
}

/** The name of a member whose text ends before its value. */
const nameOf = (member: string): unknown => JSON.parse(member.slice(0, member.lastIndexOf(':')));
