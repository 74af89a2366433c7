/**
 * Many merges of one account at the same time, by callers who merge one alert each and callers who merge 2,000. DynamoDB Local answers at once
 * and its transactions never conflict, so the calls go through a proxy that adds latencies and conflicts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTable } from '../../../lib/dynamodb/client.ts';
import { mergeAlerts } from '../../../lib/http/operations.ts';
import { finishMerge } from '../../../lib/operations/merge-alerts/finish.ts';
import { readMergeOrder } from '../../../lib/operations/merge-alerts/merge-order.ts';
import { benchHandlers, startBenchService } from '../bench-service.ts';
import { accountLines, createAlerts } from '../data.ts';
import { startLimitsProxy } from '../limits/limits-proxy.ts';
import { type LoadResult, runMergeLoad } from '../merge-load.ts';
import { refusedMerges } from '../refused-merges.ts';
import type { AddFigure } from '../report.ts';

const ACCOUNT = 1;
/** Its small merges are a baseline: they run on the same busy machine as those of {@link ACCOUNT}, but share no row with them. */
const OTHER_ACCOUNT = 2;
const keyOf = (account: number) => `bench-key-of-merges-of-account-${account}`.padEnd(32, '0');
const SECONDS = 30;
const LARGE_CALLERS = 6;
/** Assumed latencies of DynamoDB, in milliseconds. Its limits of throughput are switched off. */
const DYNAMODB = { callMs: 5, transactionMs: 15, writeUnits: 1e9, readUnits: 1e9 };
/** The window of the read budget for an account's merges, in milliseconds. */
const BUDGET_MS = 3_000;

async function concurrentMerges(add: AddFigure): Promise<void> {
  const lines = [ACCOUNT, OTHER_ACCOUNT].flatMap((account) => accountLines(account, keyOf(account)));
  const { table, endpoint, stop } = await startBenchService(lines);
  const proxy = await startLimitsProxy(endpoint, DYNAMODB);
  const proxiedTable = connectTable({ name: table.name, endpoint: proxy.endpoint });
  const { send } = benchHandlers(proxiedTable);

  /** Merges of an account: small ones of one alert, and large ones of 2,000. */
  async function mergesOf(account: number) {
    const create = (count: number) => createAlerts(table, account, count);
    const small = await create(1_000);
    const incidents = await Promise.all(Array.from({ length: 20 }, async () => (await create(0)).incident));
    const large = await Promise.all(Array.from({ length: LARGE_CALLERS }, () => create(2_000)));
    async function merge(alert_ids: readonly string[], index: number): Promise<number> {
      const incident_id = incidents[index % incidents.length];
      const { statusCode } = await send(mergeAlerts, keyOf(account), { alert_ids, incident_id });
      if (statusCode !== 429) return statusCode;
      // The read budget is used up, which is not measured here.
      await sleep(BUDGET_MS - (Date.now() % BUDGET_MS));
      return merge(alert_ids, index);
    }
    return {
      small: (_caller: number, index: number) => merge([small.ids[index % small.ids.length] as string], index),
      large: (caller: number, index: number) => merge(large[caller]?.ids ?? [], index),
    };
  }
  const merges = await mergesOf(ACCOUNT);
  const { small: smallOfOther } = await mergesOf(OTHER_ACCOUNT);
  async function finishAll(): Promise<void> {
    const { pending = [] } = await readMergeOrder(table, ACCOUNT);
    for (const merge of pending) await finishMerge(table, ACCOUNT, merge);
  }

  const alone = await runMergeLoad({ seconds: 5, smallPerSecond: 2 }, merges);
  const mergeAlone = { name: 'p50 of a merge alone', value: alone.small.times.percentile(50) };
  /** Adds the figures of small merges. @param most the target of the p99's ratio to the baseline */
  const addSmall = (
    load: string,
    { small: { sent, refused, times } }: LoadResult,
    most: number,
    baseline = mergeAlone,
  ) => {
    add({
      name: `${load}: done`,
      value: sent - refused,
      unit: 'merges',
      baseline: { name: 'sent', value: sent },
      target: { least: 1 },
    });
    add({
      name: `${load}: p99`,
      value: times.percentile(99),
      unit: 'ms',
      baseline,
      target: { most },
    });
  };
  addSmall('20 small merges a second', await runMergeLoad({ seconds: SECONDS, smallPerSecond: 20 }, merges), 10);
  // All 40 write the same row, so they are committed one after another.
  addSmall('40 small merges at once', await runMergeLoad({ seconds: 1, smallPerSecond: 40, atOnce: true }, merges), 25);
  const onlyLarge = await runMergeLoad({ seconds: SECONDS, smallPerSecond: 0, largeCallers: LARGE_CALLERS }, merges);
  await finishAll();
  const [beside, ofOther] = await Promise.all([
    runMergeLoad({ seconds: SECONDS, smallPerSecond: 10, largeCallers: LARGE_CALLERS }, merges),
    runMergeLoad({ seconds: SECONDS, smallPerSecond: 10 }, { small: smallOfOther }),
  ]);
  await finishAll();
  const otherAccount = { name: "p99 of another account's merges meanwhile", value: ofOther.small.times.percentile(99) };
  addSmall('10 small merges a second beside 6 callers of 2,000', beside, 3, otherAccount);
  add({
    name: 'merges of 2,000 beside them',
    value: beside.large.committed,
    unit: 'merges',
    baseline: { name: 'without small ones', value: onlyLarge.large.committed },
    target: { least: 0.8 },
  });
  proxiedTable.client.destroy();
  await proxy.close();
  await stop();
}

export async function run(add: AddFigure): Promise<void> {
  await concurrentMerges(add);
  await refusedMerges(add);
}
