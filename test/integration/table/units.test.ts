/** What each operation costs in DynamoDB: calls, rounds of concurrent calls, and units, for rows of the usual size. */

import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
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
import { DEMO_KEYS, sampleData } from '../../../packages/local/sample.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';

const FLEET_KEY = 'bench-key-of-the-fleet-0000000000000';
/** Shorter than they are cached. */
const WITHIN_CACHE_MS = 5_000;

/** What calls to DynamoDB used. Transactions count twice the units of their rows, as DynamoDB bills them; concurrent calls count as one round. */
interface Used {
  calls: number;
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
      const result = await next(args).finally(() => {
        underWay -= 1;
      });
      const { ConsumedCapacity = [] } = result.output as { ConsumedCapacity?: Capacity | Capacity[] };
      const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      const rows = (args.input as { TransactItems?: unknown[] }).TransactItems?.length ?? 0;
      used.calls += 1;
      used[/^(Update|Put|Transact)/.test(context.commandName ?? '') ? 'write' : 'read'] += Math.max(units, 2 * rows);
      return result;
    },
    { step: 'initialize', priority: 'high', name: 'countUnits' },
  );
  return async (action) => {
    used = { calls: 0, rounds: 0, read: 0, write: 0 };
    await action();
    return used;
  };
}

// Other DynamoDB-compatible servers count units otherwise.
it.skipIf(process.env.DYNAMODB_ENDPOINT)(
  'docs/cost.md has the DynamoDB calls and units of each operation',
  async () => {
    // A fixed time, since the size of a stored number depends on its digits, without trailing zeros.
    const nowMs = 2_050_000_000_789;
    const now = vi.spyOn(Date, 'now').mockReturnValue(nowMs);
    onTestFinished(() => now.mockRestore());
    const workItem = { kind: 'work_item', account_id: 1, version: 1, title: 'Raise it' };
    const lines = [
      ...sampleData(nowMs),
      ...[0, 1].map((call) => JSON.stringify({ ...workItem, work_item_id: `bench ${call}` })),
      ...accountLines(3, FLEET_KEY),
      ...fleetLines(3, 2_000, nowMs),
    ];
    const { table, call, stepClock, stop } = await startBenchService(lines, dynamodbEndpoint());
    onTestFinished(stop);
    const { ids, incident: incident_id } = await createAlerts(table, 1, 1_700);
    // All rows of the merge order exist: DynamoDB bills reads of missing rows, DynamoDB Local does not.
    await call(mergeAlerts, DEMO_KEYS.demo, { alert_ids: ids.splice(-400), incident_id });
    const count = countUnits(table);
    const document = readFileSync('docs/cost.md', 'utf8');
    type Measured = [what: string, operation: ListedOperation, bodyOf: (call: number) => object, key?: string];
    const measured: Measured[] = [
      ['browse, page of 50', browseFleet, () => ({}), FLEET_KEY],
      ['browse, 2,000 hosts examined', browseFleet, () => ({ scan_limit: 2_000, edge_clusters: ['none'] }), FLEET_KEY],
      ['read the RUM resource', getRumResource, () => ({})],
      ['delete a work item', deleteWorkItem, (call) => ({ work_item_id: `bench ${call}`, version: 1 })],
      ...['1 alert', '10 alerts', '90 alerts', '500 alerts'].map((what): Measured => {
        const bodyOf = () => ({ alert_ids: ids.splice(0, Number.parseInt(what, 10)), incident_id });
        return [`merge ${what}`, mergeAlerts, bodyOf];
      }),
    ];
    for (const [what, operation, bodyOf, key = DEMO_KEYS.demo] of measured) {
      stepClock(PAST_CACHE_MS);
      const cold = await count(() => call(operation, key, bodyOf(0)));
      stepClock(WITHIN_CACHE_MS);
      const { calls, rounds, read, write } = await count(() => call(operation, key, bodyOf(1)));
      expect(cold).toEqual({ calls: calls + 1, rounds: rounds + 1, read: read + 1, write });
      const figures = [calls, rounds, read, write].map((value) => value.toFixed(1).replace('.0', ''));
      expect(document).toContain(`| ${[what, ...figures].join(' | ')} |`);
    }
  },
);
