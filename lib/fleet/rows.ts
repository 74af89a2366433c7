/**
 * The rows of a host and their form. Other systems write them, so a row can hold anything: both ways of
 * reading (a range, a key) decode it here.
 */
import { type Int64, isInt64 } from '../json.ts';

/** What the inventory knows of a host. */
export interface HostRow {
  host_id: string;
  agent_version: string;
  edge_cluster: string;
  enabled: boolean;
  capability_status?: string;
  capture_mode?: string;
  report_interval_ms?: Int64;
  snapshot_ready: boolean;
  reason_codes?: string[];
}

/** What a host last reported of its graph and its health. Times are Unix milliseconds. */
export interface HostStatusRow {
  host_id: string;
  received_at_ms?: Int64;
  observed_at_ms?: Int64;
  node_count: Int64;
  edge_count: Int64;
  authoritative: boolean;
  graph_available: boolean;
  snapshot_truncated: boolean;
  snapshot_degraded: boolean;
  health_at_ms?: Int64;
  reason_codes?: string[];
}

/** Other systems write the rows: an attribute may have any value. */
type Unchecked<Row> = { [Name in Exclude<keyof Row, 'host_id'>]?: unknown };

declare module '../table/keys.ts' {
  interface Rows {
    host: Unchecked<HostRow>;
    hostStatus: Unchecked<HostStatusRow>;
  }
}

/** A live row that could not be read or is malformed. */
export const UNREADABLE = Symbol('status unreadable');
export type LiveStatus = HostStatusRow | typeof UNREADABLE | undefined;

/** What an attribute must be; `fallback` makes it required and replaces a missing or malformed one. */
interface Form {
  readonly is: (value: unknown) => boolean;
  readonly fallback?: string | boolean | number;
}
type Forms<Row> = { readonly [Name in Exclude<keyof Row, 'host_id'>]-?: Form };

const isText = (value: unknown) => typeof value === 'string';
const isFlag = (value: unknown) => typeof value === 'boolean';
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText);
const isNatural = (value: unknown) => isInt64(value) && value >= 0;
const isPositive = (value: unknown) => isInt64(value) && value >= 1;

const TEXT: Form = { is: isText, fallback: '' };
const FLAG: Form = { is: isFlag, fallback: false };
const COUNT: Form = { is: isNatural, fallback: 0 };

const HOST_FORMS: Forms<HostRow> = {
  agent_version: TEXT,
  edge_cluster: TEXT,
  enabled: FLAG,
  capability_status: { is: isText },
  capture_mode: { is: isText },
  report_interval_ms: { is: isPositive },
  snapshot_ready: FLAG,
  reason_codes: { is: isTextList },
};

const STATUS_FORMS: Forms<HostStatusRow> = {
  received_at_ms: { is: isNatural },
  observed_at_ms: { is: isNatural },
  node_count: COUNT,
  edge_count: COUNT,
  authoritative: FLAG,
  graph_available: FLAG,
  snapshot_truncated: FLAG,
  snapshot_degraded: FLAG,
  health_at_ms: { is: isNatural },
  reason_codes: { is: isTextList },
};

/** The attributes that a page reads. */
export const HOST_ATTRIBUTES = Object.keys(HOST_FORMS);
export const STATUS_ATTRIBUTES = Object.keys(STATUS_FORMS);

/** A row as it came from the table, its sort key as `host_id`. */
export type RawRow = { host_id: string } & Record<string, unknown>;

/** An inventory row: what is missing or malformed has its fallback, or is absent. */
export function decodeHost(raw: RawRow): { host: HostRow; malformed: boolean } {
  const { row, malformed } = decode<HostRow>(HOST_FORMS, raw);
  return { host: row, malformed };
}

/** A live row, or {@link UNREADABLE} if it is malformed. */
export function decodeStatus(raw: RawRow): HostStatusRow | typeof UNREADABLE {
  const { row, malformed } = decode<HostStatusRow>(STATUS_FORMS, raw);
  return malformed ? UNREADABLE : row;
}

/** An attribute that is null counts as absent, and a set as the list of its members. A valid row is not copied: a page reads thousands. */
function decode<Row>(forms: Forms<Row>, raw: RawRow): { row: Row; malformed: boolean } {
  let fits = true;
  for (const name in forms) {
    const { is, fallback } = forms[name as keyof Forms<Row>];
    const value = raw[name];
    if (value === undefined ? fallback !== undefined : !is(value)) fits = false;
  }
  if (fits) return { row: raw as Row, malformed: false };

  const row: Record<string, unknown> = { host_id: raw.host_id };
  let malformed = false;
  for (const [name, { is, fallback }] of Object.entries<Form>(forms)) {
    const given = raw[name] ?? undefined;
    const value = given instanceof Set ? [...given] : given;
    const wrong = value === undefined ? fallback !== undefined : !is(value);
    malformed ||= wrong;
    const kept = wrong ? fallback : value;
    if (kept !== undefined) row[name] = kept;
  }
  return { row: row as Row, malformed };
}
