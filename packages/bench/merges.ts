/**
 * Merges of one account beside each other. DynamoDB Local answers at once and its transactions never conflict, so those of many small merges go
 * through a proxy that adds latencies and conflicts; all callers run in this process, unlike Lambda. Beside large merges see `fairness.ts`.
 */
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import { connectTable } from '../../lib/table/client.ts';
import { startLimitsProxy } from '../../test/limits-proxy/limits-proxy.ts';
import { type Fairness, measureFairness } from './fairness.ts';
import { type MergeLoad, runMergeLoad } from './merge-load.ts';
import type { Figure } from './run.ts';
import { accountLines, benchHandlers, createAlerts, startBenchService } from './service.ts';

const ACCOUNT = 1;
const APP_KEY = 'bench-key-of-merges-0000000000000000';
/** Assumed latencies of DynamoDB, in milliseconds. Its limits of throughput are switched off. */
const DYNAMODB = { callMs: 5, transactionMs: 15, writeUnits: 1e9, readUnits: 1e9 };
const SECOND = { name: 'a second', value: 1_000 };

type Add = (figure: Figure) => void;

function addRefused(add: Add, name: string, { refused, sent }: { refused: number; sent: number }): void {
  add({ name, value: refused, unit: 'merges', baseline: { name: 'sent', value: sent }, most: 0 });
}

export async function run(add: Add): Promise<void> {
  await measureSmall(add);
  await addFairness(add, { smallPerSecond: 5, largeSize: 2_000, isLimited: false });
  await addFairness(add, { smallPerSecond: 20, largeSize: 400, isLimited: true });
}

async function measureSmall(add: Add): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const { table, endpoint } = resources.adopt(await startBenchService(accountLines(ACCOUNT, APP_KEY)), ({ stop }) =>
    stop(),
  );
  const proxy = resources.adopt(await startLimitsProxy(endpoint, DYNAMODB), ({ close }) => close());
  const proxied = connectTable({ name: table.name, endpoint: proxy.endpoint });
  resources.defer(() => proxied.client.destroy());
  const { send } = benchHandlers(proxied);
  const { ids } = await createAlerts(table, ACCOUNT, 1_000);
  const incidents = await Promise.all(
    Array.from({ length: 20 }, async () => (await createAlerts(table, ACCOUNT, 0)).incident),
  );
  const small = async (_caller: number, index: number) => {
    const alert_ids = [ids[index % ids.length]];
    const { statusCode } = await send(mergeAlerts, APP_KEY, { alert_ids, incident_id: incidents[index % 20] });
    return statusCode;
  };

  const alone = await runMergeLoad({ seconds: 5, smallPerSecond: 2 }, { small });
  const mergeAlone = { name: 'p50 of a merge alone', value: alone.small.times.percentile(50) };
  async function addLoad(name: string, load: MergeLoad, most: number) {
    const { refused, sent, times } = (await runMergeLoad(load, { small })).small;
    addRefused(add, `${name}: refused`, { refused, sent });
    add({ name: `${name}: p99`, value: times.percentile(99), unit: 'ms', baseline: mergeAlone, most });
  }
  await addLoad('20 small a second', { seconds: 30, smallPerSecond: 20 }, 10);
  // All 40 write the same row, so they are committed one after another.
  await addLoad('40 small at once', { seconds: 1, smallPerSecond: 40, atOnce: true }, 25);
}

async function addFairness(add: Add, fairness: Fairness): Promise<void> {
  const { smallPerSecond, largeSize, isLimited } = fairness;
  const { small, large } = await measureFairness(fairness);
  const load = `${smallPerSecond} small a second beside a caller of ${largeSize}${isLimited ? ', with limits' : ''}`;
  addRefused(add, `${load}: refused`, small);
  add({ name: `${load}: p99`, value: small.p99, unit: 'ms', baseline: SECOND, most: 1 });
  addRefused(add, `${load}: large ones refused`, large);
}
