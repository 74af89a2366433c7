/** The rows of a host. Other systems write them, so they may hold anything: both ways to read them (range, key) decode them here. */
import { isInt64 } from '../../shared/json.ts';
import { codes, flag, hostId, natural, type RowOf, text } from '../../shared/schema.ts';

/** What the inventory knows of a host. */
export const HOST_SCHEMA = {
  required: ['host_id', 'agent_version', 'edge_cluster', 'enabled', 'snapshot_ready'],
  properties: {
    host_id: hostId,
    agent_version: text,
    edge_cluster: text,
    enabled: flag,
    capability_status: text,
    capture_mode: text,
    report_interval_ms: { ...natural, minimum: 1 },
    snapshot_ready: flag,
    reason_codes: codes,
  },
} as const;
export type HostRow = RowOf<typeof HOST_SCHEMA>;

/** What a host last reported of its graph and its health. Times are Unix milliseconds. */
export const STATUS_SCHEMA = {
  required: [
    'host_id',
    'node_count',
    'edge_count',
    'authoritative',
    'graph_available',
    'snapshot_truncated',
    'snapshot_degraded',
  ],
  properties: {
    host_id: hostId,
    received_at_ms: natural,
    observed_at_ms: natural,
    node_count: natural,
    edge_count: natural,
    authoritative: flag,
    graph_available: flag,
    snapshot_truncated: flag,
    snapshot_degraded: flag,
    health_at_ms: natural,
    reason_codes: codes,
  },
} as const;
export type HostStatusRow = RowOf<typeof STATUS_SCHEMA>;

/** The live status could not be read, or is malformed. */
export const UNREADABLE = Symbol('status unreadable');
export type LiveStatus = HostStatusRow | typeof UNREADABLE | undefined;

/** Checks an attribute. One with a `fallback` is required; the fallback replaces a missing or malformed value. */
interface Form {
  readonly is: (value: unknown) => boolean;
  readonly fallback: string | boolean | number | undefined;
}
type Forms = Readonly<Record<string, Form>>;

interface RowSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, { readonly type: string; readonly minimum?: number }>>;
}

const isText = (value: unknown) => typeof value === 'string';
const CHECKS: Readonly<Record<string, Form['is']>> = {
  string: isText,
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value) && value.every(isText),
};
const FALLBACKS: Readonly<Record<string, Form['fallback']>> = { string: '', boolean: false, integer: 0 };

function formsOf({ required, properties }: RowSchema): Forms {
  const { host_id: _key, ...attributes } = properties;
  const forms = Object.entries(attributes).map(([name, { type, minimum = 0 }]) => {
    const is = CHECKS[type] ?? ((value: unknown) => isInt64(value) && value >= minimum);
    return [name, { is, fallback: required.includes(name) ? FALLBACKS[type] : undefined }];
  });
  return Object.fromEntries(forms);
}

const HOST_FORMS = formsOf(HOST_SCHEMA);
const STATUS_FORMS = formsOf(STATUS_SCHEMA);

export const HOST_ATTRIBUTES = Object.keys(HOST_FORMS);
export const STATUS_ATTRIBUTES = Object.keys(STATUS_FORMS);

/** A row as it came from the table, its sort key as `host_id`. */
export type RawRow = { host_id: string } & Record<string, unknown>;

/** Decodes an inventory row. A missing or malformed attribute gets its fallback, or is omitted. */
export function decodeHost(raw: RawRow): { host: HostRow; malformed: boolean } {
  const { row, malformed } = decode<HostRow>(HOST_FORMS, raw);
  return { host: row, malformed };
}

/** Decodes a row of live status. @returns {@link UNREADABLE} if it is malformed */
export function decodeStatus(raw: RawRow): HostStatusRow | typeof UNREADABLE {
  const { row, malformed } = decode<HostStatusRow>(STATUS_FORMS, raw);
  return malformed ? UNREADABLE : row;
}

/** A null counts as absent, a set as an array. A valid row is returned without a copy, since a page reads thousands. */
function decode<Row>(forms: Forms, raw: RawRow): { row: Row; malformed: boolean } {
  let fits = true;
  for (const name in forms) {
    const { is, fallback } = forms[name] as Form;
    const value = raw[name];
    if (value === undefined ? fallback !== undefined : !is(value)) fits = false;
  }
  if (fits) return { row: raw as Row, malformed: false };

  const row: Record<string, unknown> = { host_id: raw.host_id };
  let malformed = false;
  for (const [name, { is, fallback }] of Object.entries(forms)) {
    const given = raw[name] ?? undefined;
    const value = given instanceof Set ? [...given] : given;
    const wrong = value === undefined ? fallback !== undefined : !is(value);
    malformed ||= wrong;
    const kept = wrong ? fallback : value;
    if (kept !== undefined) row[name] = kept;
  }
  return { row: row as Row, malformed };
}
