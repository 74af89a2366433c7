import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FleetStatus } from '../../../lib/operations/browse-fleet/host.ts';
import { browseFleet, FLEET_STATUSES } from '../../../lib/operations/browse-fleet/schema.ts';
import { expectData } from '../../support/answers.ts';
import { hostIdsOf, type Inventory, inventory, type Live, live, newFleet } from '../../support/fleet.ts';
import { NOW, newDouble } from '../../support/service.ts';

interface Host {
  row: Inventory;
  live?: Live;
  status: FleetStatus;
}

/** A host of each status. */
const kinds: [status: FleetStatus, row: Partial<Inventory>, live?: Live][] = [
  ['active', { capture_mode: 'ebpf' }, live()],
  ['degraded', { capture_mode: 'polling' }, live({ snapshot_truncated: true })],
  ['stale', {}, live({ received_at_ms: NOW - 120_001 })],
  ['initializing', { snapshot_ready: false, capability_status: 'starting' }],
  ['disabled', { enabled: false }, live()],
  ['unsupported', { capability_status: 'unsupported' }],
  ['no_data', { capture_mode: 'pcap' }],
];

const host: fc.Arbitrary<Host> = fc
  .tuple(fc.constantFrom(...kinds), fc.constantFrom('1', '2', '3'), fc.constantFrom('eu', 'us'))
  .map(([[status, row, liveRow], agent_version, edge_cluster]) => ({
    row: inventory({ ...row, agent_version, edge_cluster }),
    ...(liveRow && { live: liveRow }),
    status,
  }));
// Also ids whose order in UTF-8 differs from that in UTF-16.
const id = fc.stringMatching(/^[abz\u00e9\uffee\u{1f600}]{1,3}$/u);
const fleet = fc.dictionary(id, host, { maxKeys: 30, noNullPrototype: true });

const someOf = <Value>(...values: Value[]) => fc.uniqueArray(fc.constantFrom(...values), { maxLength: 3 });
const filters = fc.record(
  {
    statuses: someOf(...FLEET_STATUSES),
    agent_versions: someOf('1', '2', 'none'),
    edge_clusters: someOf('eu', 'us'),
    capture_modes: someOf('ebpf', 'polling', 'unknown'),
  },
  { requiredKeys: [] },
);
const request = fc
  .tuple(fc.integer({ min: 1, max: 8 }), fc.nat(12), filters)
  .map(([limit, more, wanted]) => ({ limit, scan_limit: limit + more, ...wanted }));
const change = fc.record({ add: fleet, remove: fc.array(id, { maxLength: 3 }) });
const readSizes = fc.record({ first: fc.integer({ min: 1, max: 5 }), growth: fc.integer({ min: 1, max: 3 }) });

type Filters = Partial<Record<'statuses' | 'agent_versions' | 'edge_clusters' | 'capture_modes', string[]>>;
type Request = Filters & { limit: number; scan_limit: number };
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The page that the contract demands: it examines candidates one by one until one of three limits ends it. */
function oracle(hosts: Record<string, Host>, after: string, body: Request) {
  const candidates = Object.keys(hosts)
    .sort(byBytes)
    .filter((name) => byBytes(name, after) > 0);
  const anyOf = (values: string[] = [], value: string) => values.length === 0 || values.includes(value);
  const matches = ({ row, status }: Host) =>
    anyOf(body.statuses, status) &&
    anyOf(body.agent_versions, row.agent_version) &&
    anyOf(body.edge_clusters, row.edge_cluster) &&
    anyOf(body.capture_modes, row.capture_mode ?? 'unknown');
  const examined: string[] = [];
  const found: string[] = [];
  while (found.length < body.limit && examined.length < body.scan_limit && examined.length < candidates.length) {
    const name = candidates[examined.length] as string;
    examined.push(name);
    if (matches(hosts[name] as Host)) found.push(name);
  }
  return { found, scanned: examined.length, last: examined.at(-1) ?? after, more: candidates.length > examined.length };
}

it('a walk examines each host that is never removed exactly once, and every page is that of the oracle, whatever changes between pages', async () => {
  const steps = fc.array(fc.tuple(request, change), { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(fleet, fleet, steps, readSizes, async (start, orphans, steps, readSize) => {
    const size = (_body: unknown, examined: number) => examined * readSize.growth || readSize.first;
    const tenant = await newFleet(newDouble(), { size });
    const hosts: Record<string, Host> = {};
    async function add(added: Record<string, Host>): Promise<void> {
      const rows = Object.entries(added);
      Object.assign(hosts, added);
      await tenant.putHosts(Object.fromEntries(rows.map(([name, { row }]) => [name, row])));
      await tenant.removeLive(rows.map(([name]) => name));
      await tenant.putLive(Object.fromEntries(rows.flatMap(([name, { live }]) => (live ? [[name, live]] : []))));
    }
    // Live rows of hosts that are in no inventory, between those of others.
    await tenant.putLive(Object.fromEntries(Object.keys(orphans).map((name) => [name, live()])));
    await add(start);
    const steady = new Set(Object.keys(start));

    const seen: string[] = [];
    let after = '';
    let cursor: string | undefined;
    for (let page = 0; page === 0 || (cursor && page <= 60); page += 1) {
      const [body, changes] = steps[page % steps.length] as (typeof steps)[number];
      const data = expectData(browseFleet, await tenant.browse({ ...body, ...(cursor && { cursor }) }));
      const { found, scanned, last, more } = oracle(hosts, after, body);
      const truncated = more && found.length < body.limit;
      const statuses = found.map((name) => hosts[name]?.status);
      const countOf = (status: FleetStatus) => statuses.filter((other) => other === status).length;
      expect({ ...data, items: hostIdsOf(data) }).toEqual({
        items: found,
        coverage: {
          ...{ scanned, matched: found.length, returned: found.length, failed: 0 },
          states: Object.fromEntries(FLEET_STATUSES.map((status) => [status, countOf(status)])),
        },
        ...{ truncated, partial: truncated, generated_at_ms: NOW },
        ...(truncated && { truncation_reasons: ['scan_limit_reached'] }),
        ...(more && { next_cursor: expect.any(String) }),
      });
      expect(data.items.map((item: { servicemap: { status: string } }) => item.servicemap.status)).toEqual(statuses);
      // Every host is examined by the page whose range it lies in.
      seen.push(...Object.keys(hosts).filter((name) => byBytes(name, after) > 0 && byBytes(name, last) <= 0));
      after = last;
      cursor = data.next_cursor;
      for (const name of changes.remove) {
        steady.delete(name);
        delete hosts[name];
        await tenant.removeHost(name);
      }
      if (page < 10) await add(changes.add);
    }
    for (const name of steady) expect(seen.filter((host) => host === name)).toEqual([name]);
  });
  await fc.assert(property, { numRuns: 40 });
});
