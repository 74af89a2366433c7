/**
 * A host: its two rows, inventory and status, and the item of a page that follows from them. The data of the rows is from other systems, and
 * may hold anything: every read decodes it here.
 */
import type { ResponseOf } from '../../http/operation.ts';
import type { Fields } from '../../model/fields.ts';
import { type HostRow, host as hostModel } from '../../model/host.ts';
import { type HostStatusRow, hostStatus } from '../../model/host-status.ts';
import { type Int64, isInt64 } from '../../shared/json.ts';
import type { browseFleet } from './schema.ts';

export const UNREADABLE = Symbol('status unreadable');
/** What is known of the host's report: undefined if it never reported, {@link UNREADABLE} if the row could not be read or is malformed. */
export type LiveStatus = HostStatusRow | typeof UNREADABLE | undefined;

/** Checks an attribute. One with a `fallback` is required; the fallback replaces a missing or malformed value. */
interface AttributeRule {
  readonly isValid: (value: unknown) => boolean;
  readonly fallback: string | boolean | number | undefined;
}
type AttributeRules = Readonly<Record<string, AttributeRule>>;

const isText = (value: unknown) => typeof value === 'string';
const CHECKS: Readonly<Record<string, AttributeRule['isValid']>> = {
  string: isText,
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value) && value.every(isText),
};
const FALLBACKS: Readonly<Record<string, AttributeRule['fallback']>> = { string: '', boolean: false, integer: 0 };

function rulesOf(fields: Fields): AttributeRules {
  const attributes = Object.entries(fields).filter(([, { stored }]) => stored !== 'key' && stored !== false);
  const rules = attributes.map(([name, field]) => {
    const { type, minimum = 0 } = (field.read ?? field.schema) as { type: string; minimum?: number };
    const isInteger = (value: unknown) => isInt64(value) && value >= minimum;
    const isAlwaysThere = field.required || field.default !== undefined;
    return [name, { isValid: CHECKS[type] ?? isInteger, fallback: isAlwaysThere ? FALLBACKS[type] : undefined }];
  });
  return Object.fromEntries(rules);
}

const HOST_RULES = rulesOf(hostModel.fields);
const STATUS_RULES = rulesOf(hostStatus.fields);

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
    const usable = wrong ? fallback : value;
    if (usable !== undefined) row[name] = usable;
  }
  return { row: row as Row, malformed };
}

export type FleetHost = ResponseOf<typeof browseFleet>['items'][number];
export type ServiceMap = FleetHost['servicemap'];
export type FleetStatus = ServiceMap['status'];

const DEFAULT_INTERVAL_MS = 60_000;

const NO_REPORT: Omit<HostStatusRow, 'host_id'> = {
  node_count: 0,
  edge_count: 0,
  authoritative: false,
  graph_available: false,
  snapshot_truncated: false,
  snapshot_degraded: false,
};

/** Age of a snapshot in milliseconds, never below 0. */
const ageOf = (receivedAtMs: Int64, nowMs: number) => (receivedAtMs >= nowMs ? 0 : nowMs - Number(receivedAtMs));

/** The *derived* status of a host, the rule of `docs/decisions.md` that decided it, and the reason codes that the rule adds. */
export interface Derived {
  status: FleetStatus;
  rule: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
  reasons: string[];
}

type RuleFields = Pick<HostRow, 'enabled' | 'capability_status' | 'report_interval_ms' | 'snapshot_ready'>;

/** The status of a host. @param nowMs the `generated_at_ms` of the answer */
export function deriveStatus(host: RuleFields, live: LiveStatus, nowMs: number): Derived {
  if (live !== UNREADABLE) return firstRule(host, live, nowMs);
  const { reasons, ...derived } = firstRule(host, undefined, nowMs);
  // Nobody knows whether it has reported.
  return { ...derived, reasons: [...reasons.filter((reason) => reason !== 'no_reports'), 'status_unavailable'] };
}

/** The first matching rule of the nine in `docs/decisions.md`. */
function firstRule(host: RuleFields, live: HostStatusRow | undefined, nowMs: number): Derived {
  const { capability_status: capabilityStatus } = host;
  const { received_at_ms: receivedAtMs, health_at_ms: healthAtMs, ...flags } = live ?? NO_REPORT;

  if (capabilityStatus === 'unsupported')
    return { rule: 1, status: 'unsupported', reasons: ['capability_unsupported'] };
  if (!host.enabled || capabilityStatus === 'disabled')
    return { rule: 2, status: 'disabled', reasons: ['collection_disabled'] };
  if (capabilityStatus === 'failed') return { rule: 3, status: 'degraded', reasons: ['collection_failed'] };
  if (receivedAtMs === undefined) {
    if (!host.snapshot_ready && (capabilityStatus !== undefined || healthAtMs !== undefined))
      return { rule: 4, status: 'initializing', reasons: ['snapshot_pending'] };
    if (healthAtMs !== undefined) return { rule: 5, status: 'degraded', reasons: ['snapshot_missing'] };
    return { rule: 6, status: 'no_data', reasons: ['no_reports'] };
  }
  if (!isFresh(host, receivedAtMs, nowMs)) return { rule: 7, status: 'stale', reasons: ['snapshot_stale'] };
  const impaired = [
    flags.snapshot_truncated && 'snapshot_truncated',
    flags.snapshot_degraded && 'snapshot_degraded',
    healthAtMs !== undefined && healthAtMs > receivedAtMs && 'health_newer_than_snapshot',
  ].filter((reason) => reason !== false);
  if (impaired.length > 0) return { rule: 8, status: 'degraded', reasons: impaired };
  return { rule: 9, status: 'active', reasons: [] };
}

/** Whether the latest snapshot is at most two report intervals old. */
function isFresh(
  { report_interval_ms }: Pick<HostRow, 'report_interval_ms'>,
  receivedAtMs: Int64,
  nowMs: number,
): boolean {
  // An interval beyond 2^53 is longer than any age, so rounding it does not matter.
  return ageOf(receivedAtMs, nowMs) <= 2 * Number(report_interval_ms ?? DEFAULT_INTERVAL_MS);
}

/** Builds the answer's item for a host. Optional fields without a value are omitted. */
export function fleetHost(host: HostRow, live: LiveStatus, nowMs: number): FleetHost {
  const unreadable = live === UNREADABLE;
  const report = unreadable ? undefined : live;
  const { received_at_ms: receivedAtMs, observed_at_ms: observedAtMs } = report ?? {};
  const { status, reasons } = deriveStatus(host, live, nowMs);
  const reportOrNone = report ?? NO_REPORT;
  const { texts, shownCodes, isCut } = boundedTexts(host, report);
  const { agent_version, edge_cluster, capability_status, capture_mode } = texts;
  const reasonCodes = [...new Set([...shownCodes, ...reasons, ...(isCut ? ['value_cut'] : [])])];
  return {
    host_id: host.host_id,
    agent_version,
    edge_cluster,
    servicemap: {
      enabled: host.enabled,
      status,
      ...(capability_status !== undefined && { capability_status }),
      ...(capture_mode !== undefined && { capture_mode }),
      ...(host.report_interval_ms !== undefined && { report_interval_ms: host.report_interval_ms }),
      snapshot_ready: host.snapshot_ready,
      authoritative: reportOrNone.authoritative,
      graph_available: reportOrNone.graph_available,
      freshness_status: receivedAtMs === undefined ? 'unknown' : isFresh(host, receivedAtMs, nowMs) ? 'fresh' : 'stale',
      ...(receivedAtMs !== undefined && { max_age_ms: ageOf(receivedAtMs, nowMs) }),
      ...(observedAtMs !== undefined && { observed_at_ms: observedAtMs }),
      ...(receivedAtMs !== undefined && { received_at_ms: receivedAtMs }),
      node_count: reportOrNone.node_count,
      edge_count: reportOrNone.edge_count,
      ...(reasonCodes.length > 0 && { reason_codes: reasonCodes }),
      ...(unreadable && { error_code: 'status_unavailable' as const }),
    },
  };
}

/** Texts are cut to this many code points, so that a page of 100 hosts stays below 4 MB. */
const MAX_TEXT_LENGTH = 256;
const MAX_REASON_CODE_LENGTH = 128;
const MAX_REASON_CODES = 32;

/** The texts and reason codes of a host's rows, each cut to its maximum length, and the codes to their maximum number. */
function boundedTexts(host: HostRow, report: HostStatusRow | undefined) {
  let isCut = false;
  const bounded = <Text extends string | undefined>(text: Text, maxLength = MAX_TEXT_LENGTH): Text => {
    if (text === undefined || text.length <= maxLength) return text;
    const cut = [...text.slice(0, 2 * maxLength)].slice(0, maxLength).join('') as Text & string;
    isCut ||= cut.length < text.length;
    return cut;
  };
  const texts = {
    agent_version: bounded(host.agent_version),
    edge_cluster: bounded(host.edge_cluster),
    capability_status: bounded(host.capability_status),
    capture_mode: bounded(host.capture_mode),
  };
  const reported = [...new Set([...(host.reason_codes ?? []), ...(report?.reason_codes ?? [])])];
  const shownCodes = reported.slice(0, MAX_REASON_CODES).map((code) => bounded(code, MAX_REASON_CODE_LENGTH));
  return { texts, shownCodes, isCut: isCut || reported.length > MAX_REASON_CODES };
}
