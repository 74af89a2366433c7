import type { EntryWithMoves, Move } from '../../../lib/operations/merge-alerts/entry.ts';
import { isAsRead, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { updateAction } from '../../../lib/table/write.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';
import { saidByFeed } from './true-moves.ts';

const incidentText = (incidentId: string | undefined) => incidentId ?? 'no incident';

/**
 * Checks that each alert is where the latest entry that took it put it, and records that entry; one that no entry took is in the incident that
 * the feed named last.
 * @param entries with their true moves, oldest first
 */
export function* checkAlerts(
  { account, alerts, head }: MergeRows,
  entries: readonly EntryWithMoves[],
): Generator<Finding> {
  const finding = findingsOf(account);
  const pending = new Set(head.pending?.map(({ sequence }) => sequence));
  const known = new Set(entries.map(({ entry }) => entry.sequence));
  const latest = new Map<string, Move & { sequence: number }>();
  for (const { entry, moves } of entries)
    for (const move of moves) latest.set(move.alertId, { ...move, sequence: entry.sequence });
  for (const [alertId, alert] of alerts) {
    const { incident_id: current, moved_sequence: by } = alert;
    const last = latest.get(alertId);
    if (by === last?.sequence && (last === undefined || current === last.to)) continue;
    const isUnknown = by !== undefined && !known.has(by);
    // The entry is to be finished yet.
    if (last && pending.has(last.sequence) && !isUnknown && (by ?? 0) < last.sequence) continue;
    const said = saidByFeed(alert);
    const [expected, why] = last ? [last.to, `by entry ${last.sequence}`] : [said, 'as the feed said'];
    const moved = { moved_sequence: last?.sequence, moved_from: last?.from, feed_incident: last && said };
    yield finding(
      isUnknown ? 'alert_entry_missing' : 'alert_misplaced',
      { alert_id: alertId, ...(by !== undefined && { sequence: by }) },
      `it is in ${incidentText(current)} and belongs in ${incidentText(expected)}, ${why}`,
      updateAction(
        keys.alert(account, alertId),
        set({ incident_id: expected, ...moved, event: undefined }),
        isAsRead(alert, ['incident_id', 'moved_sequence', 'feed_incident']),
      ),
    );
  }
}
