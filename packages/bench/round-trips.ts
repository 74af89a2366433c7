/** What each operation requires of DynamoDB: calls, sequential rounds, and units, for rows of the usual size. */
import { DEMO_KEYS, sampleData, sampleId } from '../../infra/generate/sample.ts';
import {
  browseFleet,
  deleteWorkItem,
  getRumResource,
  type ListedOperation,
  mergeAlerts,
} from '../../lib/http/operations.ts';
import { rowOf } from '../../lib/ingest/entity-rows.ts';
import { writeBatch } from '../admin/data/write.ts';
import { type BenchService, countUnits, startBenchService, type Used } from './bench-service.ts';
import { accountLines, fleetLines } from './fleet-data.ts';

const BULK = 'bench-key-of-the-bulk-0000000000000';
/** Longer than a key is trusted and a record kept; and shorter. */
const LONG_MS = 120_000;
const SHORT_MS = 5_000;

const alerts = Array.from({ length: 2_000 }, (_, index) => sampleId(`bulk alert ${index}`));

interface Row {
  what: string;
  operation: ListedOperation;
  /** A new one for each call. */
  body(position: number): object;
  key?: string;
}

const merge = (count: number, first: number): Row => ({
  what: `merge ${count.toLocaleString('en')} ${count === 1 ? 'alert' : 'alerts'}`,
  operation: mergeAlerts,
  body: (index) => ({
    alert_ids: alerts.slice(first + index * count, first + (index + 1) * count),
    incident_id: sampleId('incident 0'),
  }),
});

const ROWS: readonly Row[] = [
  { what: 'browse, page of 50', operation: browseFleet, body: () => ({}), key: BULK },
  {
    what: 'browse, 2,000 hosts examined',
    operation: browseFleet,
    body: () => ({ scan_limit: 2_000, edge_clusters: ['none'] }),
    key: BULK,
  },
  { what: 'read the RUM resource', operation: getRumResource, body: () => ({}) },
  {
    what: 'delete a work item',
    operation: deleteWorkItem,
    body: (index) => ({ work_item_id: `bulk ${index}`, version: 1 }),
  },
  merge(1, 0),
  merge(10, 10),
  merge(90, 100),
  merge(500, 500),
];

export interface RoundTrips {
  what: string;
  /** `cold`: with app key and RUM record not cached; `warm`: with both cached. */
  cold: Used;
  warm: Used;
}

/** @param endpoint of the DynamoDB to use; absent: one of its own */
export async function measureRoundTrips(endpoint?: string): Promise<RoundTrips[]> {
  // DynamoDB stores a number without its trailing zeros, so rows with a round time are smaller.
  const nowMs = Math.floor(Date.now() / 1000) * 1000 + 789;
  const service = await startBenchService(
    [
      ...sampleData(nowMs),
      ...[0, 1].map((index) =>
        JSON.stringify({
          kind: 'work_item',
          account_id: 1,
          work_item_id: `bulk ${index}`,
          version: 1,
          title: 'Raise it',
        }),
      ),
      ...accountLines(3, BULK),
      ...fleetLines(3, 2_000, nowMs),
    ],
    { endpoint, stream: false },
  );
  try {
    // An import writes alerts one by one, as none may come between two merges.
    const rows = alerts.map((alert_id) =>
      rowOf({ kind: 'alert', account_id: 1, alert_id, title: 'p99 above threshold' }),
    );
    for (let first = 0; first < rows.length; first += 25)
      await writeBatch(service.table, rows.slice(first, first + 25));
    // All rows of the merge order exist: DynamoDB bills reads of missing rows, DynamoDB Local does not.
    await service.call(mergeAlerts, DEMO_KEYS.demo, {
      alert_ids: alerts.slice(1_600),
      incident_id: sampleId('incident 0'),
    });
    const count = countUnits(service.table);
    const results: RoundTrips[] = [];
    for (const row of ROWS) {
      service.stepClock(LONG_MS);
      const cold = await count(() => callOnce(service, row, 0));
      service.stepClock(SHORT_MS);
      results.push({ what: row.what, cold, warm: await count(() => callOnce(service, row, 1)) });
    }
    return results;
  } finally {
    await service.stop();
  }
}

const callOnce = (service: BenchService, { operation, body, key = DEMO_KEYS.demo }: Row, index: number) =>
  service.call(operation, key, body(index));

/** Of warm calls, as a table in Markdown. */
export function roundTripsTable(results: readonly RoundTrips[]): string {
  const head = ['operation', 'calls', 'rounds', 'read units', 'write units'];
  const cell = (value: number) => value.toFixed(1).replace('.0', '');
  const rows = results.map(({ what, warm: { calls, rounds, read, write } }) => [
    what,
    ...[calls, rounds, read, write].map(cell),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
