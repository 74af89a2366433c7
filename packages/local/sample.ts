/** Sample data: two accounts, a fleet in all seven statuses, open incidents, alerts of each severity. Deterministic except for times. */
import { createHash } from 'node:crypto';
import { PERMISSIONS } from '../../lib/model/account.ts';
import type { KindModel } from '../../lib/model/fields.ts';
import type { HostRow } from '../../lib/model/host.ts';
import type { HostStatusRow } from '../../lib/model/host-status.ts';
import { orderOf } from '../../lib/model/order.ts';
import { rumResource, rumUsage } from '../../lib/model/rum.ts';
import { getRumResource } from '../../lib/operations/get-rum-resource/schema.ts';
import { stringifyJson } from '../../lib/shared/json.ts';

/** The app keys of the sample. They are public, so only for local use. */
export const DEMO_KEYS = {
  demo: 'demo-key-of-account-1-for-local-use-only-00',
  withoutPermission: 'demo-key-of-account-2-without-monit-0000000',
  expired: 'demo-key-of-account-1-that-has-expired-0000',
  revoked: 'demo-key-of-account-1-that-is-revoked-00000',
} as const;

const CLUSTERS = ['fra-1', 'fra-2', 'iad-1', 'nrt-1', 'sin-1', 'gru-1'] as const;
const VERSIONS = ['4.11.2', '4.11.0', '4.10.7', '4.9.3'] as const;
const ROLES = ['edge', 'gateway', 'worker', 'db', 'cache'] as const;
const HOSTS = 600;

const line = (kind: string, fields: object, account_id = 1) => stringifyJson({ kind, account_id, ...fields });

/** An ObjectID that is always the same for a name. */
export const sampleId = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 24);

/** When the members were stored; the incidents were created later. The times are fixed, so that documents can show ids. */
const BEGAN_MS = Date.UTC(2026, 0, 12, 8, 30);
const CREATION_INTERVAL_MS = 29 * 3_600_000;
const createdMs = (incident: number) => BEGAN_MS + (incident + 1) * CREATION_INTERVAL_MS;

/** The id of an incident: an ObjectID, which begins with the Unix seconds of its creation. */
export const sampleIncidentId = (index: number) =>
  (createdMs(index) / 1_000).toString(16) + sampleId(`incident ${index}`).slice(8);

/** A number from 0 to 1 (exclusive) that is always the same for a name. */
const chance = (name: string) => createHash('sha256').update(name).digest().readUInt32BE(0) / 2 ** 32;
const pick = <Value>(values: readonly [Value, ...Value[]], name: string): Value =>
  values[Math.floor(chance(name) * values.length)] ?? values[0];

/** More hosts of this cluster are stale, as if its network failed. */
const WORST_CLUSTER = 'fra-2';

/** Of 50 hosts of a cluster, those below each number are in its condition. Most are healthy; the rest cover every other state. */
const CONDITIONS = [
  [34, 'active'],
  [36, 'truncated'],
  [38, 'degraded'],
  [39, 'health_newer'],
  [40, 'failed'],
  [43, 'stale'],
  [45, 'initializing'],
  [47, 'disabled'],
  [49, 'unsupported'],
  [50, 'no_data'],
] as const;
type Condition = (typeof CONDITIONS)[number][1];

function conditionOf(index: number, cluster: string): Condition {
  const slot = index % 50;
  if (cluster === WORST_CLUSTER && slot < 10) return 'stale';
  return CONDITIONS.find(([end]) => slot < end)?.[1] ?? 'no_data';
}

/** The `capability_status`, if it is not `running`. */
const CAPABILITIES: Readonly<Partial<Record<Condition, string>>> = {
  failed: 'failed',
  initializing: 'starting',
  disabled: 'disabled',
  unsupported: 'unsupported',
};

const hasReports = (condition: Condition) => !['disabled', 'unsupported', 'no_data'].includes(condition);
const hasSnapshot = (condition: Condition) => hasReports(condition) && condition !== 'initializing';

/** The inventory row of a host in some condition. */
const inventoryIn = (
  condition: Condition,
  host: Omit<HostRow, 'enabled' | 'capability_status' | 'snapshot_ready' | 'reason_codes'>,
): HostRow => ({
  ...host,
  enabled: condition !== 'disabled',
  ...(condition !== 'no_data' && { capability_status: CAPABILITIES[condition] ?? 'running' }),
  snapshot_ready: hasSnapshot(condition),
  ...(condition === 'unsupported' && { reason_codes: ['kernel_too_old'] }),
});

/**
 * What a host in some condition reports. Without a snapshot, the report has none of the snapshot's fields.
 * @param size how many nodes and edges the graph has, each as a fraction from 0 to 1
 */
function reportIn(
  condition: Condition,
  host_id: string,
  atMs: number,
  size: readonly [nodes: number, edges: number],
): Partial<HostStatusRow> {
  const ready = hasSnapshot(condition);
  const nodes = 8 + Math.floor(size[0] * 60);
  return {
    host_id,
    ...(ready && {
      received_at_ms: atMs,
      observed_at_ms: atMs - 350,
      node_count: nodes,
      edge_count: Math.floor(nodes * (1.2 + size[1])),
    }),
    authoritative: ready && condition !== 'stale',
    graph_available: ready,
    snapshot_truncated: condition === 'truncated',
    snapshot_degraded: condition === 'degraded',
    health_at_ms: atMs + (condition === 'health_newer' ? 1_500 : -100),
    ...(condition === 'truncated' && { reason_codes: ['too_many_edges'] }),
  };
}

/** The time between two reports of a host. */
export const SAMPLE_INTERVAL_MS = 30_000;
/** The interval of hosts that report only once: it is so long that they stay fresh for a day. */
const LONG_INTERVAL_MS = 12 * 3_600_000;

function sampleHost(index: number) {
  const cluster = CLUSTERS[index % CLUSTERS.length] ?? CLUSTERS[0];
  const host_id = `${cluster}-${pick(ROLES, `role ${index}`)}-${String(index).padStart(4, '0')}`;
  return { cluster, host_id, condition: conditionOf(Math.floor(index / CLUSTERS.length), cluster) };
}

function hostLines(index: number, nowMs: number, intervalMs: number): string[] {
  const { cluster, host_id, condition } = sampleHost(index);
  const host = inventoryIn(condition, {
    host_id,
    agent_version: pick(VERSIONS, `version ${index}`),
    edge_cluster: cluster,
    ...(hasSnapshot(condition) && { capture_mode: chance(`mode ${index}`) < 0.8 ? 'ebpf' : 'polling' }),
    report_interval_ms: condition === 'stale' ? SAMPLE_INTERVAL_MS : intervalMs,
  });
  if (!hasReports(condition)) return [line('host', host)];
  const atMs = nowMs - (condition === 'stale' ? 600_000 : 2_000) - Math.floor(chance(`age ${index}`) * 20_000);
  const report = reportIn(condition, host_id, atMs, [chance(`nodes ${index}`), chance(`edges ${index}`)]);
  return [line('host', host), line('host_status', report)];
}

/** Rounds after which other hosts stop reporting, or degrade. */
const PHASE_ROUNDS = 10;

/**
 * What the hosts of one slot report in a round, as records for the ingest queue. Now and then an active host stops reporting for some
 * rounds, or degrades.
 * @param slot from 0 to `slots` - 1; each host has one
 */
export function sampleReports(slot: number, slots: number, round: number, nowMs: number): string[] {
  const lines: string[] = [];
  for (let index = slot; index < HOSTS; index += slots) {
    const { host_id, condition } = sampleHost(index);
    const draw = chance(`phase ${Math.floor(round / PHASE_ROUNDS)} ${index}`);
    const isSilent = condition === 'stale' || (condition === 'active' && draw < 0.03);
    if (isSilent || !hasReports(condition)) continue;
    const size = [chance(`nodes ${index} ${round}`), chance(`edges ${index} ${round}`)] as const;
    const report = reportIn(condition === 'active' && draw > 0.96 ? 'degraded' : condition, host_id, nowMs, size);
    lines.push(line('host_status', report));
  }
  return lines;
}

const INCIDENTS = [
  'Checkout latency above 2 s in eu-central',
  'Login errors after the 14:00 rollout',
  'Packet loss between fra-1 and fra-2',
  'Search index lags by 20 minutes',
  'Payment provider returns 502',
  'Disk pressure on the event store',
  'Certificate of the public API expires in 3 days',
  'Session replay uploads time out',
] as const;
const ALERTS = ['p99 above threshold', 'error rate above 5 %', 'health check failed', 'queue depth rising'] as const;

/** The statuses of those alerts that have keys, by their indexes. */
const STATUSES: Readonly<Record<number, 'Critical' | 'Warning' | 'Info' | 'Ok'>> = {
  0: 'Critical',
  1: 'Warning',
  2: 'Info',
  3: 'Ok',
  12: 'Warning',
  13: 'Critical',
  14: 'Warning',
  15: 'Info',
};

/** The first alert is one that the README's notification sends again. */
const NOTIFIED = {
  alert_key: 'alertmanager 9a1c0f3f6ed1c1a4',
  title: 'Disk 7 is full',
  labels: { alertname: 'DiskFull', instance: 'db-7', severity: 'critical' },
  source_url: undefined,
};

/** What an alert with a key has. With its order, as in an export, it keeps the id of the sample. */
function keyedFields(index: number, title: string, nowMs: number): object {
  const status = STATUSES[index];
  if (status === undefined) return {};
  const started_at_ms = nowMs - (index + 1) * 480_000;
  const cluster = CLUSTERS[index % CLUSTERS.length];
  const order = orderOf(nowMs - 60_000, { sentMs: nowMs - 60_000, messageId: 'sample', line: index + 1 });
  return {
    alert_key: title,
    alert_status: status,
    key_order: Buffer.from(order).toString('hex'),
    labels: { cluster, team: 'network' },
    source_url: `https://grafana.example.com/d/clusters?var-cluster=${cluster}`,
    started_at_ms,
    ...(status === 'Ok' && { alert_severity: 'Warning', ended_at_ms: nowMs - 60_000 }),
    ...(index === 0 && NOTIFIED),
  };
}

function incidentLines(nowMs: number): string[] {
  const incidents = INCIDENTS.map((title, index) => {
    const owner = index % 3 !== 2 && { owner_id: 101 + (index % 4) };
    return line('incident', { incident_id: sampleIncidentId(index), at_ms: createdMs(index), title, ...owner });
  });
  const alerts = Array.from({ length: 60 }, (_, index) => {
    const title = `${pick(ALERTS, `alert ${index}`)} on ${CLUSTERS[index % CLUSTERS.length]}`;
    const incident = index >= 12 && { incident_id: sampleIncidentId(index % INCIDENTS.length) };
    return line('alert', {
      alert_id: sampleId(`alert ${index}`),
      title,
      ...incident,
      ...keyedFields(index, title, nowMs),
    });
  });
  return [...incidents, ...alerts];
}

const MEMBERS = ['Ada Okafor', 'Jonas Weber', 'Mei Tanaka', 'Luiz Pereira'] as const;
const WORK_ITEMS = [
  'Raise the timeout',
  'Write the post-mortem',
  'Page the database owner',
  'Roll back to 4.10.7',
] as const;

/** The example of the operation, with times about now. */
function rumLines(nowSeconds: number): string[] {
  const day = 86_400;
  const { account_id: _account, ...example } = getRumResource.example.data;
  const times = {
    created_at: nowSeconds - 210 * day,
    updated_at: nowSeconds - 3 * day,
    window_start_time: nowSeconds - 12 * day,
    window_end_time: nowSeconds + 18 * day,
  };
  const fields = Object.entries({ ...example, ...times });
  const fieldsOf = (of: KindModel) => Object.fromEntries(fields.filter(([name]) => Object.hasOwn(of.fields, name)));
  return [line('rum_resource', fieldsOf(rumResource)), line('rum_usage', fieldsOf(rumUsage))];
}

/** The sample as lines of docs/data-format.md. @param reporting whether {@link sampleReports} will go on sending reports of the hosts */
export function sampleData(nowMs: number, { reporting = false } = {}): string[] {
  const intervalMs = reporting ? SAMPLE_INTERVAL_MS : LONG_INTERVAL_MS;
  const nowSeconds = Math.floor(nowMs / 1000);
  return [
    line('account', { name: 'Northwind Platform', permissions: PERMISSIONS }),
    line('account', { name: 'Contoso Trial', permissions: [] }, 2),
    line('app_key', { app_key: DEMO_KEYS.demo }),
    line('app_key', { app_key: DEMO_KEYS.withoutPermission }, 2),
    line('app_key', { app_key: DEMO_KEYS.expired, expires_at: nowSeconds - 86_400 }),
    line('app_key', { app_key: DEMO_KEYS.revoked, revoked: true }),
    ...MEMBERS.map((name, index) => line('member', { member_id: 101 + index, at_ms: BEGAN_MS, name })),
    ...Array.from({ length: HOSTS }, (_, index) => hostLines(index, nowMs, intervalMs)).flat(),
    ...incidentLines(nowMs),
    ...Array.from({ length: 12 }, (_, index) =>
      line('work_item', {
        work_item_id: `wi-${1001 + index}`,
        version: 1 + (index % 4),
        title: pick(WORK_ITEMS, `work item ${index}`),
        incident_id: sampleIncidentId(index % INCIDENTS.length),
      }),
    ),
    ...rumLines(nowSeconds),
    line(
      'host',
      { host_id: 'lab-0001', agent_version: '4.11.2', edge_cluster: 'lab', enabled: true, snapshot_ready: false },
      2,
    ),
  ];
}
