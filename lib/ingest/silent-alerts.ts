/** Ends open alerts by silence: those of which no record has come for the time that their last record gave. */
import type { Context } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import { type AlertRow, isOpenAlert } from '../model/alert.ts';
import { sentOf } from '../model/order.ts';
import { forEach } from '../shared/concurrency.ts';
import type { Int64 } from '../shared/json.ts';
import { alertIndex, queryAlertIndex } from '../table/alert-index.ts';
import { type Table, withSignal } from '../table/client.ts';
import { keys, type PartitionOf, parseKey, partitions } from '../table/keys.ts';
import { batchGet, getRow, queryRows } from '../table/read.ts';
import { endSilentAlert } from './alert-rows.ts';

/** How long before the function's time-out it stops, in milliseconds. */
const EARLY_MS = 5_000;
/** How long records may wait in the queue: if longer, those that would keep an alert open may be among them. */
const MAX_BACKLOG_S = 15 * 60;
/** Alerts that one call reads. */
const AT_ONCE = 100;
const ATTRIBUTES = [
  ...(['alert_id', 'alert_key', 'key_order', 'silent_after_s'] as const),
  ...(['alert_severity', 'started_at_ms', 'ended_at_ms'] as const),
] as const;

/** When an open alert ends unless a further record of its key comes, in Unix milliseconds; undefined: never. */
const silentAtMs = (row: Pick<AlertRow, 'key_order' | 'ended_at_ms' | 'silent_after_s'>): number | undefined =>
  isOpenAlert(row) && row.silent_after_s !== undefined && row.key_order
    ? sentOf(row.key_order) + row.silent_after_s * 1_000
    : undefined;

/**
 * Handler of end-silent-alerts. Each open alert costs half a read unit for each started 4 KB of its row.
 * @param oldestMessageS reads the age of the oldest message of the ingest queue, in seconds
 */
export function createEndSilentAlerts(
  { table, now, log, settings }: Pick<Deps, 'table' | 'now' | 'log' | 'settings'>,
  oldestMessageS: () => Promise<number>,
) {
  return async function endSilentAlerts(
    _event: unknown,
    { getRemainingTimeInMillis }: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<void> {
    if (settings.standby || settings.writesFrozen) return;
    const ageS = await oldestMessageS();
    if (ageS > MAX_BACKLOG_S) return log.warn('no alert ended by silence, since records wait', { age_s: ageS });
    const own = withSignal(table, AbortSignal.timeout(Math.max(1, getRemainingTimeInMillis() - EARLY_MS)));
    let ended = 0;
    for (const { pk, sk } of await queryRows(own, partitions.listedAccount(), { attributes: ['pk', 'sk'] })) {
      const { account } = parseKey({ pk, sk }) ?? {};
      if (account !== undefined && (await isActive(own, account))) ended += await endOfAccount(own, account);
    }
    if (ended > 0) log.info('alerts ended by silence', { alerts: ended });
  };

  async function endOfAccount(own: Table, account: Int64): Promise<number> {
    let ended = 0;
    await forEach(alertIndex.partitions(account, 'OPEN'), async (partition) => {
      for await (const rows of openAlerts(own, account, partition))
        await forEach(rows, async (row) => {
          const endMs = silentAtMs(row);
          if (endMs !== undefined && endMs <= now() && (await endSilentAlert(own, account, row, endMs, settings)))
            ended += 1;
        });
    });
    return ended;
  }
}

/** An account that is suspended sends nothing by our will, and the rows of one that is erased are being deleted. */
async function isActive(table: Table, account: Int64): Promise<boolean> {
  const row = await getRow(table, keys.account(account), ['suspended', 'erased_at_ms']);
  return row !== undefined && !row.suspended && row.erased_at_ms === undefined;
}

async function* openAlerts(table: Table, account: Int64, partition: PartitionOf<'alert'>) {
  for (let after: string | undefined; ; ) {
    const places = await queryAlertIndex(table, partition, { limit: AT_ONCE, after });
    if (places.length === 0) return;
    after = places.at(-1);
    const alertKeys = places.map((place) => keys.alert(account, alertIndex.alertIdOf(place)));
    const { rows } = await batchGet(table, alertKeys, { consistent: false, attributes: ATTRIBUTES });
    yield [...rows.values()];
  }
}
