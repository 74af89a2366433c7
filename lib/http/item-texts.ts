/** Bodies whose list reaches the operation as the JSON texts of its items, each as it came. */
import { endOfString, positionOf, syntaxErrorAt } from '../shared/json.ts';
import { type ApiError, refusal } from './errors.ts';

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
 * The list of this name in a JSON body, which may also be the list alone, with the texts of its items. Of several members of a name the last
 * counts, as for `JSON.parse`. A value that is no list stays a text.
 * @throws ApiError if the body is not a JSON object or array
 */
export function withItemTexts(body: string, list: string): Record<string, string | string[]> {
  if (syntaxErrorAt(body) !== undefined) throw malformed(body);
  const json = body.trim();
  if (json.startsWith('[')) return { [list]: textsWithin(json) };
  if (!json.startsWith('{')) throw refusal('bodyNotObject');
  const member = textsWithin(json).findLast((text) => JSON.parse(text.slice(0, endOfString(text, 1))) === list);
  if (member === undefined) return {};
  const value = member.slice(member.indexOf(':', endOfString(member, 1)) + 1).trim();
  return { [list]: value.startsWith('[') ? textsWithin(value) : value };
}

/** The texts between the outer brackets of valid JSON: an array's items, or an object's members. */
function textsWithin(json: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  let start = 1;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === '"') index = endOfString(json, index + 1) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    const isEnd = depth === 0 || (depth === 1 && character === ',');
    if (!isEnd) continue;
    texts.push(json.slice(start, index).trim());
    start = index + 1;
  }
  return texts.length === 1 && texts[0] === '' ? [] : texts;
}
