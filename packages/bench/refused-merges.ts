/**
 * How much longer the merges of other accounts take while one account sends merges that are refused, on a new table. The table is in memory and
 * simulates the capacity and latencies of DynamoDB, since DynamoDB Local would compete for the processor.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { mergeAlerts } from '../../lib/http/operations.ts';
import { TIME_LIMITS } from '../../lib/shared/time-limits.ts';
import { loadData } from '../admin/data/load.ts';
import { createTokenBuckets } from '../local/token-buckets.ts';
import { connectDouble } from '../proof/simulation/double-client.ts';
import { TableDouble } from '../proof/simulation/table-double.ts';
import { benchHandlers } from './bench-service.ts';
import { accountLines, createAlerts, objectIds } from './data.ts';
import { runMergeLoad } from './merge-load.ts';
import type { AddFigure } from './report.ts';
import { createTimes, inTurns } from './timings.ts';

/** The account whose merges are refused, and the other accounts. */
const REFUSED_ACCOUNT = 101;
const NEIGHBOURS = Array.from({ length: 20 }, (_, index) => 201 + index);
/** Alerts of a merge that is refused, and of a neighbour's merge. */
const [LARGE, SMALL] = [9_600, 90] as const;
/** Rounds with and without refused merges. The figures are medians of the rounds. */
const ROUNDS = 5;
const SECONDS = 6;
/** Merges a second of all neighbours together. */
const MERGES_A_SECOND = 20;
/** Read units of a new table: Developer Guide, "DynamoDB on-demand capacity mode". */
const READ_UNITS = { rate: 12_000, burst: 12_000 };
/** Assumed latencies of DynamoDB, in milliseconds. */
const CALL_MS = 5;
const TRANSACTION_MS = 15;

const keyOf = (account: number) => `bench-key-of-refused-merges-${account}`.padEnd(32, '0');

/** A table in memory with a read limit for the whole table. Each key of a batch counts as one unit, since the rows are missing or small. */
function newTable() {
  const double = new TableDouble();
  const bucketOf = createTokenBuckets(1, () => performance.now());
  return connectDouble(async (request) => {
    await sleep(request.name === 'TransactWriteCommand' ? TRANSACTION_MS : CALL_MS);
    const { RequestItems = {} } = request.input as { RequestItems?: Record<string, { Keys?: unknown[] }> };
    const units = Object.values(RequestItems).reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
    const bucket = bucketOf('table', READ_UNITS);
    if (bucket.tokens < units) throw Object.assign(new Error(), { name: 'ThrottlingException' });
    bucket.tokens -= units;
    return double.apply(request);
  });
}

export async function refusedMerges(add: AddFigure): Promise<void> {
  const table = newTable();
  const accounts = [REFUSED_ACCOUNT, ...NEIGHBOURS];
  const lines = accounts.flatMap((account) => accountLines(account, keyOf(account)));
  await loadData(table, 'bench', lines, { nowMs: Date.now() });
  const refused = await createAlerts(table, REFUSED_ACCOUNT, LARGE);
  const neighbours = await Promise.all(
    NEIGHBOURS.map(async (account) => ({ account, ...(await createAlerts(table, account, SMALL)) })),
  );
  const { send } = benchHandlers(table, TIME_LIMITS);
  const merge = async (account: number, alert_ids: readonly string[] | undefined, incident_id: string) =>
    (await send(mergeAlerts, keyOf(account), { alert_ids, incident_id })).statusCode;

  // Merges that are refused by the first read, and by the last.
  const refusedIdLists = [objectIds(LARGE), [...refused.ids, ...objectIds(1)]];
  const mergeRefused = (_caller: number, index: number) =>
    merge(REFUSED_ACCOUNT, refusedIdLists[index % refusedIdLists.length], refused.incident);
  const mergeOfNeighbour = (_caller: number, index: number) => {
    const { account, ids, incident } = neighbours[index % neighbours.length] as (typeof neighbours)[number];
    return merge(account, ids, incident);
  };
  const { rate } = mergeAlerts.throttle;
  const sendRefused = () => runMergeLoad({ seconds: SECONDS, smallPerSecond: rate }, { small: mergeRefused });
  const count = { sent: 0, done: 0 };
  const p95 = async (load: () => Promise<unknown>): Promise<number> => {
    // Waits until the bucket of the table's units is full again.
    await sleep((1000 * READ_UNITS.burst) / READ_UNITS.rate);
    const [{ small }] = await Promise.all([
      runMergeLoad({ seconds: SECONDS, smallPerSecond: MERGES_A_SECOND }, { small: mergeOfNeighbour }),
      load(),
    ]);
    count.sent += small.sent;
    count.done += small.sent - small.refused;
    return small.times.percentile(95);
  };
  const [timesAlone, timesBeside] = [createTimes(), createTimes()];
  const noLoad = async () => undefined;
  for (const warmUp of [noLoad, sendRefused]) await p95(warmUp);
  await inTurns(ROUNDS, [
    async () => timesAlone.add(await p95(noLoad)),
    async () => timesBeside.add(await p95(sendRefused)),
  ]);
  const title = `neighbours' merges of ${SMALL} alerts beside ${rate} refused merges a second, each of ${LARGE} alerts`;
  add({
    name: `${title}: p95`,
    value: timesBeside.percentile(50),
    unit: 'ms',
    baseline: { name: 'without refused ones', value: timesAlone.percentile(50) },
    target: { most: 1.5 },
  });
  add({
    name: `${title}: done`,
    value: count.done,
    unit: 'merges',
    baseline: { name: 'sent', value: count.sent },
    target: { least: 1 },
  });
}
