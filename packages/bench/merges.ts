/**
 * Merges of one account at the same time, by callers who merge one alert each and callers who merge 2,000. DynamoDB Local answers at once and its
 * transactions never conflict, so the calls go through a proxy that adds latencies and conflicts. All callers run in this process, unlike Lambda.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import { connectTable } from '../../lib/table/client.ts';
import { startLimitsProxy } from '../../test/limits-proxy/limits-proxy.ts';
import { type LoadResult, runMergeLoad } from './merge-load.ts';
import type { Figure } from './run.ts';
import { accountLines, benchHandlers, createAlerts, startBenchService } from './service.ts';

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

export async function run(add: (figure: Figure) => void): Promise<void> {
  const lines = [ACCOUNT, OTHER_ACCOUNT].flatMap((account) => accountLines(account, keyOf(account)));
  await using resources = new AsyncDisposableStack();
  const { table, endpoint } = resources.adopt(await startBenchService(lines), ({ stop }) => stop());
  const proxy = resources.adopt(await startLimitsProxy(endpoint, DYNAMODB), ({ close }) => close());
  const proxied = connectTable({ name: table.name, endpoint: proxy.endpoint });
  resources.defer(() => proxied.client.destroy());
  const { send } = benchHandlers(proxied);

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

  const alone = await runMergeLoad({ seconds: 5, smallPerSecond: 2 }, merges);
  const mergeAlone = { name: 'p50 of a merge alone', value: alone.small.times.percentile(50) };
  const addSmall = (
    load: string,
    { small: { refused, sent, times } }: LoadResult,
    most: number,
    baseline = mergeAlone,
  ) => {
    const unit = 'merges';
    add({ name: `${load}: refused`, value: refused, unit, baseline: { name: 'sent', value: sent }, most: 0 });
    add({ name: `${load}: p99`, value: times.percentile(99), unit: 'ms', baseline, most });
  };
  addSmall('20 small a second', await runMergeLoad({ seconds: SECONDS, smallPerSecond: 20 }, merges), 10);
  // All 40 write the same row, so they are committed one after another.
  addSmall('40 small at once', await runMergeLoad({ seconds: 1, smallPerSecond: 40, atOnce: true }, merges), 25);
  const [beside, ofOther] = await Promise.all([
    runMergeLoad({ seconds: SECONDS, smallPerSecond: 10, largeCallers: LARGE_CALLERS }, merges),
    runMergeLoad({ seconds: SECONDS, smallPerSecond: 10 }, { small: smallOfOther }),
  ]);
  const otherAccount = { name: "p99 of another account's meanwhile", value: ofOther.small.times.percentile(99) };
  addSmall(`10 a second beside ${LARGE_CALLERS} callers of 2,000`, beside, 3, otherAccount);
}
