/** The fleet of the certificate: hosts in every state, each with the status that the contract requires. */
import type { HostRow } from '../../../lib/model/host.ts';
import type { HostStatusRow } from '../../../lib/model/host-status.ts';

/** Hosts with this interval keep their status for hours after the import. */
const INTERVAL_MS = 12 * 3_600_000;
/** An integer that a double cannot hold. */
export const BIG = 9_007_199_254_740_993n;

/** As far ahead of the import as a report's times may be, or a little less. */
const AHEAD_MS = 4 * 60_000;

type Report = Omit<HostStatusRow, 'host_id'>;

export interface CertifiedHost {
  readonly host: HostRow;
  /** Makes its last report, given the time of the import; absent: the host never reported. */
  readonly live?: ((nowMs: number) => Report) | undefined;
  readonly status: string;
}

/** A report whose snapshot was received `ageMs` before the import. Its health data is newer by `healthAfterMs`. */
const snapshot =
  (ageMs: number, changes: Partial<Report> = {}, healthAfterMs = -100) =>
  (nowMs: number): Report => ({
    received_at_ms: nowMs - ageMs,
    observed_at_ms: nowMs - ageMs - 350,
    node_count: 12,
    edge_count: 34,
    authoritative: true,
    graph_available: true,
    snapshot_truncated: false,
    snapshot_degraded: false,
    health_at_ms: nowMs - ageMs + healthAfterMs,
    ...changes,
  });

type Inventory = Omit<HostRow, 'host_id'>;

/** The inventory of a host that reports. */
const running = (agent_version: string, edge_cluster: string, changes: Partial<Inventory> = {}): Inventory => ({
  agent_version,
  edge_cluster,
  enabled: true,
  snapshot_ready: true,
  capability_status: 'running',
  capture_mode: 'ebpf',
  report_interval_ms: INTERVAL_MS,
  ...changes,
});

/** The short inventory of a host that never sent a snapshot. */
const silent = (changes: Partial<Inventory> = {}): Inventory => ({
  agent_version: '3.0',
  edge_cluster: 'core-c',
  enabled: true,
  snapshot_ready: false,
  ...changes,
});

const OUTDATED = snapshot(2.5 * INTERVAL_MS, { authoritative: false, graph_available: false });
/** The longest interval that an import takes: a week. */
const LONGEST = { report_interval_ms: 604_800_000, reason_codes: ['own'] };

/** Agent versions and clusters are chosen so that a filter by prefix would match too many. */
const FLEET: [name: string, status: string, Inventory, live?: (nowMs: number) => Report][] = [
  ['active', 'active', running('2.0', 'core'), snapshot(1_000)],
  ['active-polling', 'active', running('2.0', 'core', { capture_mode: 'polling' }), snapshot(2_000)],
  ['active-aging', 'active', running('2.0.1', 'core'), snapshot(1.5 * INTERVAL_MS)],
  ['active-longest', 'active', running('2.0.1', 'core-b', LONGEST), snapshot(3_000, { reason_codes: ['reported'] })],
  ['stale', 'stale', running('2.0.1', 'core-b'), OUTDATED],
  ['degraded-health', 'degraded', running('2.1', 'core-b'), snapshot(1_000, {}, 500)],
  ['degraded-truncated', 'degraded', running('2.1', 'core-b'), snapshot(1_000, { snapshot_truncated: true })],
  ['degraded-snapshot', 'degraded', running('2.1', 'core-b'), snapshot(1_000, { snapshot_degraded: true })],
  ['failing', 'degraded', running('2.1', 'core-b', { capability_status: 'failed' }), snapshot(1_000)],
  ['initializing', 'initializing', silent({ capability_status: 'starting', report_interval_ms: INTERVAL_MS })],
  ['switched-off', 'disabled', silent({ enabled: false })],
  ['disabled', 'disabled', silent({ capability_status: 'disabled' })],
  ['unsupported', 'unsupported', silent({ capability_status: 'unsupported' })],
  ['no-data', 'no_data', silent()],
  ['fresh-late', 'active', running('2.2', 'core-d'), snapshot(1.9 * INTERVAL_MS)],
  ['stale-early', 'stale', running('2.2', 'core-d'), snapshot(2.1 * INTERVAL_MS)],
  ['ahead', 'active', running('2.2', 'core-d'), snapshot(-AHEAD_MS)],
  ['no-interval', 'stale', silent({ capability_status: 'running', snapshot_ready: true }), snapshot(600_000)],
];

/** In the order of their ids. */
export const HOSTS: readonly CertifiedHost[] = FLEET.map(([name, status, inventory, live], index) => ({
  host: { host_id: `certify-${String(index + 1).padStart(2, '0')}-${name}`, ...inventory },
  status,
  live,
}));

export interface Filter {
  statuses?: string[];
  agent_versions?: string[];
  edge_clusters?: string[];
  capture_modes?: string[];
}

const accepts = (values: string[] = [], value: string) => values.length === 0 || values.includes(value);

/** Ids of the hosts that match a filter according to the contract. */
export const matching = (filter: Filter = {}): string[] =>
  HOSTS.filter(
    ({ status, host }) =>
      accepts(filter.statuses, status) &&
      accepts(filter.agent_versions, host.agent_version) &&
      accepts(filter.edge_clusters, host.edge_cluster) &&
      accepts(filter.capture_modes, host.capture_mode ?? 'unknown'),
  ).map(({ host }) => host.host_id);

/** Number of hosts of the large fleet: more than the default of `scan_limit`. */
export const LARGE_FLEET = 1_040;
/** Hosts that make the fleet large. Their ids sort after those of the other hosts, and they have a cluster of their own. */
export const FILLERS: readonly HostRow[] = Array.from({ length: LARGE_FLEET - HOSTS.length }, (_, index) => ({
  host_id: `filler-${String(index).padStart(4, '0')}`,
  agent_version: '4.0',
  edge_cluster: 'filler',
  enabled: true,
  snapshot_ready: false,
}));
