/** Accounts and fleets as lines of the data format, and alerts as rows. */
import { randomBytes } from 'node:crypto';
import type { Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { forEach } from '../../lib/dynamodb/pool.ts';
import { putRow } from '../../lib/dynamodb/row.ts';

export const hostName = (index: number) => `fra-1-edge-${String(index).padStart(6, '0')}`;

export const accountLines = (account_id: number, app_key: string) => [
  JSON.stringify({ kind: 'account', account_id, name: 'Bench', permissions: ['monit'] }),
  JSON.stringify({ kind: 'app_key', account_id, app_key }),
];

/** A fleet whose rows have the usual size: about 180 bytes of inventory and 270 of live status. */
export function fleetLines(account_id: number, count: number, nowMs: number): string[] {
  const host = {
    agent_version: '4.11.2',
    edge_cluster: 'fra-1',
    enabled: true,
    capability_status: 'running',
    capture_mode: 'ebpf',
    report_interval_ms: 30_000,
    snapshot_ready: true,
  };
  const status = {
    received_at_ms: nowMs,
    observed_at_ms: nowMs - 350,
    node_count: 40,
    edge_count: 60,
    authoritative: true,
    graph_available: true,
    snapshot_truncated: false,
    snapshot_degraded: false,
    health_at_ms: nowMs - 100,
    reason_codes: ['kernel_headers_missing_for_probe'],
  };
  return Array.from({ length: count }, (_, index) => hostName(index)).flatMap((host_id) => [
    JSON.stringify({ kind: 'host', account_id, host_id, ...host }),
    JSON.stringify({ kind: 'host_status', account_id, host_id, ...status }),
  ]);
}

export const objectIds = (count: number) => Array.from({ length: count }, () => randomBytes(12).toString('hex'));

/** Creates alerts, and an incident to merge them into. */
export async function createAlerts(table: Table, account: number, count: number) {
  const ids = objectIds(count);
  const [incident = ''] = objectIds(1);
  await forEach(ids, (id) => putRow(table, { ...keys.alert(account, id), alert_id: id, title: 'p99 above threshold' }));
  await putRow(table, { ...keys.incident(account, incident), incident_id: incident, title: 'Checkout is down' });
  return { ids, incident };
}
