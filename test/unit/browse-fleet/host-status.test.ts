import { expect, it } from 'vitest';
import type { HostRow } from '../../../lib/model/host.ts';
import type { HostStatusRow } from '../../../lib/model/host-status.ts';
import { deriveStatus, fleetHost, type LiveStatus, UNREADABLE } from '../../../lib/operations/browse-fleet/host.ts';

const NOW = 1_750_000_000_000;
const BEYOND_2_53 = 9_007_199_254_740_993n;
const EMOJI = '\u{1f600}';

const HOST: HostRow = { host_id: 'h', agent_version: '1', edge_cluster: 'eu', enabled: true, snapshot_ready: true };
/** The status row of a host that has reported, but never a snapshot. */
const REPORTS: HostStatusRow = {
  ...{ host_id: 'h', node_count: 3, edge_count: 2, authoritative: true, graph_available: true },
  ...{ snapshot_truncated: false, snapshot_degraded: false },
};
const FRESH: HostStatusRow = { ...REPORTS, received_at_ms: NOW - 1_000 };
const STALE: HostStatusRow = { ...REPORTS, received_at_ms: NOW - 120_001 };
const IMPAIRED = { snapshot_truncated: true, snapshot_degraded: true, health_at_ms: NOW };
const WITH_HEALTH: HostStatusRow = { ...REPORTS, health_at_ms: NOW };

/** Hosts for which each rule holds: alone, or together with later rules that can hold at the same time. */
it.each<[outcome: string, host: Partial<HostRow>, live?: LiveStatus]>([
  [
    '1 unsupported capability_unsupported',
    { capability_status: 'unsupported', enabled: false, snapshot_ready: false },
    { ...STALE, ...IMPAIRED },
  ],
  ['2 disabled collection_disabled', { enabled: false, capability_status: 'failed' }, STALE],
  ['2 disabled collection_disabled', { capability_status: 'disabled', snapshot_ready: false }, WITH_HEALTH],
  ['3 degraded collection_failed', { capability_status: 'failed' }, { ...STALE, ...IMPAIRED }],
  ['4 initializing snapshot_pending', { capability_status: 'starting', snapshot_ready: false }],
  ['4 initializing snapshot_pending', { snapshot_ready: false }, { ...REPORTS, health_at_ms: 0 }],
  ['5 degraded snapshot_missing', {}, WITH_HEALTH],
  ['6 no_data no_reports', { capability_status: 'running' }, REPORTS],
  // Nobody knows whether it has reported.
  ['6 no_data status_unavailable', {}, UNREADABLE],
  [
    '4 initializing snapshot_pending status_unavailable',
    { capability_status: 'starting', snapshot_ready: false },
    UNREADABLE,
  ],
  ['7 stale snapshot_stale', { snapshot_ready: false, capability_status: 'running' }, { ...STALE, ...IMPAIRED }],
  ['8 degraded snapshot_truncated', {}, { ...FRESH, snapshot_truncated: true }],
  ['8 degraded snapshot_degraded', {}, { ...FRESH, snapshot_degraded: true }],
  [
    '8 degraded health_newer_than_snapshot',
    {},
    { ...FRESH, received_at_ms: BEYOND_2_53, health_at_ms: BEYOND_2_53 + 1n },
  ],
  ['8 degraded snapshot_truncated snapshot_degraded health_newer_than_snapshot', {}, { ...FRESH, ...IMPAIRED }],
  ['9 active', { capability_status: 'anything else' }, { ...FRESH, health_at_ms: NOW - 1_000 }],
  ['9 active', {}, { ...FRESH, received_at_ms: BEYOND_2_53, health_at_ms: BEYOND_2_53 }],
])('rule %s: host %o with status row %o', (outcome, fields, live) => {
  const { rule, status, reasons } = deriveStatus({ ...HOST, ...fields }, live, NOW);
  expect([rule, status, ...reasons].join(' ')).toBe(outcome);
});

it.each<[interval: HostRow['report_interval_ms'], ageMs: number, status: string, freshness: string]>([
  [undefined, 120_000, 'active', 'fresh'],
  [undefined, 120_001, 'stale', 'stale'],
  [10_000, 20_000, 'active', 'fresh'],
  [0, 1, 'stale', 'stale'],
  [BEYOND_2_53, NOW, 'active', 'fresh'],
  [undefined, -5_000, 'active', 'fresh'],
])('with an interval of %s, a snapshot of age %i is %s and %s', (interval, age, status, freshness_status) => {
  const host = { ...HOST, ...(interval !== undefined && { report_interval_ms: interval }) };
  const { servicemap } = fleetHost(host, { ...REPORTS, received_at_ms: NOW - age }, NOW);
  expect(servicemap).toMatchObject({ status, freshness_status, max_age_ms: Math.max(0, age) });
});

const codes = Array.from({ length: 33 }, (_, index) => `code-${index}`);
it.each<[what: string, host: Partial<HostRow>, live: LiveStatus, shown: string[]]>([
  [
    'of the inventory, then of the status row, then added ones, each once',
    { reason_codes: ['a', 'snapshot_stale'] },
    { ...STALE, reason_codes: ['b', 'a'] },
    ['a', 'snapshot_stale', 'b'],
  ],
  ['32 different ones', { reason_codes: [...codes.slice(0, 32), 'code-0'] }, FRESH, codes.slice(0, 32)],
  ['at most 32', { reason_codes: codes }, FRESH, [...codes.slice(0, 32), 'value_cut']],
  [
    'cut',
    { reason_codes: ['x'.repeat(129), EMOJI.repeat(128)] },
    FRESH,
    ['x'.repeat(128), EMOJI.repeat(128), 'value_cut'],
  ],
  ['value_cut last', { agent_version: 'x'.repeat(300) }, UNREADABLE, ['status_unavailable', 'value_cut']],
])('reason codes: %s', (_what, fields, live, shown) =>
  expect(fleetHost({ ...HOST, ...fields }, live, NOW).servicemap.reason_codes).toEqual(shown),
);

it.each(['agent_version', 'edge_cluster', 'capability_status', 'capture_mode'])(
  '%s is cut after 256 code points, and value_cut says so',
  (name) => {
    const shown = (length: number) => {
      const { servicemap, ...item } = fleetHost({ ...HOST, [name]: EMOJI.repeat(length) }, FRESH, NOW);
      return { ...servicemap, ...item };
    };
    expect(shown(256)).toMatchObject({ [name]: EMOJI.repeat(256) });
    expect(shown(256)).not.toHaveProperty('reason_codes');
    expect(shown(257)).toMatchObject({ [name]: EMOJI.repeat(256), reason_codes: ['value_cut'] });
  },
);
