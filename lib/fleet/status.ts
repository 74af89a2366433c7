import type { browseFleet, ResponseOf } from '../api/operations.ts';
import type { Int64 } from '../json.ts';

export type FleetHost = ResponseOf<typeof browseFleet>['items'][number];
export type ServiceMap = FleetHost['servicemap'];
export type FleetStatus = ServiceMap['status'];

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

/** Stands for a live row that exists, perhaps, but could not be read. */
export const UNREADABLE = Symbol('status unreadable');
export type LiveStatus = HostStatusRow | typeof UNREADABLE | undefined;

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

/** The status of a host, the rule of the table that decided it, and the reason codes that the rule adds. */
export interface Derived {
  status: FleetStatus;
  rule: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
  reasons: string[];
}

/**
 * The status of a host: of the nine rules in `docs/decisions.md` the first that holds.
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

/** Whether the latest snapshot came within twice the report interval. */
function isFresh({ report_interval_ms }: Pick<HostRow, 'report_interval_ms'>, received: Int64, nowMs: number): boolean {
  // An interval beyond 2^53 is longer than any age, so that its rounding here decides nothing.
  return ageOf(received, nowMs) <= 2 * Number(report_interval_ms ?? DEFAULT_INTERVAL_MS);
}

/** A host as the API shows it; an optional field without a value is left out. */
export function fleetHost(host: HostRow, live: LiveStatus, nowMs: number): FleetHost {
  const unreadable = live === UNREADABLE;
  const report = unreadable ? undefined : live;
  const { received_at_ms: received, observed_at_ms: observed } = report ?? {};
  const { status, reasons } = deriveStatus(host, report, nowMs);
  const counts = report ?? NO_REPORT;
  const reasonCodes = [
    ...new Set([
      ...(host.reason_codes ?? []),
      ...(report?.reason_codes ?? []),
      ...reasons,
      ...(unreadable ? ['status_unavailable'] : []),
    ]),
  ];
  return {
    host_id: host.host_id,
    agent_version: host.agent_version,
    edge_cluster: host.edge_cluster,
    servicemap: {
      enabled: host.enabled,
      status,
      ...(host.capability_status !== undefined && { capability_status: host.capability_status }),
      ...(host.capture_mode !== undefined && { capture_mode: host.capture_mode }),
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
