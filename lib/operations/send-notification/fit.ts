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
 * The record with its content. If that takes more bytes than a record may have, annotations are cut first, then labels, then the description,
 * and at last the address is left out.
 * @param record takes less than half of the bytes
 */
export function fitted(record: object, content: Content): object {
  const whole = { ...record, ...partsOf(content) };
  if (bytesOf(whole) <= MAX_RECORD_BYTES) return whole;
  let kept: Content = { source_url: content.source_url, description: '', labels: {}, annotations: {} };
  const room = () => MAX_RECORD_BYTES - bytesOf({ ...record, ...kept });
  if (room() < 0) kept = { ...kept, source_url: undefined };
  kept = { ...kept, description: beginningOf(content.description, room()) };
  kept = { ...kept, labels: textsWithin(content.labels, room(), messageText).texts };
  kept = { ...kept, annotations: textsWithin(content.annotations, room(), messageText).texts };
  return { ...record, ...partsOf(kept) };
}

const bytesOf = (value: unknown) => Buffer.byteLength(messageText(value));

const partsOf = ({ source_url, description, labels, annotations }: Content) => ({
  ...(source_url !== undefined && { source_url }),
  ...(description !== '' && { description }),
  labels,
  ...(Object.keys(annotations).length > 0 && { annotations }),
});

/**
 * The longest beginning of a text that takes at most so many bytes within JSON. It does not end within a character: half of one, escaped, takes
 * more bytes than all of it.
 */
function beginningOf(text: string, bytes: number): string {
  let [fits, isTooLong] = [0, text.length + 1];
  while (isTooLong - fits > 1) {
    const middle = Math.floor((fits + isTooLong) / 2);
    if (bytesOf(text.slice(0, middle)) - '""'.length <= bytes) fits = middle;
    else isTooLong = middle;
  }
  return text.slice(0, fits);
}

type TextMap = typeof LABELS.schema | typeof ANNOTATIONS.schema;

/** The labels, or annotations, that the feed takes. */
export const textsOf = (
  pairs: readonly [name: string, text: string][],
  { maxProperties, propertyNames, additionalProperties }: TextMap,
) =>
  Object.fromEntries(
    pairs
      .values() // looks at no more than it takes: an alert may have 100,000
      .filter(([name]) => name !== '' && name !== '__proto__' && isWithin(name, propertyNames.maxLength))
      .take(maxProperties)
      .map(([name, text]) => [name.toWellFormed(), cut(text, additionalProperties.maxLength)]),
  );

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
