import { describe, expect, it } from 'vitest';
import {
  decodeHost,
  decodeStatus,
  HOST_ATTRIBUTES,
  STATUS_ATTRIBUTES,
  UNREADABLE,
} from '../../../lib/operations/browse-fleet/host.ts';

const HOST = {
  ...{ host_id: 'h', agent_version: '1', edge_cluster: 'eu', enabled: true, capability_status: 'running' },
  ...{ capture_mode: 'ebpf', report_interval_ms: 1, snapshot_ready: true, reason_codes: ['own'] },
};
const STATUS = {
  ...{ host_id: 'h', received_at_ms: 0, observed_at_ms: 0, node_count: 0, edge_count: 0, authoritative: true },
  ...{ graph_available: true, snapshot_truncated: true, snapshot_degraded: true, health_at_ms: 0, reason_codes: [] },
};
const without = (row: Record<string, unknown>, name: string) => {
  const { [name]: _removed, ...rest } = row;
  return rest as { host_id: string };
};
const BEYOND_2_53 = 9_007_199_254_740_993n;

describe('an inventory row', () => {
  it('that is valid is returned as the same object, with all attributes or only the required ones', () => {
    const bare = { host_id: 'h', agent_version: '', edge_cluster: '', enabled: false, snapshot_ready: false };
    for (const row of [HOST, bare, { ...HOST, report_interval_ms: BEYOND_2_53 }]) {
      const { host, malformed } = decodeHost(row);
      expect(host).toBe(row);
      expect(malformed).toBe(false);
    }
  });

  it.each([
    ['agent_version', [1, null, undefined, ['1']], ''],
    ['edge_cluster', [{ a: 1 }], ''],
    ['enabled', ['true', 1, null, undefined], false],
    ['snapshot_ready', [0], false],
  ] as const)(
    'with a missing or invalid %s, which is required, gets the default and counts as malformed',
    (name, values, fallback) => {
      const corrected = { host: { ...HOST, [name]: fallback }, malformed: true };
      for (const value of values) expect(decodeHost({ ...HOST, [name]: value, secret: 1 })).toStrictEqual(corrected);
    },
  );

  it.each([
    ['capability_status', [1, true, ['running']]],
    ['capture_mode', [['ebpf']]],
    ['report_interval_ms', [0, -1, 1.5, '1', Number.NaN, 2n ** 63n]],
    ['reason_codes', ['own', [1], ['own', 1], { 0: 'own' }, new Set([1])]],
  ] as const)(
    'without %s, which is optional, is well-formed, and with an invalid one omits it and counts as malformed',
    (name, values) => {
      const host = without(HOST, name);
      for (const row of [host, { ...HOST, [name]: null }])
        expect(decodeHost(row)).toStrictEqual({ host, malformed: false });
      for (const value of values)
        expect(decodeHost({ ...HOST, [name]: value })).toStrictEqual({ host, malformed: true });
    },
  );

  it('may have its reason codes as a set', () => {
    const row = { ...HOST, reason_codes: new Set(['a', 'b']) };
    expect(decodeHost(row)).toEqual({ host: { ...HOST, reason_codes: ['a', 'b'] }, malformed: false });
  });
});

it('the attributes to read are all but host_id', () => {
  expect(['host_id', ...HOST_ATTRIBUTES]).toEqual(Object.keys(HOST));
  expect(['host_id', ...STATUS_ATTRIBUTES]).toEqual(Object.keys(STATUS));
});

describe('a status row', () => {
  it('that is valid is returned as the same object', () => {
    const large = { ...STATUS, node_count: BEYOND_2_53, received_at_ms: BEYOND_2_53 };
    for (const row of [STATUS, large, without(STATUS, 'health_at_ms')]) expect(decodeStatus(row)).toBe(row);
    expect(decodeStatus({ ...STATUS, observed_at_ms: null })).toEqual(without(STATUS, 'observed_at_ms'));
  });

  it.each([
    ...['received_at_ms', 'observed_at_ms', 'health_at_ms'].map((name) => [name, [-1, 1.5, '1', true]] as const),
    ...['node_count', 'edge_count'].map((name) => [name, [-1, 0.5, '0', null, undefined]] as const),
    ...['authoritative', 'graph_available', 'snapshot_truncated', 'snapshot_degraded'].map(
      (name) => [name, [1, 'true', null, undefined]] as const,
    ),
    ['reason_codes', ['slow', [true]]] as const,
  ])('with a missing or invalid %s is unreadable', (name, values) => {
    for (const value of values) expect(decodeStatus({ ...STATUS, [name]: value })).toBe(UNREADABLE);
  });
});
