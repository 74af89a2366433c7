import type { Table } from '../../../lib/dynamodb/client.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { getRow } from '../../../lib/dynamodb/row.ts';
import { gapsIn } from '../../../lib/operations/merge-alerts/feed.ts';
import { type PendingMerge, readAllPending, readPending } from '../../../lib/operations/merge-alerts/merge-order.ts';
import { readMovedSlices } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

/** A committed merge with alerts left to move, and how many have been moved. */
export interface MergeProgress {
  account_id: Int64;
  incident_id: string;
  sequence: number;
  /** The request id of its call. This and the fields below are absent if its entry is missing, which `check` reports. */
  request_id?: string;
  /** Unix milliseconds of its commit. */
  at_ms?: number;
  alerts?: number;
  moved?: number;
}

/** All pending merges, by ascending sequence. @param account absent: all accounts, which costs a read unit for each */
export async function readMergeProgress(table: Table, account?: Int64): Promise<MergeProgress[]> {
  const pending = account === undefined ? await readAllPending(table) : await readPending(table, account);
  const all: MergeProgress[] = [];
  await forEach(pending, async (merge) => all.push(await progressOf(table, merge)), { signal: table.signal });
  return all.sort((a, b) => a.sequence - b.sequence);
}

async function progressOf(table: Table, { account, entryId }: PendingMerge): Promise<MergeProgress> {
  const { incidentId, sequence } = entryId;
  const identity = { account_id: account, incident_id: incidentId, sequence };
  const entry = await getRow(table, keys.feedEntry(account, incidentId, sequence));
  if (!entry) return identity;
  const { request_id, at_ms, alerts = 0 } = entry;
  const movedSlices = await readMovedSlices(table, { account, entry, alertIds: [] });
  const unmoved = gapsIn({ start: 0, end: alerts }, movedSlices).reduce((sum, { start, end }) => sum + end - start, 0);
  return { ...identity, request_id, at_ms, alerts, moved: alerts - unmoved };
}

/** Such as `2,031 of 5,000 alerts moved`. */
export const progressText = ({ alerts, moved }: Pick<MergeProgress, 'alerts' | 'moved'>) =>
  alerts === undefined
    ? 'its entry is missing: run `check`'
    : `${moved?.toLocaleString('en')} of ${alerts.toLocaleString('en')} alerts moved`;
