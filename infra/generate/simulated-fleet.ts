import { isDeepStrictEqual } from 'node:util';
import type { HostRow, HostStatusRow } from '../../lib/operations/browse-fleet/fleet-rows.ts';

/** A simulated fleet: the same seed gives the same fleet. */
export interface Simulation {
  seed: number;
  hosts: number;
  /** Milliseconds between two reports of a host. */
  intervalMs: number;
}

const CLUSTERS = ['ams-1', 'fra-1', 'fra-2', 'iad-1', 'sin-1', 'syd-1'];
const VERSIONS = ['4.9.8', '4.10.7', '4.11.2', '4.12.0'];
/** Reports per host in a phase. At each new phase a host may upgrade, stop reporting, fail, or recover. */
export const PHASE_ROUNDS = 10;

/** A number from 0 to 1 (exclusive) that is always the same for the same numbers: the 32-bit finalizer of MurmurHash3. */
function chance(...numbers: number[]): number {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ number, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return (hash >>> 0) / 2 ** 32;
}

const pick = <Value>(values: readonly Value[], fraction: number): Value =>
  values[Math.floor(fraction * values.length)] as Value;

/** `silent`: the host stopped reporting recently; `stale`: it stopped long ago. */
export type Condition = 'active' | 'truncated' | 'degraded' | 'health_newer' | 'failed' | 'silent' | 'stale' | Unready;
type Unready = 'initializing' | 'disabled' | 'unsupported' | 'no_data';

/** A host's condition in a phase. Most hosts are healthy; a few are unsupported or disabled in all phases. */
function conditionOf({ seed }: Simulation, index: number, phase: number): Condition {
  const permanentDraw = chance(seed, index, 2);
  if (permanentDraw < 0.01) return 'unsupported';
  if (permanentDraw < 0.03) return 'disabled';
  const draw = chance(seed, index, 3, phase);
  if (draw < 0.02) return 'failed';
  if (draw < 0.05) return 'silent';
  if (draw < 0.07) return 'truncated';
  if (draw < 0.09) return 'degraded';
  return draw < 0.1 && phase === 0 ? 'initializing' : 'active';
}

function versionOf({ seed }: Simulation, index: number, phase: number): string {
  const first = Math.floor(chance(seed, index, 4) * VERSIONS.length);
  let upgrades = 0;
  for (let step = 1; step <= phase; step += 1) if (chance(seed, index, 5, step) < 0.1) upgrades += 1;
  return VERSIONS[Math.min(VERSIONS.length - 1, first + upgrades)] as string;
}

/**
 * What a host reports in a round. The inventory is reported in the first round and when it changes, health and snapshot in
 * every round in which the host is not silent. What is not reported stays as it was.
 * @param round counts from 0
 */
export function reportOf(simulation: Simulation, index: number, round: number, nowMs: number) {
  const phase = Math.floor(round / PHASE_ROUNDS);
  const condition = conditionOf(simulation, index, phase);
  const host = inventoryOf(simulation, index, phase);
  const hasChanged = () => !isDeepStrictEqual(host, inventoryOf(simulation, index, phase - 1));
  const reportsInventory = round === 0 || (round % PHASE_ROUNDS === 0 && hasChanged());
  // A host that is silent from the start last reported long ago.
  const isSilentFromStart = condition === 'silent' && round === 0;
  const reportsStatus = isSilentFromStart || (condition !== 'silent' && hasReports(condition));
  const size = [chance(simulation.seed, index, 7, round), chance(simulation.seed, index, 8, round)] as const;
  const atMs = isSilentFromStart ? nowMs - 600_000 : nowMs;
  return {
    ...(reportsInventory && { host }),
    ...(reportsStatus && { status: statusIn(condition, host.host_id, atMs, size) }),
  };
}

function inventoryOf(simulation: Simulation, index: number, phase: number): HostRow {
  const { seed, intervalMs } = simulation;
  const edge_cluster = pick(CLUSTERS, chance(seed, index, 1));
  return inventoryIn(conditionOf(simulation, index, phase), {
    host_id: `${edge_cluster}-sim-${String(index).padStart(7, '0')}`,
    agent_version: versionOf(simulation, index, phase),
    edge_cluster,
    capture_mode: chance(seed, index, 6) < 0.8 ? 'ebpf' : 'polling',
    report_interval_ms: intervalMs,
  });
}

/** The `capability_status`, if it is not `running`. */
const CAPABILITIES: Readonly<Partial<Record<Condition, string>>> = {
  failed: 'failed',
  initializing: 'starting',
  disabled: 'disabled',
  unsupported: 'unsupported',
};

export const hasReports = (condition: Condition) => !['disabled', 'unsupported', 'no_data'].includes(condition);
export const hasSnapshot = (condition: Condition) => hasReports(condition) && condition !== 'initializing';

/** The inventory row of a host in some condition. */
export const inventoryIn = (
  condition: Condition,
  host: Omit<HostRow, 'enabled' | 'capability_status' | 'snapshot_ready' | 'reason_codes'>,
): HostRow => ({
  ...host,
  enabled: condition !== 'disabled',
  ...(condition !== 'no_data' && { capability_status: CAPABILITIES[condition] ?? 'running' }),
  snapshot_ready: hasSnapshot(condition),
  ...(condition === 'unsupported' && { reason_codes: ['kernel_too_old'] }),
});

/** The record that a host sends for its status row. Without a snapshot, the record has none of the snapshot's fields. */
export function reportedStatus(status: HostStatusRow): Partial<HostStatusRow> {
  const { node_count: _nodes, edge_count: _edges, ...health } = status;
  return status.received_at_ms === undefined ? health : status;
}

/** The status row of a host in some condition. @param size how many nodes and edges the graph has, each as a fraction from 0 to 1 */
export function statusIn(
  condition: Condition,
  host_id: string,
  atMs: number,
  size: readonly [nodes: number, edges: number],
): HostStatusRow {
  const ready = hasSnapshot(condition);
  const nodes = 8 + Math.floor(size[0] * 60);
  return {
    host_id,
    ...(ready && { received_at_ms: atMs, observed_at_ms: atMs - 350 }),
    node_count: ready ? nodes : 0,
    edge_count: ready ? Math.floor(nodes * (1.2 + size[1])) : 0,
    authoritative: ready && condition !== 'stale',
    graph_available: ready,
    snapshot_truncated: condition === 'truncated',
    snapshot_degraded: condition === 'degraded',
    health_at_ms: atMs + (condition === 'health_newer' ? 1_500 : -100),
    ...(condition === 'truncated' && { reason_codes: ['too_many_edges'] }),
  };
}
