import { expect } from 'vitest';
import { data } from '../answers.ts';
import type { ApiClient } from '../api-client.ts';
import { BIG, type CertifiedHost, HOSTS } from '../hosts.ts';
import type { Check, Requirements } from '../requirement.ts';
import { ALL, type Item, wholeFleet } from './common.ts';

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

export const hasStatus =
  (status: string, names: string[]): Check =>
  async (api) => {
    for (const name of names) expect((await capabilityOf(api, name)).status, name).toBe(status);
  };

const hasFreshness =
  (name: string, freshness: string): Check =>
  async (api) => {
    const { freshness_status, max_age_ms, report_interval_ms } = await capabilityOf(api, name);
    const age = `an age of ${max_age_ms} ms, an interval of ${report_interval_ms} ms`;
    expect(freshness_status, age).toBe(freshness);
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
  'report_interval_ms: an int64 beyond 2^53 comes without rounding': async (api) =>
    expect((await capabilityOf(api, 'active-big')).report_interval_ms).toBe(BIG),
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
    const first = items[0].servicemap.received_at_ms;
    expect(first).toBeLessThanOrEqual(generated_at_ms);
    const imported = first - Number(HOSTS[0]?.live?.(0).received_at_ms);
    for (const [index, { host, live }] of HOSTS.entries())
      expect(items[index].servicemap.received_at_ms, host.host_id).toBe(live?.(imported).received_at_ms);
  },
  'node_count: integer, nodes of the current graph': fromReport('node_count', 0),
  'edge_count: integer, edges of the current graph': fromReport('edge_count', 0),
  'reason_codes: optional array of strings that explain the status': async (api) => {
    for (const { host_id, servicemap } of (await wholeFleet(api)).items)
      if (servicemap.status !== 'active') expect(servicemap.reason_codes?.length, host_id).toBeGreaterThan(0);
    expect((await capabilityOf(api, 'active')).reason_codes).toBeUndefined();
    expect((await capabilityOf(api, 'active-big')).reason_codes).toEqual(['own', 'reported']);
  },
  'error_code: status_unavailable when the live status could not be read, else absent': async (api) => {
    for (const { host_id, servicemap } of (await wholeFleet(api)).items)
      expect(servicemap, host_id).not.toHaveProperty('error_code');
    const url = await api.need('defective')('live-status');
    const defaults = { authoritative: false, graph_available: false, node_count: 0, edge_count: 0 };
    for (const { host_id, servicemap } of data(await api.fleet(ALL, { url })).items)
      expect(servicemap, host_id).toMatchObject({ error_code: 'status_unavailable', ...defaults });
  },
  'freshness is fresh up to twice the report interval': hasFreshness('fresh-late', 'fresh'),
  'freshness is stale after twice the report interval': hasFreshness('stale-early', 'stale'),
  'freshness counts with an interval of a minute where there is none': hasFreshness('no-interval', 'stale'),
  'freshness is unknown when no snapshot was ever received': hasFreshness('no-data', 'unknown'),
} satisfies Requirements;
