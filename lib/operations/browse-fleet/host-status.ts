import type { browseFleet, ResponseOf } from '../../http/operations.ts';
import type { Int64 } from '../../shared/json.ts';
import { type HostRow, type HostStatusRow, type LiveStatus, UNREADABLE } from './fleet-rows.ts';

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

/** The status of a host, the rule of `docs/decisions.md` that decided it, and the reason codes that the rule adds. */
export interface Derived {
  status: FleetStatus;
  rule: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
  reasons: string[];
}

/**
 * The status of a host: the first matching rule of the nine in `docs/decisions.md`.
 * @param nowMs the `generated_at_ms` of the answer
 */
export function deriveStatus(
  host: Pick<HostRow, 'enabled' | 'capability_status' | 'report_interval_ms' | 'snapshot_ready'>,
  live: Omit<HostStatusRow, 'host_id'> | undefined,
  nowMs: number,
): Derived {
  const { capability_status: capability } = host;
  const { received_at_ms: received, health_at_ms: health, ...snapshot } = live ?? NO_REPORT;

  if (capability === 'unsupported') return { rule: 1, status: 'unsupported', reasons: ['capability_unsupported'] };
  if (!host.enabled || capability === 'disabled')
    return { rule: 2, status: 'disabled', reasons: ['collection_disabled'] };
  if (capability === 'failed') return { rule: 3, status: 'degraded', reasons: ['collection_failed'] };
  if (received === undefined) {
    if (!host.snapshot_ready && (capability !== undefined || health !== undefined))
      return { rule: 4, status: 'initializing', reasons: ['snapshot_pending'] };
    if (health !== undefined) return { rule: 5, status: 'degraded', reasons: ['snapshot_missing'] };
    return { rule: 6, status: 'no_data', reasons: ['no_reports'] };
  }
  if (!isFresh(host, received, nowMs)) return { rule: 7, status: 'stale', reasons: ['snapshot_stale'] };
  const impaired = [
    snapshot.snapshot_truncated && 'snapshot_truncated',
    snapshot.snapshot_degraded && 'snapshot_degraded',
    health !== undefined && health > received && 'health_newer_than_snapshot',
  ].filter((reason) => reason !== false);
  if (impaired.length > 0) return { rule: 8, status: 'degraded', reasons: impaired };
  return { rule: 9, status: 'active', reasons: [] };
}

/** Whether the latest snapshot is at most two report intervals old. */
function isFresh({ report_interval_ms }: Pick<HostRow, 'report_interval_ms'>, received: Int64, nowMs: number): boolean {
  // An interval beyond 2^53 is longer than any age, so rounding it does not matter.
  return ageOf(received, nowMs) <= 2 * Number(report_interval_ms ?? DEFAULT_INTERVAL_MS);
}

/** Builds the answer's item for a host. Optional fields without a value are omitted. */
export function fleetHost(host: HostRow, live: LiveStatus, nowMs: number): FleetHost {
  const unreadable = live === UNREADABLE;
  const report = unreadable ? undefined : live;
  const { received_at_ms: received, observed_at_ms: observed } = report ?? {};
  const { status, reasons } = deriveStatus(host, report, nowMs);
  const counts = report ?? NO_REPORT;
  const { texts, codes, isCut } = boundedTexts(host, report);
  const { agent_version, edge_cluster, capability_status, capture_mode } = texts;
  const reasonCodes = [
    ...new Set([...codes, ...reasons, ...(unreadable ? ['status_unavailable'] : []), ...(isCut ? ['value_cut'] : [])]),
  ];
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
      authoritative: counts.authoritative,
      graph_available: counts.graph_available,
      freshness_status: received === undefined ? 'unknown' : isFresh(host, received, nowMs) ? 'fresh' : 'stale',
      ...(received !== undefined && { max_age_ms: ageOf(received, nowMs) }),
      ...(observed !== undefined && { observed_at_ms: observed }),
      ...(received !== undefined && { received_at_ms: received }),
      node_count: counts.node_count,
      edge_count: counts.edge_count,
      ...(reasonCodes.length > 0 && { reason_codes: reasonCodes }),
      ...(unreadable && { error_code: 'status_unavailable' as const }),
    },
  };
}

/** Texts are cut to this many code points, so that a page of 100 hosts stays below 4 MB. */
const MAX_TEXT_LENGTH = 256;
const MAX_REASON_CODE = 128;
const MAX_REASON_CODES = 32;

/** The texts of a host's rows, cut to their maximum. */
function boundedTexts(host: HostRow, report: HostStatusRow | undefined) {
  let isCut = false;
  const bounded = <Text extends string | undefined>(text: Text, longest = MAX_TEXT_LENGTH): Text => {
    if (text === undefined || text.length <= longest) return text;
    const cut = [...text.slice(0, 2 * longest)].slice(0, longest).join('') as Text & string;
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
  const codes = reported.slice(0, MAX_REASON_CODES).map((code) => bounded(code, MAX_REASON_CODE));
  return { texts, codes, isCut: isCut || reported.length > MAX_REASON_CODES };
}
