/** The two rows of a host: inventory and status. Their data is from other systems, and may hold anything: every read decodes it here. */
import { codes, flag, hostId, isInt64, natural, type RowOf, text } from '../../shared/json.ts';

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

export const UNREADABLE = Symbol('status unreadable');
/** The status of a host: undefined if it never reported, {@link UNREADABLE} if it could not be read or is malformed. */
export type LiveStatus = HostStatusRow | typeof UNREADABLE | undefined;

/** Checks an attribute. One with a `fallback` is required; the fallback replaces a missing or malformed value. */
interface AttributeRule {
  readonly isValid: (value: unknown) => boolean;
  readonly fallback: string | boolean | number | undefined;
}
type AttributeRules = Readonly<Record<string, AttributeRule>>;

interface RowSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, { readonly type: string; readonly minimum?: number }>>;
}

const isText = (value: unknown) => typeof value === 'string';
const CHECKS: Readonly<Record<string, AttributeRule['isValid']>> = {
  string: isText,
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value) && value.every(isText),
};
const FALLBACKS: Readonly<Record<string, AttributeRule['fallback']>> = { string: '', boolean: false, integer: 0 };

function rulesOf({ required, properties }: RowSchema): AttributeRules {
  const { host_id: _key, ...attributes } = properties;
  const rules = Object.entries(attributes).map(([name, { type, minimum = 0 }]) => {
    const isInteger = (value: unknown) => isInt64(value) && value >= minimum;
    return [
      name,
      { isValid: CHECKS[type] ?? isInteger, fallback: required.includes(name) ? FALLBACKS[type] : undefined },
    ];
  });
  return Object.fromEntries(rules);
}

const HOST_RULES = rulesOf(HOST_SCHEMA);
const STATUS_RULES = rulesOf(STATUS_SCHEMA);

export const HOST_ATTRIBUTES = Object.keys(HOST_RULES);
export const STATUS_ATTRIBUTES = Object.keys(STATUS_RULES);

/** A row as it came from the table, its sort key as `host_id`. */
export type RawRow = { host_id: string } & Record<string, unknown>;

/** Decodes an inventory row. A missing or malformed attribute gets its fallback, or is omitted. */
export function decodeHost(raw: RawRow): { host: HostRow; malformed: boolean } {
  const { row, malformed } = decode<HostRow>(HOST_RULES, raw);
  return { host: row, malformed };
}

/** Decodes a row of live status. @returns {@link UNREADABLE} if it is malformed */
export function decodeStatus(raw: RawRow): HostStatusRow | typeof UNREADABLE {
  const { row, malformed } = decode<HostStatusRow>(STATUS_RULES, raw);
  return malformed ? UNREADABLE : row;
}

/**
 * Null counts as absent, and a set as an array. A row that needs neither a conversion nor a fallback is returned as it is, with any unknown
 * attributes: a copy would take time, and a page reads thousands of rows.
 */
function decode<Row>(rules: AttributeRules, raw: RawRow): { row: Row; malformed: boolean } {
  let usableAsIs = true;
  for (const name in rules) {
    const { isValid, fallback } = rules[name] as AttributeRule;
    const value = raw[name];
    if (value === undefined ? fallback !== undefined : !isValid(value)) usableAsIs = false;
  }
  if (usableAsIs) return { row: raw as Row, malformed: false };

  const row: Record<string, unknown> = { host_id: raw.host_id };
  let malformed = false;
  for (const [name, { isValid, fallback }] of Object.entries(rules)) {
    const stored = raw[name] ?? undefined;
    const value = stored instanceof Set ? [...stored] : stored;
    const wrong = value === undefined ? fallback !== undefined : !isValid(value);
    malformed ||= wrong;
    const kept = wrong ? fallback : value;
    if (kept !== undefined) row[name] = kept;
  }
  return { row: row as Row, malformed };
}
