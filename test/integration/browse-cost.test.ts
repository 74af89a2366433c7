import type { QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import type { BatchGetCommandOutput } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { browseFleet } from '../../lib/http/operations.ts';
import { type Fleet, hostId, inventory, live, newFleet } from '../support/fleet.ts';
import { expectData } from '../support/schema.ts';
import { newTable } from '../support/service.ts';

/** What a call read of one side of the fleet: of the inventory, or of live status. */
interface Side {
  calls: number;
  rows: number;
  units: number;
  /** Strongly consistent reads: a page needs none, and they cost twice as much. */
  consistent: number;
}

let sides: { hosts: Side; statuses: Side };
/** Number of rounds of reads. Reads that are under way at the same time are one round. */
let rounds: number;

const table = await newTable();
let underWay = 0;
table.client.middlewareStack.add(
  (next, context) => async (args) => {
    if (!/Query|BatchGet/.test(context.commandName ?? '')) return next(args);
    Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
    const input = JSON.stringify(args.input);
    const side = input.includes('#HOST_STATUSES') ? sides.statuses : sides.hosts;
    if (input.includes('"ConsistentRead":true')) side.consistent += 1;
    if (underWay === 0) rounds += 1;
    underWay += 1;
    try {
      const result = await next(args);
      const { ScannedCount, ConsumedCapacity } = result.output as Partial<QueryCommandOutput>;
      const { Responses } = result.output as Partial<BatchGetCommandOutput>;
      side.calls += 1;
      side.rows += ScannedCount ?? Responses?.[table.name]?.length ?? 0;
      for (const { CapacityUnits = 0 } of [ConsumedCapacity ?? []].flat()) side.units += CapacityUnits;
      return result;
    } finally {
      underWay -= 1;
    }
  },
  { step: 'initialize', priority: 'high', name: 'count' },
);

/** Browses once. @returns what the call read */
async function reads(fleet: Fleet, body: object) {
  const side = () => ({ calls: 0, rows: 0, units: 0, consistent: 0 });
  sides = { hosts: side(), statuses: side() };
  rounds = 0;
  const { coverage, items } = expectData(browseFleet, await fleet.browse(body));
  const { hosts, statuses } = sides;
  expect(hosts.consistent + statuses.consistent).toBe(0);
  return {
    coverage,
    items,
    rounds,
    calls: hosts.calls + statuses.calls,
    units: hosts.units + statuses.units,
    ...sides,
  };
}

// Rows of about 180 and 270 bytes.
const referenceHost = () =>
  inventory({
    agent_version: '4.11.2',
    edge_cluster: 'fra-1',
    capability_status: 'running',
    capture_mode: 'ebpf',
    report_interval_ms: 30_000,
  });
const referenceLive = () =>
  live({ health_at_ms: 2_050_000_019_000, reason_codes: ['kernel_headers_missing_for_probe'] });

const many = <Row>(numbers: Iterable<number>, row: () => Row) =>
  Object.fromEntries([...numbers].map((number) => [hostId(number), row()]));
const series = (count: number, step = 1, from = 0) => Array.from({ length: count }, (_, index) => from + index * step);
const NO_MATCH = { edge_clusters: ['none'] };

it('a filtered scan takes six calls at the most, and one that fills its page early reads hardly more than it examines', async () => {
  const fleet = await newFleet(table);
  // Every tenth host is in iad-1. Of the others, the first 36 are in gru-1 and the rest in fra-1.
  const host = (number: number) => {
    const usual = number < 40 ? 'gru-1' : 'fra-1';
    return { ...referenceHost(), edge_cluster: number % 10 === 0 ? 'iad-1' : usual };
  };
  await fleet.putHosts(Object.fromEntries(series(2_100).map((number) => [hostId(number), host(number)])));
  await fleet.putLive(many(series(2_100), referenceLive));
  // The first hosts match more often than the others.
  const scan = await reads(fleet, { scan_limit: 2_000, edge_clusters: ['gru-1'] });
  expect(scan.coverage).toMatchObject({ scanned: 2_000, matched: 36 });
  expect(scan.calls).toBeLessThanOrEqual(6);

  const page = await reads(fleet, { limit: 50, scan_limit: 2_000, edge_clusters: ['iad-1'] });
  expect(page.items).toHaveLength(50);
  expect(page.hosts.rows).toBeLessThanOrEqual(1.5 * page.coverage.scanned + 100);
});

/** A page, a full page, and a scan of all hosts. */
const REQUESTS = [
  { body: {}, mostRounds: 3 },
  { body: { limit: 100 }, mostRounds: 3 },
  { body: { scan_limit: 2_000, ...NO_MATCH }, mostRounds: 6 },
];

/**
 * Fleets in which some statuses have no host, or some hosts no status, each with the most read units that a page, a full page and a scan of
 * all hosts may take. A status that is read by its key takes half a unit, one that is read in a range about 0.03.
 */
const shapes: [name: string, hosts: number[], statuses: number[], page: number, fullPage: number, scan: number][] = [
  ['a status without a host after each status with one', series(200, 2), series(400), 5, 9, 18],
  ['one status in three without a host', series(300).filter((n) => n % 3 > 0), series(300), 5, 8, 15],
  ['nine statuses without a host after each status with one', series(120, 10), series(1_200), 25, 48, 58],
  ['600 statuses without a host before the first host', series(200, 1, 600), series(800), 6, 10, 15],
  ['600 statuses without a host in the middle', [...series(100), ...series(100, 1, 700)], series(800), 4, 6, 12],
  ['650 statuses without a host after the last host', series(150), series(800), 4, 6, 30],
  ['a host without a status after each host with one', series(300), series(150, 2), 4, 6, 12],
  ['no status at all', series(300), [], 2, 3, 7],
  ['statuses for the last hosts only', series(300), series(50, 1, 250), 4, 6, 9],
];

it.each(shapes)(
  'with %s a page, a full page and a scan are cheap, in few rounds',
  async (_name, hosts, statuses, ...units) => {
    const fleet = await newFleet(table);
    await fleet.putHosts(many(hosts, referenceHost));
    await fleet.putLive(many(statuses, referenceLive));
    for (const [index, { body, mostRounds }] of REQUESTS.entries()) {
      const { coverage, units: used, rounds, hosts: inventoryRead } = await reads(fleet, body);
      expect(coverage.scanned).toBeGreaterThan(0);
      expect([body, used <= (units[index] as number), rounds <= mostRounds]).toEqual([body, true, true]);
      expect(inventoryRead.rows).toBeLessThanOrEqual(1.5 * coverage.scanned + 100);
    }
  },
);
