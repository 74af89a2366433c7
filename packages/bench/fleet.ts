/** Compares a page of a fleet of 100,000 hosts with one of 1,000. */
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { chunksOf, forEach } from '../../lib/shared/concurrency.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { bundle, createRunner, environmentOf } from './functions/processes.ts';
import { BROWSE_STEP_MS } from './functions/subjects.ts';
import { countUnits } from './functions/units.ts';
import type { Figure } from './run.ts';
import {
  accountLines,
  eventOf,
  hostInventory,
  hostName,
  PAST_CACHE_MS,
  startBenchService,
  statusOf,
} from './service.ts';
import { inTurns } from './timings.ts';

const ROUNDS = 4;
const CALLS = 81;
/** The account of each fleet, and its hosts. */
const SMALL = { account: 1, hosts: 1_000 };
const LARGE = { account: 2, hosts: 100_000 };
const keyOf = ({ account }: typeof SMALL) => `bench-key-of-the-fleet-of-account-${account}`.padEnd(36, '0');

/** Writes a fleet in batches: to write it as the feed does takes minutes. */
async function writeFleet({ client, name }: Table, { account, hosts }: typeof SMALL): Promise<void> {
  const nowMs = Date.now();
  const status = { received_at_ms: nowMs, ...statusOf(nowMs) };
  const rows = Array.from({ length: hosts }, (_, index) => hostName(index)).flatMap((host) => [
    { ...keys.host(account, host), ...hostInventory },
    { ...keys.hostStatus(account, host), ...status },
  ]);
  await forEach(chunksOf(rows, 25), async (batch) => {
    const RequestItems = { [name]: batch.map((Item) => ({ PutRequest: { Item } })) };
    const { UnprocessedItems = {} } = await client.send(new BatchWriteCommand({ RequestItems }));
    if (Object.keys(UnprocessedItems).length > 0) throw new Error('DynamoDB did not take all hosts');
  });
}

export async function run(add: (figure: Figure) => void): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'fleet-'));
  await using resources = new AsyncDisposableStack();
  const lines = [SMALL, LARGE].flatMap((fleet) => accountLines(fleet.account, keyOf(fleet)));
  const { table, endpoint, call, stepClock } = resources.adopt(await startBenchService(lines), ({ stop }) => stop());
  for (const fleet of [SMALL, LARGE]) await writeFleet(table, fleet);
  const ours = await bundle({ operation: browseFleet.name }, folder.path);
  const runnerOf = (fleet: typeof SMALL) =>
    createRunner({
      bundle: ours,
      env: environmentOf(endpoint, table.name),
      calls: CALLS,
      stepMs: BROWSE_STEP_MS,
      eventOf: () => eventOf(browseFleet, keyOf(fleet), {}),
    });
  const [small, large] = [runnerOf(SMALL), runnerOf(LARGE)];
  await inTurns(ROUNDS, [small.run, large.run]);
  const count = countUnits(table);
  const unitsOf = (fleet: typeof SMALL) => {
    stepClock(PAST_CACHE_MS);
    return count(() => call(browseFleet, keyOf(fleet), {}));
  };
  const [smallUnits, largeUnits] = [await unitsOf(SMALL), await unitsOf(LARGE)];
  const compare = (what: string, unit: string, value: number, baseline: number) =>
    add({
      name: `page of ${LARGE.hosts} hosts: ${what}`,
      value,
      unit,
      baseline: { name: `of ${SMALL.hosts}`, value: baseline },
      most: 1.05,
    });
  compare('CPU of a warm call', 'ms', large.warm(), small.warm());
  compare('rounds', '', largeUnits.rounds, smallUnits.rounds);
  compare('read', 'units', largeUnits.read, smallUnits.read);
}
