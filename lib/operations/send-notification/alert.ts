import { hash } from 'node:crypto';
import { type FieldSchema, refusal } from '../../http/errors.ts';
import { alert as model } from '../../model/alert.ts';
import { AT_MS } from '../../model/fields.ts';
import { isJsonObject, type Members } from '../../shared/json.ts';
import { cut, fitted, isSourceUrl, textsOf } from './fit.ts';

const RFC_3339 = /^(\d{4}-\d\d-\d\d)t([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i;
/** A longer identity is replaced by its hash. */
const MAX_IDENTITY = 128;
const { title: TITLE, description: DESCRIPTION, labels: LABELS, annotations: ANNOTATIONS } = model.fields;
const STATUSES = ['firing', 'resolved'] as const;
/** By the label `severity`, in lower case. Any other is a warning. */
const SEVERITIES = new Map([
  ...['critical', 'page', 'error', 'fatal', 'emergency', 'high', 'disaster', 'p1', 'sev1'].map(
    (label) => [label, 'Critical'] as const,
  ),
  ...['info', 'informational', 'none', 'low', 'debug', 'p4', 'p5', 'sev4', 'sev5'].map(
    (label) => [label, 'Info'] as const,
  ),
]);

/** What a record has from the call and the settings. */
export interface Sending {
  readonly arrivedMs: number;
  /** Tells apart senders whose alerts have the same fingerprints. */
  readonly source: string | undefined;
  /** Seconds without a notification after which an alert ends by itself; 0: it does not. */
  readonly silentAfterS: number;
}

/**
 * The JSON of the record of an alert of a notification, which the feed takes. What is too long or too much is cut or left out, so is a time that the feed
 * would refuse.
 * @throws ApiError that says why the alert cannot be read
 */
export function recordOfAlert(alert: unknown, { arrivedMs, source, silentAfterS }: Sending): string {
  if (!isJsonObject(alert)) throw refusal('itemNotObject');
  const { startsAt, endsAt, generatorURL } = alert;
  const startMs = timeOf(startsAt);
  if (startMs === undefined) throw invalid('startsAt', { format: 'date-time' }, startsAt === undefined);
  const isOver = statusOf(alert) === 'resolved';
  const [labels, { summary, description, ...notes }] = [scalarsOf(alert, 'labels'), scalarsOf(alert, 'annotations')];
  const pairs = sortedTexts(labels);
  const told = [summary, labels.alertname, description].map(textOf).find((text) => text.trim() !== '');
  const title = told ?? titleOf(pairs);
  if (title === '') throw refusal('alertWithoutTitle');
  const isPast = (atMs: number | undefined) => atMs !== undefined && atMs >= AT_MS.minimum && atMs <= arrivedMs;
  const endMs = isOver ? timeOf(endsAt) : undefined;
  const identity = identityOf(alert, pairs);
  const record = {
    kind: 'alert',
    alert_key: `alertmanager ${source === undefined ? '' : `${source} `}${identity}`,
    alert_status: isOver ? 'Ok' : (SEVERITIES.get(textOf(labels.severity).toLowerCase()) ?? 'Warning'),
    title: cut(title, TITLE.schema.maxLength),
    ...(!isOver && silentAfterS > 0 && { silent_after_s: silentAfterS }),
    ...(isPast(startMs) && { started_at_ms: startMs }),
    ...(isPast(endMs) && { ended_at_ms: endMs }),
  };
  return fitted(record, {
    source_url: isSourceUrl(generatorURL) ? generatorURL : undefined,
    description: cut(textOf(description), DESCRIPTION.schema.maxLength),
    labels: textsOf(pairs, LABELS.schema),
    annotations: textsOf(sortedTexts(notes), ANNOTATIONS.schema),
  });
}

/** @throws ApiError for any other status */
function statusOf({ status = '' }: Members): (typeof STATUSES)[number] {
  if (status === '') return 'firing';
  const known = STATUSES.find((name) => typeof status === 'string' && name === status.toLowerCase());
  if (!known) throw invalid('status', { enum: STATUSES });
  return known;
}

/**
 * What tells the alert from others of its sender: its fingerprint or, without one, its labels. A fingerprint with a blank would look like one
 * after a source.
 * @throws ApiError if it has neither
 */
function identityOf({ fingerprint }: Members, labels: readonly [name: string, text: string][]): string {
  const isIdentified = typeof fingerprint === 'string' && fingerprint !== '';
  if (!isIdentified && labels.length === 0) throw refusal('alertWithoutIdentity');
  const identity = isIdentified ? fingerprint.toWellFormed() : JSON.stringify(labels);
  const isHashed = identity.length > MAX_IDENTITY || (isIdentified && identity.includes(' '));
  return isHashed ? hash('sha256', identity, 'hex') : identity;
}

/** Unix milliseconds; undefined for anything but a time of RFC 3339 on a day that there is. */
function timeOf(value: unknown): number | undefined {
  const [, day = ''] = (typeof value === 'string' && RFC_3339.exec(value)) || [];
  const atMs = day === '' ? Number.NaN : Date.parse(String(value).toUpperCase());
  if (Number.isNaN(atMs)) return undefined;
  // `Date` takes a day that the month does not have for one of the next month. Every month has 28 days.
  return day.slice(-2) <= '28' || new Date(day).toISOString().startsWith(day) ? atMs : undefined;
}

/** Labels or annotations; none if they are absent or null. @throws ApiError unless all are scalars */
function scalarsOf(alert: Members, field: 'labels' | 'annotations'): Members {
  const members = alert[field] ?? {};
  if (!isJsonObject(members) || !Object.values(members).every(isScalar)) throw invalid(field, { format: 'scalars' });
  return members;
}

const invalid = (field: string, schema: FieldSchema, missing = false) =>
  refusal('invalidFields', { fieldErrors: [{ field, schema, ...(missing && { missing }) }] });

/** A number that is not finite was beyond a double, or a fraction that a double would round to an integer. */
const isScalar = (value: unknown) =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : value === null || ['string', 'boolean', 'bigint'].includes(typeof value);

const textOf = (value: unknown) => String(value ?? '');

/** Names and texts, in the order of the names. A member that is null is as if absent. */
function sortedTexts(members: Members): [name: string, text: string][] {
  const pairs: [name: string, text: string][] = [];
  for (const name of Object.keys(members).sort()) if (members[name] !== null) pairs.push([name, String(members[name])]);
  return pairs;
}

const titleOf = (pairs: readonly [name: string, text: string][]) =>
  pairs
    .slice(0, TITLE.schema.maxLength)
    .map(([name, text]) => `${name}=${text}`)
    .join(', ');
