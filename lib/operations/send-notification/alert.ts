import { hash } from 'node:crypto';
import { messageText } from '../../aws/sqs.ts';
import { refusal } from '../../http/errors.ts';
import { MAX_RECORD_BYTES } from '../../ingest/index.ts';
import { alert as model } from '../../model/alert.ts';
import { AT_MS } from '../../model/fields.ts';
import { textsWithin } from '../../model/labels.ts';
import { codePoints } from '../../shared/json.ts';

const RFC_3339 = /^(\d{4}-\d\d-\d\d)t([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i;
/** A longer identity is replaced by its hash. */
const MAX_IDENTITY = 128;
const { title: TITLE, description: DESCRIPTION, labels: LABELS, source_url: SOURCE_URL } = model.fields;
const SOURCE_URL_PATTERN = new RegExp(SOURCE_URL.schema.pattern, 'u');
/** By the label `severity`, in lower case. Any other is a warning. */
const SEVERITIES = new Map([
  ...['critical', 'page', 'error'].map((label) => [label, 'Critical'] as const),
  ...['info', 'none'].map((label) => [label, 'Info'] as const),
]);

type Members = Readonly<Partial<Record<string, unknown>>>;

/**
 * The record of an alert of a notification, which the feed takes. What is too long or too much is cut or left out, so is a time that the feed
 * would refuse.
 * @throws ApiError that says why the alert cannot be read
 */
export function recordOfAlert(alert: unknown, arrivedMs: number): object {
  if (!isObject(alert)) throw refusal('itemNotObject');
  const { status, fingerprint, startsAt, endsAt, generatorURL } = alert;
  const startMs = timeOf(startsAt);
  if (startMs === undefined) throw invalid('startsAt', 'date-time', startsAt === undefined);
  const [labels, notes] = [scalarsOf(alert, 'labels'), scalarsOf(alert, 'annotations')];
  const summary = [notes.summary, labels.alertname, notes.description]
    .map((value) => String(value ?? ''))
    .find((text) => text.trim() !== '');
  const isIdentified = typeof fingerprint === 'string' && fingerprint !== '';
  const pairs = sortedTexts(labels);
  const title = summary ?? titleOf(pairs);
  if (title === '') throw refusal('alertWithoutTitle');
  if (!isIdentified && pairs.length === 0) throw refusal('alertWithoutIdentity');
  const identity = isIdentified ? fingerprint.toWellFormed() : JSON.stringify(pairs);
  const isOver = status === 'resolved';
  const description = String(notes.description ?? '');
  const isPast = (atMs: number | undefined) => atMs !== undefined && atMs >= AT_MS.minimum && atMs <= arrivedMs;
  const endMs = isOver ? timeOf(endsAt) : undefined;
  const record = {
    kind: 'alert',
    alert_key: `alertmanager ${identity.length > MAX_IDENTITY ? hash('sha256', identity, 'hex') : identity}`,
    alert_status: isOver ? 'Ok' : (SEVERITIES.get(String(labels.severity).toLowerCase()) ?? 'Warning'),
    title: cut(title, TITLE.schema.maxLength),
    ...(description !== '' && { description: cut(description, DESCRIPTION.schema.maxLength) }),
    ...(isSourceUrl(generatorURL) && { source_url: generatorURL }),
    ...(isPast(startMs) && { started_at_ms: startMs }),
    ...(isPast(endMs) && { ended_at_ms: endMs }),
  };
  const whole = { ...record, labels: labelsOf(pairs) };
  if (Buffer.byteLength(messageText(whole)) <= MAX_RECORD_BYTES) return whole;
  const room = MAX_RECORD_BYTES - Buffer.byteLength(messageText(record));
  return { ...record, labels: textsWithin(whole.labels, room, messageText).texts };
}

/** Unix milliseconds; undefined for anything but a time of RFC 3339 on a day that there is. */
function timeOf(value: unknown): number | undefined {
  const [, day = ''] = (typeof value === 'string' && RFC_3339.exec(value)) || [];
  const atMs = day === '' ? Number.NaN : Date.parse(String(value).toUpperCase());
  if (Number.isNaN(atMs)) return undefined;
  // `Date` takes a day that the month does not have for one of the next month. Every month has 28 days.
  return day.slice(-2) <= '28' || new Date(day).toISOString().startsWith(day) ? atMs : undefined;
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Labels or annotations; none if they are absent or null. @throws ApiError unless all are scalars */
function scalarsOf(alert: Members, field: 'labels' | 'annotations'): Members {
  const members = alert[field] ?? {};
  if (!isObject(members) || !Object.values(members).every(isScalar)) throw invalid(field, 'scalars');
  return members;
}

const invalid = (field: string, format: string, missing = false) =>
  refusal('invalidFields', { fieldErrors: [{ field, schema: { format }, ...(missing && { missing }) }] });

/** A number that is not finite was beyond a double, or a fraction that a double would round to an integer. */
const isScalar = (value: unknown) =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : value === null || ['string', 'boolean', 'bigint'].includes(typeof value);

/** Names and texts, in the order of the names. A member that is null is as if absent. */
const sortedTexts = (members: Members): [name: string, text: string][] =>
  Object.keys(members)
    .filter((name) => members[name] !== null)
    .sort()
    .map((name) => [name, String(members[name])]);

const titleOf = (pairs: readonly [name: string, text: string][]) =>
  pairs
    .slice(0, TITLE.schema.maxLength)
    .map(([name, text]) => `${name}=${text}`)
    .join(', ');

const MAX_NAME = LABELS.schema.propertyNames.maxLength;
const isShort = (name: string) => name.length <= MAX_NAME || codePoints(name) <= MAX_NAME;

/** The labels that the feed takes. */
const labelsOf = (pairs: readonly [name: string, text: string][]) =>
  Object.fromEntries(
    pairs
      .values() // looks at no more than it takes: an alert may have 100,000
      .filter(([name]) => name !== '' && name !== '__proto__' && isShort(name))
      .take(LABELS.schema.maxProperties)
      .map(([name, text]) => [name.toWellFormed(), cut(text, LABELS.schema.additionalProperties.maxLength)]),
  );

function isSourceUrl(value: unknown): value is string {
  return typeof value === 'string' && value.length <= SOURCE_URL.schema.maxLength && SOURCE_URL_PATTERN.test(value);
}

/** The first characters of a text, well-formed. Each takes one or two code units. */
const cut = (text: string, length: number) => {
  const first =
    text.length <= length
      ? text
      : Array.from(text.slice(0, 2 * length))
          .slice(0, length)
          .join('');
  return first.toWellFormed();
};
