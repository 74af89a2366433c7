import { expect, it } from 'vitest';
import { decodeHost, decodeStatus, UNREADABLE } from '../../../lib/operations/browse-fleet/host.ts';

const HOST = {
  ...{ host_id: 'h', agent_version: '1', edge_cluster: 'eu', enabled: true, capability_status: 'running' },
  ...{ capture_mode: 'ebpf', report_interval_ms: 1, snapshot_ready: true, reason_codes: ['own'] },
};
const STATUS = {
  ...{ host_id: 'h', received_at_ms: 0, observed_at_ms: 0, node_count: 0, edge_count: 0, authoritative: true },
  ...{ graph_available: true, snapshot_truncated: true, snapshot_degraded: true, health_at_ms: 0, reason_codes: [] },
};

it.each<[name: string, fallback: unknown, ...invalid: unknown[]]>([
  ['agent_version', '', 1, ['1']],
  ['edge_cluster', '', { a: 1 }],
  ['enabled', false, 'true', 1],
  ['snapshot_ready', false, 0],
  ['capability_status', undefined, 1, true, ['running']],
  ['capture_mode', undefined, ['ebpf']],
  ['report_interval_ms', undefined, 0, -1, 1.5, '1', Number.NaN, 2n ** 63n],
  ['reason_codes', undefined, 'own', [1], ['own', 1], { 0: 'own' }, new Set([1])],
])('in an inventory row, an invalid or missing %s is replaced by %j', (name, fallback, ...invalid) => {
  const host = { ...HOST, [name]: fallback };
  for (const value of invalid) expect(decodeHost({ ...HOST, [name]: value, x: 1 })).toEqual({ host, malformed: true });
  for (const value of [null, undefined])
    expect(decodeHost({ ...HOST, [name]: value })).toEqual({ host, malformed: fallback !== undefined });
});

it('reason codes may be a set, and a time that is null counts as absent', () => {
  const reason_codes = new Set(HOST.reason_codes);
  expect(decodeHost({ ...HOST, reason_codes })).toEqual({ host: HOST, malformed: false });
  expect(decodeStatus({ ...STATUS, observed_at_ms: null })).toEqual({ ...STATUS, observed_at_ms: undefined });
});

it.each<[invalid: unknown[], ...names: string[]]>([
  [[-1, 1.5, '1', true], 'received_at_ms', 'observed_at_ms', 'health_at_ms'],
  [[-1, 0.5, '0', null, undefined], 'node_count', 'edge_count'],
  [[1, 'true', null, undefined], 'authoritative', 'graph_available', 'snapshot_truncated', 'snapshot_degraded'],
  [['slow', [true]], 'reason_codes'],
])('a status row is unreadable with one of %j as %s, %s, %s or %s', (invalid, ...names) => {
  for (const name of names)
    for (const value of invalid) expect(decodeStatus({ ...STATUS, [name]: value }), name).toBe(UNREADABLE);
});
