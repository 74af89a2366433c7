import { describe, expect, it } from 'vitest';
import {
  deriveStatus,
  fleetHost,
  type HostRow,
  type HostStatusRow,
  UNREADABLE,
} from '../../../lib/operations/browse-fleet/host.ts';

const NOW = 1_750_000_000_000;
const BEYOND_2_53 = 9_007_199_254_740_993n;

const INVENTORY: HostRow = {
  host_id: 'h1',
  agent_version: '1.0.0',
  edge_cluster: 'eu',
  enabled: true,
  snapshot_ready: true,
};
/** The live row of a host that has reported, but never a snapshot. */
const REPORTS: HostStatusRow = {
  host_id: 'h1',
  node_count: 3,
  edge_count: 2,
  authoritative: true,
  graph_available: true,
  snapshot_truncated: false,
  snapshot_degraded: false,
};
const host = (fields: Partial<HostRow> = {}): HostRow => ({ ...INVENTORY, ...fields });
const live = (fields: Partial<HostStatusRow> = {}): HostStatusRow => ({
  ...REPORTS,
  received_at_ms: NOW - 1_000,
  ...fields,
});

const stale = { received_at_ms: NOW - 120_001 };
const impaired = { snapshot_truncated: true, snapshot_degraded: true, health_at_ms: NOW };
const withHealth = { ...REPORTS, health_at_ms: NOW };

/** What each rule decides; rule 8 adds a reason for each of its conditions that holds. */
const OUTCOMES: Record<number, [status: string, ...reasons: string[]]> = {
  1: ['unsupported', 'capability_unsupported'],
  2: ['disabled', 'collection_disabled'],
  3: ['degraded', 'collection_failed'],
  4: ['initializing', 'snapshot_pending'],
  5: ['degraded', 'snapshot_missing'],
  6: ['no_data', 'no_reports'],
  7: ['stale', 'snapshot_stale'],
  8: ['degraded'],
  9: ['active'],
};
/** Hosts for which each rule holds: alone, or together with later rules that can hold at the same time. */
const CASES: [rule: number, host: Partial<HostRow>, live: HostStatusRow | undefined, reasons?: string[]][] = [
  [1, { capability_status: 'unsupported' }, undefined],
  [1, { capability_status: 'unsupported', enabled: false, snapshot_ready: false }, live({ ...stale, ...impaired })],
  [2, { enabled: false, capability_status: 'failed' }, live(stale)],
  [2, { capability_status: 'disabled', snapshot_ready: false }, withHealth],
  [2, { capability_status: 'disabled' }, undefined],
  [3, { capability_status: 'failed' }, live({ ...stale, ...impaired })],
  [3, { capability_status: 'failed', snapshot_ready: false }, undefined],
  [3, { capability_status: 'failed' }, withHealth],
  [4, { capability_status: 'starting', snapshot_ready: false }, undefined],
  [4, { snapshot_ready: false }, withHealth],
  [4, { capability_status: 'running', snapshot_ready: false }, { ...REPORTS, health_at_ms: 0 }],
  [5, {}, withHealth],
  [6, { snapshot_ready: false }, undefined],
  [6, { capability_status: 'running' }, REPORTS],
  [7, {}, live({ ...stale, ...impaired })],
  [7, { snapshot_ready: false, capability_status: 'running' }, live(stale)],
  [8, {}, live({ snapshot_truncated: true }), ['snapshot_truncated']],
  [8, {}, live({ snapshot_degraded: true }), ['snapshot_degraded']],
  [8, {}, live(impaired), ['snapshot_truncated', 'snapshot_degraded', 'health_newer_than_snapshot']],
  [9, { snapshot_ready: false, capability_status: 'starting' }, live()],
  [9, { capability_status: 'anything else' }, live({ health_at_ms: NOW - 1_000 })],
];

describe('the status rules', () => {
  it.each(CASES)('rule %i decides for host %j with live row %j', (rule, fields, row, more = []) => {
    const [status, ...reasons] = OUTCOMES[rule] ?? [];
    expect(deriveStatus(host(fields), row, NOW)).toEqual({ rule, status, reasons: [...reasons, ...more] });
  });

  it.each([
    [{}, 120_000, 'active', 'fresh'],
    [{}, 120_001, 'stale', 'stale'],
    [{ report_interval_ms: 10_000 }, 20_000, 'active', 'fresh'],
    [{ report_interval_ms: 0 }, 1, 'stale', 'stale'],
    [{ report_interval_ms: BEYOND_2_53 }, NOW, 'active', 'fresh'],
    [{}, -5_000, 'active', 'fresh'],
  ])('with %o a snapshot of age %i is %s and %s', (interval, age, status, freshness) => {
    const { servicemap } = fleetHost(host(interval), live({ received_at_ms: NOW - age }), NOW);
    expect(servicemap).toMatchObject({ status, freshness_status: freshness, max_age_ms: Math.max(0, age) });
  });

  it('health counts as newer than the snapshot if it is so by a millisecond or more, also beyond 2^53', () => {
    const statusOf = (fields: object) => deriveStatus(host(), live(fields), NOW).status;
    expect(statusOf({ health_at_ms: NOW - 999 })).toBe('degraded');
    expect(statusOf({ received_at_ms: BEYOND_2_53, health_at_ms: BEYOND_2_53 + 1n })).toBe('degraded');
    expect(statusOf({ received_at_ms: BEYOND_2_53, health_at_ms: BEYOND_2_53 })).toBe('active');
  });
});

describe('a host of the answer', () => {
  it('lists the codes of the inventory, then of the live row, then the added ones, each once', () => {
    const inventory = host({ reason_codes: ['a', 'snapshot_stale'] });
    const row = live({ ...stale, reason_codes: ['b', 'a'] });
    expect(fleetHost(inventory, row, NOW).servicemap.reason_codes).toEqual(['a', 'snapshot_stale', 'b']);
  });
});

describe('the texts of a host', () => {
  const emoji = '\u{1f600}';
  const codesOf = (fields: object, row: HostStatusRow | typeof UNREADABLE = live()) =>
    fleetHost(host(fields), row, NOW).servicemap.reason_codes;

  it.each(['agent_version', 'edge_cluster', 'capability_status', 'capture_mode'] as const)(
    '%s is cut after 256 code points',
    (name) => {
      const shown = (text: string) => {
        const { servicemap, ...item } = fleetHost(host({ [name]: text }), live(), NOW);
        return [{ ...servicemap, ...item }[name], servicemap.reason_codes];
      };
      for (const character of ['x', emoji]) {
        expect(shown(character.repeat(256))).toEqual([character.repeat(256), undefined]);
        expect(shown(character.repeat(257))).toEqual([character.repeat(256), ['value_cut']]);
      }
    },
  );

  it('are at most 32 different reason codes of 128 code points; value_cut comes last', () => {
    const codes = Array.from({ length: 33 }, (_, index) => `code-${index}`);
    expect(codesOf({ reason_codes: [...codes.slice(0, 32), 'code-0'] })).toEqual(codes.slice(0, 32));
    expect(codesOf({ reason_codes: codes })).toEqual([...codes.slice(0, 32), 'value_cut']);
    expect(codesOf({ reason_codes: [emoji.repeat(128)] })).toEqual([emoji.repeat(128)]);
    expect(codesOf({ reason_codes: ['x'.repeat(129), 'y'] })).toEqual(['x'.repeat(128), 'y', 'value_cut']);
    const unavailable = ['no_reports', 'status_unavailable', 'value_cut'];
    expect(codesOf({ agent_version: 'x'.repeat(300) }, UNREADABLE)).toEqual(unavailable);
  });
});
