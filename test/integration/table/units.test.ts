/** What each operation costs in DynamoDB: calls, rounds of concurrent calls, and units, for rows of the usual size. */
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { DEMO_KEYS, sampleData } from '../../../infra/generate/sample.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import type { ListedOperation } from '../../../lib/operations/index.ts';
import { mergeAlerts } from '../../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../../lib/table/client.ts';
import {
  accountLines,
  createAlerts,
  fleetLines,
  PAST_CACHE_MS,
  startBenchService,
} from '../../../packages/bench/service.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';

const FLEET_KEY = 'bench-key-of-the-fleet-0000000000000';
/** Shorter than they are cached. */
const WITHIN_CACHE_MS = 5_000;

interface MeasuredCall {
  what: string;
  operation: ListedOperation;
  /** The body of one of two calls, 0 and 1. */
  body(call: number): object;
  key?: string;
}

/** @param ids 2,000 alerts to merge */
function measuredCalls(ids: readonly string[], incident_id: string): MeasuredCall[] {
  const merge = (count: number, first: number): MeasuredCall => ({
    what: `merge ${count} ${count === 1 ? 'alert' : 'alerts'}`,
    operation: mergeAlerts,
    body: (call) => ({ alert_ids: ids.slice(first + call * count, first + (call + 1) * count), incident_id }),
  });
  return [
    { what: 'browse, page of 50', operation: browseFleet, body: () => ({}), key: FLEET_KEY },
    {
      what: 'browse, 2,000 hosts examined',
      operation: browseFleet,
      body: () => ({ scan_limit: 2_000, edge_clusters: ['none'] }),
      key: FLEET_KEY,
    },
    { what: 'read the RUM resource', operation: getRumResource, body: () => ({}) },
    {
      what: 'delete a work item',
      operation: deleteWorkItem,
      body: (call) => ({ work_item_id: `bench ${call}`, version: 1 }),
    },
    merge(1, 0),
    merge(10, 10),
    merge(90, 100),
    merge(500, 500),
  ];
}

/** What calls to DynamoDB used. Transactions count twice the units of their rows, as DynamoDB bills them. */
interface Used {
  calls: number;
  /** Concurrent calls count as one. */
  rounds: number;
  read: number;
  write: number;
}

type Capacity = { CapacityUnits?: number };

/** @returns a function that runs an action, and returns what the calls of the table's client used meanwhile */
function countUnits({ client }: Table): (action: () => Promise<unknown>) => Promise<Used> {
  let used: Used = { calls: 0, rounds: 0, read: 0, write: 0 };
  let underWay = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      if (underWay === 0) used.rounds += 1;
      underWay += 1;
      const { output } = await next(args).finally(() => {
        underWay -= 1;
      });
      const { ConsumedCapacity = [] } = output as { ConsumedCapacity?: Capacity | Capacity[] };
      const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      const rows = (args.input as { TransactItems?: unknown[] }).TransactItems?.length ?? 0;
      used.calls += 1;
      if (rows > 0) used.write += Math.max(units, 2 * rows);
      else used[/^(Update|Put)/.test(context.commandName ?? '') ? 'write' : 'read'] += units;
      return { output } as never;
    },
    { step: 'initialize', priority: 'high', name: 'countUnits' },
  );
  return async (action) => {
    used = { calls: 0, rounds: 0, read: 0, write: 0 };
    await action();
    return used;
  };
}

/** What each operation uses with its app key and the RUM record cached. */
async function measureUnits(): Promise<{ what: string; used: Used }[]> {
  // DynamoDB stores a number without its trailing zeros, so rows with a round time are smaller.
  const nowMs = Math.floor(Date.now() / 1000) * 1000 + 789;
  const workItem = { kind: 'work_item', account_id: 1, version: 1, title: 'Raise it' };
  const lines = [
    ...sampleData(nowMs),
    ...[0, 1].map((call) => JSON.stringify({ ...workItem, work_item_id: `bench ${call}` })),
    ...accountLines(3, FLEET_KEY),
    ...fleetLines(3, 2_000, nowMs),
  ];
  const service = await startBenchService(lines, dynamodbEndpoint());
  try {
    // An import would write alerts one by one, since no merge may change an alert meanwhile.
    const { ids, incident } = await createAlerts(service.table, 1, 2_000);
    // All rows of the merge order exist: DynamoDB bills reads of missing rows, DynamoDB Local does not.
    await service.call(mergeAlerts, DEMO_KEYS.demo, { alert_ids: ids.slice(1_600), incident_id: incident });
    const count = countUnits(service.table);
    const results: { what: string; used: Used }[] = [];
    for (const { what, operation, body, key = DEMO_KEYS.demo } of measuredCalls(ids, incident)) {
      service.stepClock(PAST_CACHE_MS);
      const cold = await count(() => service.call(operation, key, body(0)));
      service.stepClock(WITHIN_CACHE_MS);
      const used = await count(() => service.call(operation, key, body(1)));
      const { calls, rounds, read, write } = used;
      expect(cold).toEqual({ calls: calls + 1, rounds: rounds + 1, read: read + 1, write });
      results.push({ what, used });
    }
    return results;
  } finally {
    await service.stop();
  }
}

it('docs/cost.md has the DynamoDB calls and units of each operation', async () => {
  // A fixed time, since the size of a stored number depends on its digits.
  const now = vi.spyOn(Date, 'now').mockReturnValue(2_050_000_000_000);
  onTestFinished(() => now.mockRestore());
  const document = readFileSync('docs/cost.md', 'utf8');
  for (const { what, used } of await measureUnits()) {
    const figures = [used.calls, used.rounds, used.read, used.write].map((value) => value.toFixed(1).replace('.0', ''));
    expect(document).toContain(`| ${[what, ...figures].join(' | ')} |`);
  }
});
