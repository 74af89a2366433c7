import { expect } from 'vitest';
import { data } from '../answers.ts';
import type { ApiClient } from '../api-client.ts';
import { STATUSES } from '../contract.ts';
import { type CertifiedHost, HOSTS, matching } from '../hosts.ts';
import { type Check, NOT_SPECIFIED, type Requirements, todo, withData } from '../requirement.ts';
import { ALL, type Item, wholeFleet } from './common.ts';
import { workItem } from './operations/delete-work-item.ts';

/** Compares each host of the answer with that of the data set. */
const eachHost =
  (actual: (item: Item) => unknown, expected: (host: CertifiedHost) => unknown): Check =>
  async (api) => {
    const { items } = await wholeFleet(api);
    expect(items.length, 'number of hosts').toBe(HOSTS.length);
    for (const [index, host] of HOSTS.entries())
      expect(actual(items[index]), host.host.host_id).toEqual(expected(host));
  };

type InventoryField = keyof CertifiedHost['host'] & string;
const hostField = (name: InventoryField) =>
  eachHost(
    (item) => item[name],
    ({ host }) => host[name],
  );

export const fleetHost = {
  'host_id: string, the host’s stable identifier': hostField('host_id'),
  'agent_version: string, as the host reported': hostField('agent_version'),
  'edge_cluster: string, the cluster that the host belongs to': hostField('edge_cluster'),
  'servicemap: object, joined from inventory and live state': eachHost(
    ({ servicemap }) => [servicemap.enabled, servicemap.node_count],
    ({ host, live }) => [host.enabled, live?.(0).node_count ?? 0],
  ),
} satisfies Requirements;

const capabilityField = (name: string, expected: (host: CertifiedHost) => unknown) =>
  eachHost(({ servicemap }) => servicemap[name], expected);

/** A field of the inventory; absent where the inventory lacks it. */
const fromInventory = (name: InventoryField) => capabilityField(name, ({ host }) => host[name]);

/** A field of the report; `fallback` for a host that never sent one. */
const fromReport = (name: keyof ReturnType<NonNullable<CertifiedHost['live']>>, fallback: unknown) =>
  capabilityField(name, ({ live }) => live?.(0)[name] ?? fallback);

async function capabilityOf(api: ApiClient, name: string): Promise<Item> {
  const { items } = await wholeFleet(api);
  return items.find(({ host_id }: Item) => host_id.endsWith(name)).servicemap;
}

const hasStatus =
  (status: string, names: string[]): Check =>
  async (api) => {
    for (const name of names) expect((await capabilityOf(api, name)).status, name).toBe(status);
  };

const hasFreshness =
  (name: string, freshness: string): Check =>
  async (api) => {
    const { freshness_status, max_age_ms, report_interval_ms } = await capabilityOf(api, name);
    const ages = `an age of ${max_age_ms} ms, an interval of ${report_interval_ms} ms`;
    expect(freshness_status, ages).toBe(freshness);
  };

const freshnessOf = ({ status, live }: CertifiedHost) => {
  if (status === 'stale') return 'stale';
  return live ? 'fresh' : 'unknown';
};

export const capability = {
  'enabled: boolean, whether collection is enabled on the host': fromInventory('enabled'),
  'status: one of seven values': capabilityField('status', ({ status }) => status),
  'capability_status: optional string, as the agent reported': fromInventory('capability_status'),
  'capture_mode: optional string, such as ebpf or polling': fromInventory('capture_mode'),
  'report_interval_ms: optional int64, milliseconds': fromInventory('report_interval_ms'),
  'snapshot_ready: boolean, whether the agent produced a full snapshot': fromInventory('snapshot_ready'),
  'authoritative: boolean, whether the host has an authoritative current graph': fromReport('authoritative', false),
  'graph_available: boolean, whether a graph can be fetched now': fromReport('graph_available', false),
  'freshness_status: optional, one of fresh, stale, unknown': capabilityField('freshness_status', freshnessOf),
  'max_age_ms: optional int64, the age of the graph when the answer was generated': async (api) => {
    const { items, generated_at_ms } = await wholeFleet(api);
    for (const { host_id, servicemap } of items) {
      const { received_at_ms, max_age_ms } = servicemap;
      const age = received_at_ms === undefined ? undefined : Math.max(0, generated_at_ms - received_at_ms);
      expect(max_age_ms, host_id).toBe(age);
    }
  },
  'observed_at_ms: optional int64, Unix milliseconds, when the agent observed the graph': eachHost(
    ({ servicemap }) => servicemap.observed_at_ms && servicemap.received_at_ms - servicemap.observed_at_ms,
    ({ live }) => live && 350,
  ),
  'received_at_ms: optional int64, Unix milliseconds, when the server received the graph': async (api) => {
    const { items, generated_at_ms } = await wholeFleet(api);
    // The time of the import is unknown: times are compared with that of the first host.
    const firstMs = items[0].servicemap.received_at_ms;
    expect(firstMs).toBeLessThanOrEqual(generated_at_ms);
    const importedMs = firstMs - Number(HOSTS[0]?.live?.(0).received_at_ms);
    for (const [index, { host, live }] of HOSTS.entries())
      expect(items[index].servicemap.received_at_ms, host.host_id).toBe(live?.(importedMs).received_at_ms);
  },
  'node_count: integer, nodes of the current graph': fromReport('node_count', 0),
  'edge_count: integer, edges of the current graph': fromReport('edge_count', 0),
  'reason_codes: optional array of strings that explain the status': async (api) => {
    for (const { host_id, servicemap } of (await wholeFleet(api)).items)
      if (servicemap.status !== 'active') expect(servicemap.reason_codes?.length, host_id).toBeGreaterThan(0);
    expect((await capabilityOf(api, 'active')).reason_codes).toBeUndefined();
    expect((await capabilityOf(api, 'active-longest')).reason_codes).toEqual(['own', 'reported']);
  },
  'error_code: status_unavailable when the live status could not be read, else absent': async (api) => {
    for (const { host_id, servicemap } of (await wholeFleet(api)).items)
      expect(servicemap, host_id).not.toHaveProperty('error_code');
    const url = await api.need('startDefective')('live-status');
    const defaults = { authoritative: false, graph_available: false, node_count: 0, edge_count: 0 };
    for (const { host_id, servicemap } of data(await api.fleet(ALL, { url })).items) {
      expect(servicemap, host_id).toMatchObject({ error_code: 'status_unavailable', ...defaults });
      expect(servicemap.reason_codes, host_id).not.toContain('no_reports');
    }
  },
  'freshness is fresh up to twice the report interval': hasFreshness('fresh-late', 'fresh'),
  'freshness is stale after twice the report interval': hasFreshness('stale-early', 'stale'),
  'freshness assumes an interval of a minute where there is none': hasFreshness('no-interval', 'stale'),
  'freshness is unknown when no snapshot was ever received': hasFreshness('no-data', 'unknown'),
} satisfies Requirements;

const FIRST_PAGE = { limit: 3, scan_limit: HOSTS.length, edge_clusters: ['core-b'] };
const NO_STATES = Object.fromEntries(STATUSES.map((status) => [status, 0]));

export const coverage = {
  'scanned: distinct candidates examined in this request': withData(async (api) => {
    const { coverage, next_cursor } = data(await api.page({ limit: 1, scan_limit: 7, edge_clusters: ['nowhere'] }));
    expect([coverage.scanned, typeof next_cursor], 'scanned and next_cursor').toEqual([7, 'string']);
  }),
  'matched: scanned hosts that passed all filters': withData(async (api) => {
    const filter = { edge_clusters: ['core-b'], agent_versions: ['2.1'] };
    expect(data(await api.page({ ...ALL, ...filter })).coverage.matched).toBe(matching(filter).length);
  }),
  'returned: matched hosts in this page, at most limit': withData(async (api) => {
    const { items, coverage } = data(await api.page(FIRST_PAGE));
    expect([items.length, coverage.returned]).toEqual([FIRST_PAGE.limit, FIRST_PAGE.limit]);
  }),
  'failed: candidates whose status could not be read': async (api) => {
    expect((await wholeFleet(api)).coverage.failed).toBe(0);
    const url = await api.need('startDefective')('live-status');
    const { coverage } = data(await api.fleet({ limit: 2, scan_limit: 9, edge_clusters: ['core-c'] }, { url }));
    expect(coverage.failed, 'candidates of an outage').toBe(coverage.scanned);
  },
  'states: returned items by status, always with all seven keys': async (api) => {
    const { items, coverage } = await wholeFleet(api);
    const count = (status: string) => items.filter(({ servicemap }: Item) => servicemap.status === status).length;
    expect(coverage.states).toEqual(Object.fromEntries(STATUSES.map((status) => [status, count(status)])));
    const ofOneHost = data(await api.page({ limit: 1 })).coverage;
    expect(ofOneHost.states, 'states of one host').toEqual({ ...NO_STATES, active: 1 });
  },
  'All five fields are required': async (api) => {
    const { coverage } = data(await api.page({ limit: 1 }));
    expect(Object.keys(coverage).sort()).toEqual(['failed', 'matched', 'returned', 'scanned', 'states']);
  },
  'coverage describes this page alone, not the account': withData(async (api) => {
    const cursor = data(await api.fleet(FIRST_PAGE)).next_cursor;
    const { items, coverage } = data(await api.fleet({ ...FIRST_PAGE, cursor }));
    expect(coverage.returned).toBe(
      Math.min(FIRST_PAGE.limit, matching({ edge_clusters: ['core-b'] }).length - FIRST_PAGE.limit),
    );
    const states: number[] = Object.values(coverage.states);
    expect(states.reduce((sum, hosts) => sum + hosts)).toBe(items.length);
  }),
} satisfies Requirements;

export const states = {
  'active: a fresh snapshot and no degradation': hasStatus('active', ['active', 'active-polling', 'active-aging']),
  'degraded: health is newer than the snapshot': hasStatus('degraded', ['degraded-health']),
  'degraded: the snapshot is truncated or degraded': hasStatus('degraded', ['degraded-truncated', 'degraded-snapshot']),
  'degraded: collection fails': hasStatus('degraded', ['failing']),
  'stale: no new snapshot for twice the report interval': hasStatus('stale', ['stale']),
  'initializing: the capability is reported, the first snapshot is not ready': hasStatus('initializing', [
    'initializing',
  ]),
  'disabled: collection is disabled on the host': hasStatus('disabled', ['switched-off', 'disabled']),
  'unsupported: agent or kernel does not support it': hasStatus('unsupported', ['unsupported']),
  'no_data: no snapshot or health data at all': hasStatus('no_data', ['no-data']),
  'capability_status is for example running, disabled, starting, failed or unsupported': async (api) => {
    const { items } = await wholeFleet(api);
    const reported = items.map(({ servicemap }: Item) => servicemap.capability_status);
    for (const { host } of HOSTS) expect(reported).toContain(host.capability_status);
  },
  'freshness_status is fresh, stale or unknown: each occurs': async (api) => {
    const { items } = await wholeFleet(api);
    const values = new Set(items.map(({ servicemap }: Item) => servicemap.freshness_status));
    expect([...values].sort()).toEqual(['fresh', 'stale', 'unknown']);
  },
  'A deleted work item is soft-deleted: kept, and marked':
    workItem['Deletion is soft: the record is kept, marked deleted'],
  'States of the RUM resource, work items, alerts and incidents; all transitions': todo(NOT_SPECIFIED),
} satisfies Requirements;
