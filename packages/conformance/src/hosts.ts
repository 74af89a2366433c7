/** The fleet of the certificate: hosts in every state, with what the contract says of each. */
import type { HostRow, HostStatusRow } from '../../../lib/operations/browse-fleet/fleet-rows.ts';

/** Hosts with this interval keep their status for hours after loading. */
const INTERVAL_MS = 12 * 3_600_000;
/** An integer that a double cannot hold. */
export const BIG = 9_007_199_254_740_993n;

type Live = Omit<HostStatusRow, 'host_id'>;

export interface CertifiedHost {
  readonly host: HostRow;
  /** Time of its last report, relative to the time of loading; absent: never reported. */
  readonly live?: (nowMs: number) => Live;
  readonly status: string;
  readonly freshness: 'fresh' | 'stale' | 'unknown';
}

const running = {
  enabled: true,
  capability_status: 'running',
  capture_mode: 'ebpf',
  report_interval_ms: INTERVAL_MS,
  snapshot_ready: true,
};

/** A snapshot received `ageMs` before the loading. */
const snapshot =
  (ageMs: number, more: Partial<Live> = {}, healthAfterMs = -100) =>
  (nowMs: number): Live => ({
    received_at_ms: nowMs - ageMs,
    observed_at_ms: nowMs - ageMs - 350,
    node_count: 12,
    edge_count: 34,
    authoritative: true,
    graph_available: true,
    snapshot_truncated: false,
    snapshot_degraded: false,
    health_at_ms: nowMs - ageMs + healthAfterMs,
    ...more,
  });

/** A host that reports. */
const reporting = (
  host_id: string,
  status: string,
  agent_version: string,
  edge_cluster: string,
  live: (nowMs: number) => Live,
  more: Partial<HostRow> = {},
): CertifiedHost => ({
  host: { host_id, agent_version, edge_cluster, ...running, ...more },
  live,
  status,
  freshness: status === 'stale' ? 'stale' : 'fresh',
});

/** A host that never sent a snapshot. */
const silent = (host_id: string, status: string, more: Partial<HostRow> = {}): CertifiedHost => ({
  host: { host_id, agent_version: '3.0', edge_cluster: 'core-c', enabled: true, snapshot_ready: false, ...more },
  status,
  freshness: 'unknown',
});

const OUTDATED = snapshot(2.5 * INTERVAL_MS, { authoritative: false, graph_available: false });

/** In the order of their ids. Agent versions and clusters are chosen so that a filter by prefix would match too many. */
export const HOSTS: readonly CertifiedHost[] = [
  reporting('active', 'active', '2.0', 'core', snapshot(1_000)),
  reporting('active-polling', 'active', '2.0', 'core', snapshot(2_000), { capture_mode: 'polling' }),
  reporting('active-aging', 'active', '2.0.1', 'core', snapshot(1.5 * INTERVAL_MS)),
  reporting('active-big', 'active', '2.0.1', 'core-b', snapshot(3_000, { reason_codes: ['reported'] }), {
    report_interval_ms: BIG,
    reason_codes: ['own'],
  }),
  reporting('stale', 'stale', '2.0.1', 'core-b', OUTDATED),
  reporting('degraded-health', 'degraded', '2.1', 'core-b', snapshot(1_000, {}, 500)),
  reporting('degraded-truncated', 'degraded', '2.1', 'core-b', snapshot(1_000, { snapshot_truncated: true })),
  reporting('degraded-snapshot', 'degraded', '2.1', 'core-b', snapshot(1_000, { snapshot_degraded: true })),
  reporting('failing', 'degraded', '2.1', 'core-b', snapshot(1_000), { capability_status: 'failed' }),
  silent('initializing', 'initializing', { capability_status: 'starting', report_interval_ms: INTERVAL_MS }),
  silent('switched-off', 'disabled', { enabled: false }),
  silent('disabled', 'disabled', { capability_status: 'disabled' }),
  silent('unsupported', 'unsupported', { capability_status: 'unsupported' }),
  silent('no-data', 'no_data'),
  reporting('fresh-late', 'active', '2.2', 'core-d', snapshot(1.9 * INTERVAL_MS)),
  reporting('stale-early', 'stale', '2.2', 'core-d', snapshot(2.1 * INTERVAL_MS)),
  reporting('ahead', 'active', '2.2', 'core-d', snapshot(-INTERVAL_MS)),
  {
    ...silent('no-interval', 'stale', { capability_status: 'running', snapshot_ready: true }),
    live: snapshot(600_000),
    freshness: 'stale' as const,
  },
].map((one, index) => {
  const number = String(index + 1).padStart(2, '0');
  return { ...one, host: { ...one.host, host_id: `certify-${number}-${one.host.host_id}` } };
});

export const HOST_IDS = HOSTS.map(({ host }) => host.host_id);

/** Hosts of the large fleet: more than the default of `scan_limit`. */
export const LARGE_FLEET = 1_040;
/** Sorted after the others, in a cluster of their own. */
export const FILLERS: readonly HostRow[] = Array.from({ length: LARGE_FLEET }, (_, index) => ({
  host_id: `filler-${String(index).padStart(4, '0')}`,
  agent_version: '4.0',
  edge_cluster: 'filler',
  enabled: true,
  snapshot_ready: false,
}));

export const hostsWhere = (is: (host: CertifiedHost) => boolean) => HOSTS.filter(is).map(({ host }) => host.host_id);
