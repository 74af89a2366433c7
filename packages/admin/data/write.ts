import type { FeedRecord } from '../../../lib/ingest/records.ts';
import { rowsOf } from '../../../lib/ingest/write-records.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { getRow } from '../../../lib/table/read.ts';
import { backoff, isThrottled } from '../../../lib/table/retry.ts';

/** Long waits, since callers need the table's capacity first. */
const BACKOFF = { baseMs: 50, maxMs: 5_000 };

/** Writes a record as the feed does, and waits while DynamoDB throttles. @returns whether it changed anything */
export async function writeRecord(table: Table, record: FeedRecord): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    table.signal?.throwIfAborted();
    try {
      if (await isKeptDeleted(table, record)) return false;
      const [row] = rowsOf([record]);
      return row !== undefined && (await row.write(table));
    } catch (error) {
      if (!isThrottled(error)) throw error;
    }
    await backoff(attempt, BACKOFF, table.signal);
  }
}

/** Whether the record is of a RUM resource that is deleted: unlike a record of the feed, an operator's does not undo that. */
async function isKeptDeleted(table: Table, { entity }: FeedRecord): Promise<boolean> {
  if (entity.kind !== 'rum_resource' || entity.deleted === true) return false;
  return (await getRow(table, keys.rumResource(entity.account_id), ['deleted']))?.deleted === true;
}
