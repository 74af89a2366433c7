import { expression, IS_NEW, is, isBelow, set } from '../../../lib/dynamodb/expression.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { conditionCheck, updateAction } from '../../../lib/dynamodb/transact.ts';
import { pendingAt } from '../../../lib/operations/merge-alerts/merge-order.ts';
import type { FeedEntryWithAlerts } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';

/** An unfinished merge is reported this long after its commit; finish-merges begins within a minute. */
const OVERDUE_MS = 5 * 60_000;

/** Checks that the merge order has the latest sequences, and that exactly the unfinished entries are pending. */
export function* checkMergeOrder(
  { account, order }: MergeRows,
  entries: readonly FeedEntryWithAlerts[],
  nowMs: number,
): Generator<Finding> {
  const key = keys.mergeOrder(account);
  const finding = findingsOf(account);
  const isPending = (sequence: number, incidentId: string) => expression`${pendingAt(sequence)} = ${incidentId}`;
  const latestIn = (candidates: readonly FeedEntryWithAlerts[]) =>
    candidates.reduce((last, { entry }) => Math.max(last, entry.sequence), 0);
  const largeEntries = entries.filter(({ entry }) => entry.large);
  for (const [name, known, last] of [
    ['last', order.last, latestIn(entries)],
    ['last_large', order.lastLarge ?? 0, latestIn(largeEntries)],
  ] as const) {
    const raiseTo = updateAction(key, set({ [name]: last }), isBelow(name, last));
    if (last > known)
      yield finding('merge_order_behind', { sequence: last }, `its ${name} is ${known || 'absent'}`, raiseTo);
  }

  const recorded = new Map((order.pending ?? []).map(({ sequence, incidentId }) => [sequence, incidentId]));
  const unfinished = new Map(
    entries.flatMap(({ entry, unmovedFrom }) =>
      unmovedFrom === undefined ? [] : [[entry.sequence, { incidentId: entry.incident_id, unmovedFrom }]],
    ),
  );
  let hasMap = order.pending !== undefined;
  for (const [sequence, { incidentId, unmovedFrom }] of unfinished) {
    if (recorded.get(sequence) === incidentId) continue;
    const mark = hasMap
      ? updateAction(key, expression`SET ${isPending(sequence, incidentId)}`)
      : updateAction(key, set({ pending: { [sequence]: incidentId } }), is('pending', undefined));
    hasMap = true;
    // Fails if the merge has been finished meanwhile: then it must not become pending again.
    const isUnmoved = conditionCheck(keys.feedMoves(account, incidentId, sequence, unmovedFrom), IS_NEW);
    const ids = { incident_id: incidentId, sequence };
    yield finding('pending_mark_missing', ids, 'nothing would finish it', mark, isUnmoved);
  }
  for (const [sequence, incidentId] of recorded) {
    if (unfinished.get(sequence)?.incidentId === incidentId) continue;
    const remove = updateAction(key, expression`REMOVE ${pendingAt(sequence)}`, isPending(sequence, incidentId));
    const ids = { incident_id: incidentId, sequence };
    yield finding('pending_mark_left', ids, 'every further merge would check it', remove);
  }

  // If the table was restored to a moment within a merge, no message of the queue finishes that merge.
  for (const { entry, pending: isUnfinished } of entries) {
    const { incident_id, sequence } = entry;
    if (!isUnfinished || nowMs - entry.at_ms <= OVERDUE_MS || recorded.get(sequence) !== incident_id) continue;
    // The fix is only this condition, since every repair finishes the pending merges.
    const stillPending = conditionCheck(key, isPending(sequence, incident_id));
    yield finding('merge_unfinished', { incident_id, sequence }, 'alerts of it are left to move', stillPending);
  }
}
