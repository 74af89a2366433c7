import { data, equal, holds } from '../expect.ts';
import { BIG, type CertifiedHost, HOSTS } from '../hosts.ts';
import { type Sentence, section, shown } from '../sentence.ts';
import type { Trial } from '../trial.ts';

/** All hosts of the data set, in one page. */
export async function certifiedPage(t: Trial) {
  t.need('entities');
  return data(await t.page({ limit: HOSTS.length }));
}

// biome-ignore lint/suspicious/noExplicitAny: a check looks at whatever the answer holds
export type Item = any;

/** @param compared gives, for a host, the value answered and the value loaded */
async function compareHosts(
  t: Trial,
  compared: (item: Item, host: CertifiedHost) => [got: unknown, expected: unknown],
) {
  const { items } = await certifiedPage(t);
  equal(items.length, HOSTS.length, 'number of hosts');
  for (const [index, host] of HOSTS.entries()) equal(...compared(items[index], host), host.host.host_id);
}

type Inventory = CertifiedHost['host'];

const hostField = (name: keyof Inventory & string, text: string): Sentence =>
  shown(`${name}: ${text}`, (t) => compareHosts(t, (item, { host }) => [item[name], host[name]]));

export const fleetHost = section('2.1', 'Fleet host (ServiceMapFleetHost)', [
  hostField('host_id', 'string, the host’s stable identifier'),
  hostField('agent_version', 'string, as the host reported'),
  hostField('edge_cluster', 'string, the cluster that the host belongs to'),
  shown('servicemap: object, joined from inventory and live state', (t) =>
    compareHosts(t, ({ servicemap }, { host, live }) => [
      [servicemap.enabled, servicemap.node_count],
      [host.enabled, live?.(0).node_count ?? 0],
    ]),
  ),
]);

/** A field of the capability. */
const capabilityField = (name: string, text: string, expected: (host: CertifiedHost) => unknown): Sentence =>
  shown(`${name}: ${text}`, (t) => compareHosts(t, ({ servicemap }, host) => [servicemap[name], expected(host)]));

/** A field from the inventory; optional: absent if the inventory has none. */
const inventoryField = (name: keyof Inventory & string, text: string) =>
  capabilityField(name, text, ({ host }) => host[name]);

/** A field from the host's reports; `otherwise` if it never reported one. */
const liveField = (name: keyof ReturnType<NonNullable<CertifiedHost['live']>>, text: string, otherwise: unknown) =>
  capabilityField(name, text, ({ live }) => live?.(0)[name] ?? otherwise);

export const capability = section('2.2', 'Fleet host capability (servicemap object)', [
  inventoryField('enabled', 'boolean, whether collection is enabled on the host'),
  capabilityField('status', 'one of seven values', ({ status }) => status),
  inventoryField('capability_status', 'optional string, as the agent reported'),
  inventoryField('capture_mode', 'optional string, such as ebpf or polling'),
  inventoryField('report_interval_ms', 'optional int64, milliseconds'),
  shown('report_interval_ms: an int64 beyond 2^53 comes without rounding', async (t) => {
    const { items } = await certifiedPage(t);
    holds(
      items.some(({ servicemap }: Item) => servicemap.report_interval_ms === BIG),
      `a host with report_interval_ms ${BIG}`,
    );
  }),
  inventoryField('snapshot_ready', 'boolean, whether the agent produced a full snapshot'),
  liveField('authoritative', 'boolean, whether the host has an authoritative current graph', false),
  liveField('graph_available', 'boolean, whether a graph can be fetched now', false),
  capabilityField('freshness_status', 'optional, one of fresh, stale, unknown', ({ freshness }) => freshness),
  shown('max_age_ms: optional int64, the age of the graph when the answer was generated', async (t) => {
    const { items, generated_at_ms } = await certifiedPage(t);
    for (const { host_id, servicemap } of items as Item[])
      equal(
        servicemap.max_age_ms,
        servicemap.received_at_ms === undefined ? undefined : Math.max(0, generated_at_ms - servicemap.received_at_ms),
        `max_age_ms of ${host_id}`,
      );
  }),
  shown('observed_at_ms: optional int64, Unix milliseconds, when the agent observed the graph', (t) =>
    compareHosts(t, ({ servicemap: { received_at_ms: received, observed_at_ms: observed } }, { live }) => [
      observed,
      live ? received - 350 : undefined,
    ]),
  ),
  shown('received_at_ms: optional int64, Unix milliseconds, when the server received the graph', async (t) => {
    const { items, generated_at_ms } = await certifiedPage(t);
    const [youngest, oldest] = [items[0].servicemap.received_at_ms, items[2].servicemap.received_at_ms];
    for (const [index, { live }] of HOSTS.entries()) {
      const receivedAt = (one = live) => Number(one?.(0).received_at_ms ?? 0);
      const ageOfFirst = live ? receivedAt() - receivedAt(HOSTS[0]?.live) : undefined;
      const expected = ageOfFirst === undefined ? undefined : youngest + ageOfFirst;
      equal(items[index].servicemap.received_at_ms, expected, `received_at_ms of ${items[index].host_id}`);
    }
    holds(oldest < youngest && youngest <= generated_at_ms, 'a time before generated_at_ms', youngest);
  }),
  liveField('node_count', 'integer, nodes of the current graph', 0),
  liveField('edge_count', 'integer, edges of the current graph', 0),
  shown('reason_codes: optional array of strings that explain the status', async (t) => {
    const { items } = await certifiedPage(t);
    equal(items[0].servicemap.reason_codes, undefined, 'reason_codes of an active host');
    equal(items[3].servicemap.reason_codes, ['own', 'reported'], 'reason_codes of inventory and report');
    for (const { host_id, servicemap } of items as Item[])
      if (servicemap.status !== 'active') holds(servicemap.reason_codes?.length > 0, `reason_codes of ${host_id}`);
  }),
  shown('error_code: status_unavailable when the live status could not be read, else absent', async (t) => {
    for (const { host_id, servicemap } of (await certifiedPage(t)).items)
      equal(servicemap.error_code, undefined, `error_code of ${host_id}`);
    const url = await t.need('impaired')('live-status');
    for (const { servicemap } of data(await t.fleet({ limit: HOSTS.length }, { url })).items) {
      equal(servicemap.error_code, 'status_unavailable', 'error_code');
      const { authoritative, graph_available, node_count, edge_count } = servicemap;
      equal([authoritative, graph_available, node_count, edge_count], [false, false, 0, 0], 'defaults');
    }
  }),
  shown('freshness is fresh up to twice the report interval', (t) => freshnessOf(t, 'fresh-late', 'fresh')),
  shown('freshness is stale after twice the report interval', (t) => freshnessOf(t, 'stale-early', 'stale')),
  shown('freshness counts with an interval of a minute where there is none', (t) =>
    freshnessOf(t, 'no-interval', 'stale'),
  ),
  shown('freshness is unknown when no snapshot was ever received', (t) => freshnessOf(t, 'no-data', 'unknown')),
]);

/** Checks the freshness of the host with this name. */
async function freshnessOf(t: Trial, name: string, expected: string): Promise<void> {
  const { items } = await certifiedPage(t);
  const host = items.find(({ host_id }: Item) => host_id.endsWith(name));
  const { freshness_status, max_age_ms: age, report_interval_ms: interval } = host.servicemap;
  equal(freshness_status, expected, `freshness_status at an age of ${age} ms and an interval of ${interval} ms`);
}
