import { setTimeout as sleep } from 'node:timers/promises';
import { NumberValue } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { expectData } from '../../support/answers.ts';
import {
  type Fleet,
  hostId,
  hostIdsOf,
  type Inventory,
  inventory,
  type Live,
  live,
  newFleet,
} from '../../support/fleet.ts';
import { newDouble, PATIENT_LIMITS } from '../../support/service.ts';
import { connectDouble } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await newFleet(newDouble());
});

/** Rows as another system may write them. */
type Rows = Record<string, Record<string, unknown>>;
const putHosts = (tenant: Fleet, rows: Rows) => tenant.putHosts(rows as Record<string, Inventory>);
const putLive = (tenant: Fleet, rows: Rows) => tenant.putLive(rows as Record<string, Live>);
const rowsOf = (count: number, row: () => Record<string, unknown>) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [hostId(index), row()]));

/** All pages from the first to the one without a cursor. */
async function walk(tenant: Fleet, body: object, maxPages = 100) {
  const pages: ReturnType<typeof expectData>[] = [];
  for (let cursor: string | undefined; pages.length < maxPages; ) {
    const answer = await tenant.browse({ ...body, ...(cursor && { cursor }) });
    const page = expectData(browseFleet, answer);
    expect(Buffer.byteLength(answer.text)).toBeLessThan(4_000_000);
    pages.push(page);
    cursor = page.next_cursor;
    if (cursor === undefined) return pages;
  }
  throw new Error(`the walk did not end within ${maxPages} pages`);
}

it('rows larger than any host needs are cut, with the reason code value_cut; filters compare their uncut texts; a page of 100 stays below 4 MB', async () => {
  const agent_version = '\u{1f600}'.repeat(300);
  const codes = Array.from({ length: 40 }, (_, index) => `${index}-${'\u0001'.repeat(140)}`);
  const host = () => inventory({ agent_version, reason_codes: codes });
  await putHosts(fleet, { ...rowsOf(100, host), z: inventory() });
  await putLive(fleet, rowsOf(100, live));
  const [page] = await walk(fleet, { limit: 100, agent_versions: [agent_version] });
  expect(page.items).toHaveLength(100);
  const reason_codes = [...codes.slice(0, 32).map((code) => code.slice(0, 128)), 'value_cut'];
  const servicemap = { status: 'active', reason_codes };
  expect(page.items[99]).toMatchObject({ agent_version: '\u{1f600}'.repeat(256), servicemap });
});

/** Seven hosts, of which DynamoDB returns at most two at once: in place of 1 MB. @param countMs the time of a count */
async function newSlowFleet(inventoryMs: number, countMs = 0): Promise<Fleet> {
  const double = new TableDouble();
  const through = connectDouble(async ({ name, input }) => {
    if (name === 'UpdateCommand') await sleep(countMs);
    return double.apply({ name, input: input.Limit ? { ...input, Limit: Math.min(input.Limit, 2) } : input });
  });
  const slow = await newFleet(newDouble(double), { through, timeLimits: { ...PATIENT_LIMITS, inventoryMs } });
  await putHosts(slow, rowsOf(7, inventory));
  return slow;
}

it('a page ends early with page_size_reached and a cursor when reading takes too long, and the walk is exact', async () => {
  const slowFleet = await newSlowFleet(0);
  await putLive(slowFleet, rowsOf(7, live));
  const pages = await walk(slowFleet, {});
  expect(pages.flatMap(hostIdsOf)).toEqual(Array.from({ length: 7 }, (_, index) => hostId(index)));
  expect(pages.pop()).not.toHaveProperty('truncation_reasons');
  expect(pages.length).toBeGreaterThan(0);
  for (const page of pages) {
    const ended = { truncated: true, partial: true, truncation_reasons: ['page_size_reached'] };
    expect(page).toMatchObject({ ...ended, coverage: { scanned: page.items.length } });
  }
});

it('a slow count against the rate limit takes nothing of the time for reading hosts', async () => {
  const fleet = await newSlowFleet(1_000, 1_001);
  expect(hostIdsOf(expectData(browseFleet, await fleet.browse()))).toHaveLength(7);
});

it('malformed rows make only the status of their own hosts unavailable, and are named in the log, the first ten of them', async () => {
  const malformed = () => ({ ...inventory(), edge_cluster: null });
  await putHosts(fleet, { ...rowsOf(13, malformed), [hostId(0)]: inventory(), [hostId(1)]: inventory() });
  const nullTimes = { received_at_ms: null, observed_at_ms: null, health_at_ms: null };
  await putLive(fleet, {
    ...rowsOf(13, live),
    [hostId(0)]: { ...live(), ...nullTimes }, // as if absent
    [hostId(1)]: { ...live(), reason_codes: { not: 'a list' } },
  });
  const page = expectData(browseFleet, await fleet.browse());
  expect(page).toMatchObject({ partial: true, coverage: { scanned: 13, returned: 13, failed: 12 } });
  const unavailable = { error_code: 'status_unavailable', node_count: 0, authoritative: false, status: 'no_data' };
  expect(page.items.slice(0, 3)).toMatchObject([
    { servicemap: { status: 'no_data', freshness_status: 'unknown' } },
    { servicemap: unavailable },
    { edge_cluster: '', servicemap: { ...unavailable, enabled: true, snapshot_ready: true } },
  ]);
  expect(JSON.stringify(page)).not.toContain('null');
  const lines = fleet.deps.log.lines.filter(({ message }) => message === 'host rows malformed');
  const host_ids = Array.from({ length: 10 }, (_, index) => hostId(index + 1));
  expect(lines).toMatchObject([{ fields: { hosts: 12, host_ids } }]);
});

const anyValue = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.constantFrom('ebpf', 'running', 'failed', 'disabled'),
  fc.integer(),
  fc.constantFrom(0.5, -2.25, 1e10, 1e-100),
  fc
    .constantFrom('1e125', '-1', '0.5', '9223372036854775807', '9223372036854775808', '-9223372036854775809')
    .map((text) => NumberValue.from(text)),
  fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.integer(), fc.constant(null)), { maxLength: 3 }),
  fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.integer(), { maxKeys: 2, noNullPrototype: true }),
  fc.constantFrom(new Set(['a', 'b']), new Set([1, 2]), Buffer.from('bytes'), new Set([Buffer.from('b')])),
);
/** A row whose attributes are each as they should be, missing, or anything. */
function anyRow(row: Record<string, unknown>) {
  const orAnything = (value: unknown) => fc.oneof({ weight: 4, arbitrary: fc.constant(value) }, anyValue);
  const fields = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, orAnything(value)]));
  return fc.record(fields, { requiredKeys: [] });
}
const FLEETS = process.env.FAULTS ? 2_000 : 40;
const anyHost = fc.record({
  row: anyRow(
    inventory({
      capability_status: 'running',
      capture_mode: 'ebpf',
      report_interval_ms: 60_000,
      reason_codes: ['own'],
    }),
  ),
  live: fc.option(anyRow(live({ health_at_ms: 1, reason_codes: ['slow'] }))),
});
const anyHosts = fc.array(anyHost, { minLength: 1, maxLength: 6 });

it('whatever the host rows contain, every page is well-formed, none is a 5xx, and a walk returns each host once', async () => {
  let failed = 0;
  const property = fc.asyncProperty(anyHosts, fc.integer({ min: 1, max: 4 }), async (hosts, limit) => {
    const tenant = await newFleet(newDouble());
    const named = hosts.map((host, index) => [hostId(index), host] as const);
    await putHosts(tenant, Object.fromEntries(named.map(([id, { row }]) => [id, row])));
    await putLive(tenant, Object.fromEntries(named.flatMap(([id, { live: row }]) => (row ? [[id, row]] : []))));
    const pages = await walk(tenant, { limit });
    expect(pages.flatMap(hostIdsOf)).toEqual(named.map(([id]) => id));
    expect(pages.reduce((sum, { coverage }) => sum + coverage.scanned, 0)).toBe(hosts.length);
    failed += pages.reduce((sum, { coverage }) => sum + coverage.failed, 0);
  });
  await fc.assert(property, { numRuns: FLEETS });
  expect(failed).toBeGreaterThan(0);
}, 600_000);
