import { hash } from 'node:crypto';

const RFC_3339 = /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i;
const RESOLVED = ' (resolved)';
const MAX_TITLE = 512;
/** A longer identity is replaced by its hash. */
const MAX_IDENTITY = 128;

type Members = Readonly<Partial<Record<string, unknown>>>;

/** The record of an alert of a notification, which the feed takes. @throws TypeError that says why it cannot be read */
export function recordOfAlert(alert: unknown): object {
  if (!isObject(alert)) throw new TypeError('an alert must be an object');
  const { status, fingerprint, startsAt } = alert;
  const isTime = typeof startsAt === 'string' && RFC_3339.test(startsAt);
  const startMs = isTime ? Date.parse(startsAt.toUpperCase()) : Number.NaN;
  if (Number.isNaN(startMs)) throw new TypeError('startsAt must be a time of RFC 3339');
  const [labels, notes] = [scalarsOf(alert, 'labels'), scalarsOf(alert, 'annotations')];
  const summary = [notes.summary, labels.alertname, notes.description]
    .map((value) => String(value ?? ''))
    .find((text) => text.trim() !== '');
  const isIdentified = typeof fingerprint === 'string' && fingerprint !== '';
  const pairs = summary === undefined || !isIdentified ? sortedTexts(labels) : [];
  const text = summary ?? titleOf(pairs);
  if (text === '') throw new TypeError('it has no summary, alertname, description or label');
  if (!isIdentified && pairs.length === 0) throw new TypeError('it has no fingerprint and no label');
  const identity = isIdentified ? fingerprint.toWellFormed() : JSON.stringify(pairs);
  const end = status === 'resolved' ? RESOLVED : '';
  return {
    kind: 'alert',
    source_id: `alertmanager ${identity.length > MAX_IDENTITY ? hash('sha256', identity, 'hex') : identity} ${new Date(startMs).toISOString()}`,
    title: `${cut(text.toWellFormed(), MAX_TITLE - end.length)}${end}`,
  };
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Labels or annotations; none if they are absent or null. @throws TypeError unless all are scalars */
function scalarsOf(alert: Members, field: 'labels' | 'annotations'): Members {
  const members = alert[field] ?? {};
  if (!isObject(members)) throw new TypeError(`${field} must be an object`);
  for (const name in members)
    if (!isScalar(members[name])) throw new TypeError(`${field} must be strings, numbers or booleans`);
  return members;
}

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
    .slice(0, MAX_TITLE)
    .map(([name, text]) => `${name}=${text}`)
    .join(', ');

/** The first characters of a text. Each takes at most two code units. */
const cut = (text: string, length: number) =>
  Array.from(text.slice(0, 2 * length))
    .slice(0, length)
    .join('');
