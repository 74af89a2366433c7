/** When each account last sent a record of each kind, so that a sender that has gone quiet is seen. */
import QuickLRU from 'quick-lru';
import type { Deps } from '../deps.ts';
import { isCurrent, type Moment, momentOf } from '../http/app-keys.ts';
import { forEach } from '../shared/concurrency.ts';
import type { Table } from '../table/client.ts';
import { isBelow, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { rowName } from '../table/read.ts';
import { updateRow } from '../table/write.ts';
import type { IngestRecord } from './records.ts';

/** A function stores a time at most this often for each account and kind: a write unit each. */
const INTERVAL_MS = 5 * 60_000;
/** A soft limit: QuickLRU keeps up to twice as many. */
const MAX_REMEMBERED = 10_000;

export function createLastRecords(clocks: Pick<Deps, 'now' | 'monotonicNow'>) {
  const stored = new QuickLRU<string, Moment>({ maxSize: MAX_REMEMBERED });

  /** Stores when the latest of these records was sent, for each account and kind. Ignores errors: a later batch tries again. */
  return async function noteLast(
    table: Table,
    records: readonly IngestRecord[],
    sentMsOf: (record: IngestRecord) => number,
  ): Promise<void> {
    const ofSenders = Map.groupBy(records, ({ sent }) => `${sent.account_id} ${sent.kind}`);
    await forEach(ofSenders.values(), async (ofSender) => {
      const { account_id, kind } = (ofSender[0] as IngestRecord).sent;
      const key = keys.lastRecord(account_id, kind);
      const since = stored.get(rowName(key));
      if (since && isCurrent(since, INTERVAL_MS, clocks)) return;
      const now = momentOf(clocks);
      const sent_at_ms = ofSender.reduce((latest, record) => Math.max(latest, sentMsOf(record)), 0);
      await updateRow(table, key, set({ sent_at_ms }), isBelow('sent_at_ms', sent_at_ms)).then(
        () => stored.set(rowName(key), now),
        () => undefined,
      );
    });
  };
}
