import { lastOf } from '../incidents/merge-order.ts';
import type { FeedItem } from '../incidents/read.ts';
import { attribute, expression, IS_NEW, is, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { checkAction, updateAction } from '../table/transact.ts';
import type { Finding } from './finding.ts';
import type { MergeRows } from './merge-rows.ts';

/** Milliseconds after its commit; finish-merges begins within a minute. */
const OVERDUE_MS = 5 * 60_000;

/** Whether the merge order knows the latest entries, and exactly those that have alerts left to move. */
export function* checkMergeOrder(
  { account, order }: MergeRows,
  entries: readonly FeedItem[],
  nowMs: number,
): Generator<Finding> {
  const key = keys.mergeOrder(account);
  const isPending = (sequence: number, incidentId: string) =>
    expression`#pending.${attribute(String(sequence))} = ${incidentId}`;
  const latest = (of: readonly FeedItem[]) => of.reduce((last, { entry }) => Math.max(last, entry.sequence), 0);
  const largeEntries = entries.filter(({ entry }) => entry.large);
  for (const [name, known, last] of [
    ['last', lastOf(order), latest(entries)],
    ['last_large', order.own.lastLarge ?? 0, latest(largeEntries)],
  ] as const)
    if (last > known)
      yield {
        kind: 'merge_order_behind',
        account,
        ids: { sequence: last },
        detail: `its ${name} is ${known || 'absent'}`,
        fixes: [
          updateAction(
            key,
            set({ [name]: last }),
            expression`attribute_not_exists(${attribute(name)}) OR ${attribute(name)} < ${last}`,
          ),
        ],
      };

  const marked = new Map((order.pending ?? []).map(({ sequence, incidentId }) => [sequence, incidentId]));
  const pending = new Map(
    entries.flatMap(({ entry, unmovedFrom }) =>
      unmovedFrom === undefined ? [] : [[entry.sequence, { incidentId: entry.incident_id, unmovedFrom }]],
    ),
  );
  let hasMap = order.pending !== undefined;
  for (const [sequence, { incidentId, unmovedFrom }] of pending) {
    if (marked.get(sequence) === incidentId) continue;
    const mark = hasMap
      ? updateAction(key, expression`SET ${isPending(sequence, incidentId)}`)
      : updateAction(key, set({ pending: { [sequence]: incidentId } }), is('pending', undefined));
    hasMap = true;
    yield {
      kind: 'pending_mark_missing',
      account,
      ids: { incident_id: incidentId, sequence },
      detail: 'nothing would finish it',
      // So a write that arrives after another repair has finished the merge does not name it again.
      fixes: [mark, checkAction(keys.feedMoves(account, incidentId, sequence, unmovedFrom), IS_NEW)],
    };
  }
  for (const [sequence, incidentId] of marked) {
    if (pending.get(sequence)?.incidentId === incidentId) continue;
    yield {
      kind: 'pending_mark_left',
      account,
      ids: { incident_id: incidentId, sequence },
      detail: 'every further merge would check it',
      fixes: [
        updateAction(key, expression`REMOVE #pending.${attribute(String(sequence))}`, isPending(sequence, incidentId)),
      ],
    };
  }

  // A table that was restored to a moment within a merge has no message to finish it.
  for (const { entry, pending: isLeft } of entries)
    if (isLeft && nowMs - entry.at_ms > OVERDUE_MS && marked.get(entry.sequence) === entry.incident_id)
      yield {
        kind: 'merge_unfinished',
        account,
        ids: { incident_id: entry.incident_id, sequence: entry.sequence },
        detail: 'alerts of it are left to move',
        // There is nothing to write: a repair finishes what is pending.
        fixes: [checkAction(key, isPending(entry.sequence, entry.incident_id))],
      };
}
