/** Cuts what a notification says of an alert to what a record may have. */
import { messageText } from '../../aws/sqs.ts';
import { MAX_RECORD_BYTES } from '../../ingest/index.ts';
import { alert as model } from '../../model/alert.ts';
import { textsWithin } from '../../model/labels.ts';
import { codePoints } from '../../shared/json.ts';

const { labels: LABELS, annotations: ANNOTATIONS, source_url: SOURCE_URL } = model.fields;
const SOURCE_URL_PATTERN = new RegExp(SOURCE_URL.schema.pattern, 'u');

/** What is cut if a record is too large. */
interface Content {
  readonly source_url: string | undefined;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * The JSON of the record with its content. If that takes more bytes than a record may have, annotations are cut first, then labels, then the description,
 * and at last the address is left out.
 * @param record takes less than half of the bytes
 */
export function fitted(record: object, content: Content): string {
  const whole = messageText({ ...record, ...partsOf(content) });
  if (Buffer.byteLength(whole) <= MAX_RECORD_BYTES) return whole;
  const roomBeside = (source_url: string | undefined) =>
    MAX_RECORD_BYTES - bytesOf({ ...record, source_url, description: '', labels: {}, annotations: {} });
  const source_url = roomBeside(content.source_url) < 0 ? undefined : content.source_url;
  const description = beginningOf(content.description, roomBeside(source_url));
  const labels = textsWithin(content.labels, description.room, messageText);
  const annotations = textsWithin(content.annotations, labels.room, messageText);
  const parts = { source_url, description: description.text, labels: labels.texts, annotations: annotations.texts };
  return messageText({ ...record, ...partsOf(parts) });
}

const bytesOf = (value: unknown) => Buffer.byteLength(messageText(value));

const partsOf = ({ source_url, description, labels, annotations }: Content) => ({
  source_url, // undefined is not written
  ...(description !== '' && { description }),
  labels,
  ...(Object.keys(annotations).length > 0 && { annotations }),
});

/** Texts of JSON that end within an escape match without it. */
const WHOLE_CHARACTERS = /^(?:[^\\]|\\u.{4}|\\[^u])*/;

/**
 * The longest beginning of a text that takes at most so many bytes within JSON, and the bytes that remain. It reads the text once: a notification
 * may be of millions of characters that take an escape.
 */
function beginningOf(text: string, bytes: number): { text: string; room: number } {
  const json = messageText(text).slice(1, -1);
  const { read } = new TextEncoder().encodeInto(json, new Uint8Array(bytes));
  const [beginning = ''] = WHOLE_CHARACTERS.exec(json.slice(0, read)) ?? [];
  return { text: JSON.parse(`"${beginning}"`), room: bytes - Buffer.byteLength(beginning) };
}

type TextMap = typeof LABELS.schema | typeof ANNOTATIONS.schema;

/** The labels, or annotations, that the feed takes. Looks at no more than it takes: an alert may have 100,000. */
export function textsOf(
  pairs: readonly [name: string, text: string][],
  { maxProperties, propertyNames, additionalProperties }: TextMap,
): Record<string, string> {
  const texts: Record<string, string> = {};
  let room = maxProperties;
  for (const [name, text] of pairs) {
    if (room === 0) break;
    if (name === '' || name === '__proto__' || !isWithin(name, propertyNames.maxLength)) continue;
    texts[name.toWellFormed()] = cut(text, additionalProperties.maxLength);
    room -= 1;
  }
  return texts;
}

const isWithin = (text: string, length: number) => text.length <= length || codePoints(text) <= length;

export function isSourceUrl(value: unknown): value is string {
  return typeof value === 'string' && value.length <= SOURCE_URL.schema.maxLength && SOURCE_URL_PATTERN.test(value);
}

/** The first characters of a text, well-formed. Each takes one or two code units. */
export const cut = (text: string, length: number) => {
  const first =
    text.length <= length
      ? text
      : Array.from(text.slice(0, 2 * length))
          .slice(0, length)
          .join('');
  return first.toWellFormed();
};
