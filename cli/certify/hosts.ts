/** The fleet of the certificate: hosts in every state, with what the contract says of each. */
import type { HostRow, HostStatusRow } from '../../lib/fleet/rows.ts';

/** Hosts with this interval keep their status for hours after loading. */
const INTERVAL_MS = 12 * 3_600_000;
/** An integer that a double cannot hold. */
export const BIG = 9_007_199_254_740_993n;

type Live = Omit<HostStatusRow, 'host_id'>;

export interface CertifiedHost {
  readonly host: HostRow;
  /** Its last report, relative to the time of loading; absent: never reported. */
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

/** A snapshot that came `ageMs` before the loading. */
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

const fresh = (status: string) => ({ status, freshness: 'fresh' as const });
const unknown = (status: string) => ({ status, freshness: 'unknown' as const });

/** Agent versions and clusters are such that a filter by prefix would find too many. */
const UNNUMBERED: CertifiedHost[] = [
  { ...at('active', '2.0', 'core'), live: snapshot(1_000), ...fresh('active') },
  { ...at('active-polling', '2.0', 'core', { capture_mode: 'polling' }), live: snapshot(2_000), ...fresh('active') },
  { ...at('active-aging', '2.0.1', 'core'), live: snapshot(1.5 * INTERVAL_MS), ...fresh('active') },
  {
    ...at('active-big', '2.0.1', 'core-b', { report_interval_ms: BIG, reason_codes: ['own'] }),
    live: snapshot(3_000, { reason_codes: ['reported'] }),
    ...fresh('active'),
  },
  {
    ...at('stale', '2.0.1', 'core-b'),
    live: snapshot(2.5 * INTERVAL_MS, { authoritative: false, graph_available: false }),
    status: 'stale',
    freshness: 'stale',
  },
  { ...at('degraded-health', '2.1', 'core-b'), live: snapshot(1_000, {}, 500), ...fresh('degraded') },
  {
    ...at('degraded-truncated', '2.1', 'core-b'),
    live: snapshot(1_000, { snapshot_truncated: true }),
    ...fresh('degraded'),
  },
  {
    ...at('degraded-snapshot', '2.1', 'core-b'),
    live: snapshot(1_000, { snapshot_degraded: true }),
    ...fresh('degraded'),
  },
  { ...at('failing', '2.1', 'core-b', { capability_status: 'failed' }), live: snapshot(1_000), ...fresh('degraded') },
  {
    ...silent('initializing', { capability_status: 'starting', report_interval_ms: INTERVAL_MS }),
    ...unknown('initializing'),
  },
  { ...silent('switched-off', { enabled: false }), ...unknown('disabled') },
  { ...silent('disabled', { capability_status: 'disabled' }), ...unknown('disabled') },
  { ...silent('unsupported', { capability_status: 'unsupported' }), ...unknown('unsupported') },
  { ...silent('no-data'), ...unknown('no_data') },
];

/** In the order of their ids. */
export const HOSTS: readonly CertifiedHost[] = UNNUMBERED.map((one, index) => {
  const number = String(index + 1).padStart(2, '0');
  return { ...one, host: { ...one.host, host_id: `certify-${number}-${one.host.host_id}` } };
});

export const HOST_IDS = HOSTS.map(({ host }) => host.host_id);

/** A host that reports. */
function at(host_id: string, agent_version: string, edge_cluster: string, more: Partial<HostRow> = {}) {
  return { host: { host_id, agent_version, edge_cluster, ...running, ...more } };
}

/** A host that never sent a snapshot. */
function silent(host_id: string, more: Partial<HostRow> = {}) {
  const host = { host_id, agent_version: '3.0', edge_cluster: 'core-c', enabled: true, snapshot_ready: false };
  return { host: { ...host, ...more } };
}

/** Hosts of the large fleet: more than the default of `scan_limit`. */
export const LARGE_FLEET = 1_040;
/** After the others in order, in a cluster of their own. */
export const FILLERS: readonly HostRow[] = Array.from({ length: LARGE_FLEET }, (_, index) => ({
  host_id: `filler-${String(index).padStart(4, '0')}`,
  agent_version: '4.0',
  edge_cluster: 'filler',
  enabled: true,
  snapshot_ready: false,
}));

export const hostsWhere = (is: (host: CertifiedHost) => boolean) => HOSTS.filter(is).map(({ host }) => host.host_id);
