import { readEntry } from '../../../lib/operations/merge-alerts/entry.ts';
import { listPendingEntryIds, type PendingEntryId } from '../../../lib/operations/merge-alerts/log-head.ts';
import { latestEntryOf, readAssignments } from '../../../lib/operations/merge-alerts/move.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';

/** A committed merge that is not written to the rows of all its alerts, and to how many it is. */
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
  const pending = await listPendingEntryIds(table, account);
  const all: MergeProgress[] = [];
  await forEach(pending, async (merge) => all.push(await progressOf(table, merge)), { signal: table.signal });
  return all.sort((a, b) => a.sequence - b.sequence);
}

async function progressOf(table: Table, { account, entryId }: PendingEntryId): Promise<MergeProgress> {
  const { incidentId, sequence } = entryId;
  const identity = { account_id: account, incident_id: incidentId, sequence };
  const found = await readEntry(table, account, entryId);
  if (!found) return identity;
  const { request_id, at_ms } = found.entry;
  const rows = await readAssignments(table, account, found.moves);
  const moved = [...rows.values()].filter((row) => latestEntryOf(row) >= sequence).length;
  return { ...identity, request_id, at_ms, alerts: found.moves.length, moved };
}
