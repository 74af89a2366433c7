/** What each operation costs in DynamoDB, for rows of the usual size: calls, rounds of concurrent calls, and units. */
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import type { ListedOperation } from '../../../lib/operations/index.ts';
import { mergeAlerts } from '../../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../../lib/table/client.ts';
import { DEMO_KEYS, sampleData } from '../../local/sample.ts';
import { accountLines, createAlerts, fleetLines, PAST_CACHE_MS, startBenchService } from '../service.ts';

const FLEET_KEY = 'bench-key-of-the-fleet-0000000000000';
/** Shorter than they are cached. */
const WITHIN_CACHE_MS = 5_000;

/** Rounds: how many calls wait, one for the other; and units. Transactions count twice the units of their rows, as DynamoDB bills them. */
interface Units {
  rounds: number;
  read: number;
  write: number;
}

interface MeasuredCall {
  what: string;
  operation: ListedOperation;
  /** For what the contract asks: the rows that are shown or changed, read once and written once, and an exact count. */
  least: Units;
  /** The body of one of two calls, 0 and 1. */
  body(call: number): object;
  key?: string;
}

/** @param ids 2,000 alerts to merge */
function measuredCalls(ids: readonly string[], incident_id: string): MeasuredCall[] {
  const merge = (count: number, first: number, least: Omit<Units, 'read'>): MeasuredCall => ({
    what: `merge ${count} ${count === 1 ? 'alert' : 'alerts'}`,
    operation: mergeAlerts,
    least: { read: count + 1, ...least },
    body: (call) => ({ alert_ids: ids.slice(first + call * count, first + (call + 1) * count), incident_id }),
  });
  return [
    {
      what: 'browse, page of 50',
      operation: browseFleet,
      least: { rounds: 1, read: 4, write: 1 },
      body: () => ({}),
      key: FLEET_KEY,
    },
    {
      what: 'browse, 2,000 hosts examined',
      operation: browseFleet,
      least: { rounds: 1, read: 133, write: 1 },
      body: () => ({ scan_limit: 2_000, edge_clusters: ['none'] }),
      key: FLEET_KEY,
    },
    {
      what: 'read the RUM resource',
      operation: getRumResource,
      least: { rounds: 1, read: 1, write: 0 },
      body: () => ({}),
    },
    {
      what: 'delete a work item',
      operation: deleteWorkItem,
      least: { rounds: 1, read: 0, write: 1 },
      body: (call) => ({ work_item_id: `bench ${call}`, version: 1 }),
    },
    merge(1, 0, { rounds: 2, write: 5 }),
    merge(10, 10, { rounds: 2, write: 23 }),
    merge(90, 100, { rounds: 2, write: 183 }),
    // An entry of 13 KB, then an update of each alert.
    merge(500, 500, { rounds: 3, write: 514 }),
  ];
}

interface Used extends Units {
  calls: number;
}

type Capacity = { CapacityUnits?: number };

/** @returns a function that runs an action, and returns what the calls of the table's client used meanwhile */
function countUnits({ client }: Table): (action: () => Promise<unknown>) => Promise<Used> {
  let used: Used = { calls: 0, rounds: 0, read: 0, write: 0 };
  /** How many calls, one after the other, have ended. */
  let ended = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const round = ended + 1;
      const { output } = await next(args).finally(() => {
        ended = Math.max(ended, round);
        used.rounds = Math.max(used.rounds, round);
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
    ended = 0;
    await action();
    return used;
  };
}

interface Measured extends Pick<MeasuredCall, 'what' | 'least'> {
  used: Used;
  /** With neither app key nor RUM record cached. */
  cold: Used;
}

/** What each operation uses with its app key and the RUM record cached. */
export async function measureUnits(endpoint?: string): Promise<Measured[]> {
  // DynamoDB stores a number without its trailing zeros, so rows with a round time are smaller.
  const nowMs = Math.floor(Date.now() / 1000) * 1000 + 789;
  const workItem = { kind: 'work_item', account_id: 1, version: 1, title: 'Raise it' };
  const lines = [
    ...sampleData(nowMs),
    ...[0, 1].map((call) => JSON.stringify({ ...workItem, work_item_id: `bench ${call}` })),
    ...accountLines(3, FLEET_KEY),
    ...fleetLines(3, 2_000, nowMs),
  ];
  await using service = await startBenchService(lines, endpoint);
  // An import would write alerts one by one, since no merge may change an alert meanwhile.
  const { ids, incident } = await createAlerts(service.table, 1, 2_000);
  // All rows of the log head exist: DynamoDB bills reads of missing rows, DynamoDB Local does not.
  await service.call(mergeAlerts, DEMO_KEYS.demo, { alert_ids: ids.slice(1_600), incident_id: incident });
  const count = countUnits(service.table);
  const results: Measured[] = [];
  for (const { what, operation, least, body, key = DEMO_KEYS.demo } of measuredCalls(ids, incident)) {
    service.stepClock(PAST_CACHE_MS);
    const cold = await count(() => service.call(operation, key, body(0)));
    service.stepClock(WITHIN_CACHE_MS);
    const used = await count(() => service.call(operation, key, body(1)));
    results.push({ what, cold, used, least });
  }
  return results;
}
