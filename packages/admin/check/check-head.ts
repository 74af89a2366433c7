import type { EntryWithMoves } from '../../../lib/operations/merge-alerts/entry.ts';
import { pendingAt } from '../../../lib/operations/merge-alerts/log-head.ts';
import { all, expression, is, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { conditionCheck, updateAction } from '../../../lib/table/write.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';

/**
 * Checks that the log head counts the entries, and has the latest sequence that any row names: that of an entry that is lost must not be used
 * again, which a clock that was ahead would lead to. All its pending entries must exist, and not be overdue.
 * @param overdueMs a merge that was committed before this time is to be finished
 */
export function* checkHead(rows: MergeRows, entries: readonly EntryWithMoves[], overdueMs: number): Generator<Finding> {
  const { account, head } = rows;
  const finding = findingsOf(account);
  const key = keys.logHead(account);
  const last = latestIn(rows);
  const lastLarge = entries.findLast(({ entry }) => entry.large)?.entry.sequence ?? 0;
  const countUpTo = (sequence: number) => entries.filter(({ entry }) => entry.sequence <= sequence).length;
  const right = { last: Math.max(last, head.last), last_large: Math.max(lastLarge, head.lastLarge ?? 0) || undefined };
  const correct = updateAction(
    key,
    // Absent for none, as the condition has it.
    set({ ...right, entries: entries.length || undefined }),
    all(is('last', head.last || undefined), is('entries', head.entries || undefined)),
  );
  const counted = countUpTo(head.last);
  if (last > head.last || lastLarge > (head.lastLarge ?? 0)) {
    const detail = `its last is ${head.last || 'absent'}, its last_large ${head.lastLarge ?? 'absent'}`;
    yield finding('log_head_behind', { sequence: Math.max(last, lastLarge) }, detail, correct);
  } else if (counted !== head.entries)
    yield finding('log_count_wrong', { sequence: head.last }, `${head.entries} instead of ${counted}`, correct);
  for (const { sequence, incidentId: incident_id } of head.pending ?? []) {
    const found = entries.find(({ entry }) => entry.sequence === sequence && entry.incident_id === incident_id);
    const ids = { incident_id, sequence };
    const isPending = expression`${pendingAt(sequence)} = ${incident_id}`;
    if (!found) {
      const remove = updateAction(key, expression`REMOVE ${pendingAt(sequence)}`, isPending);
      yield finding('pending_entry_missing', ids, 'every further merge would look for it', remove);
      continue;
    }
    const { read_since, at_ms } = found.entry;
    const before = countUpTo(read_since?.last ?? 0);
    if (read_since && read_since.entries !== before) {
      const recount = set({ read_since: { ...read_since, entries: before } });
      const isAsCounted = expression`read_since.#entries = ${read_since.entries}`;
      const correctEntry = updateAction(keys.historyEntry(account, incident_id, sequence), recount, isAsCounted);
      yield finding('log_count_wrong', ids, `${read_since.entries} before it instead of ${before}`, correctEntry);
    }
    if (at_ms < overdueMs)
      // The fix is only this condition, since every repair finishes the pending merges.
      yield finding('merge_unfinished', ids, 'alerts of it are left to move', conditionCheck(key, isPending));
  }
}

/** The latest sequence that any row names. */
function latestIn({ head, completed, entries, log, alerts, incidents, idempotencyKeys }: MergeRows): number {
  let latest = Math.max(head.lastLarge ?? 0, completed ?? 0);
  const note = (...sequences: (number | undefined)[]) => {
    for (const sequence of sequences) if (sequence !== undefined && sequence > latest) latest = sequence;
  };
  for (const { sequence } of head.pending ?? []) note(sequence);
  for (const { sequence, undone_sequence, read_since } of entries.map(({ entry }) => entry))
    note(sequence, undone_sequence, read_since?.last);
  for (const { sk } of log) note(Number(sk));
  for (const { moved_sequence } of alerts.values()) note(moved_sequence);
  for (const { title_by, owner_by } of incidents.values()) note(title_by, owner_by);
  for (const { sequence } of idempotencyKeys) note(sequence);
  return latest;
}
