import { defined } from '../../../lib/model/fields.ts';
import type { IncidentRow } from '../../../lib/model/incident.ts';
import { isBefore, orderOfTime } from '../../../lib/model/order.ts';
import type { EntryWithMoves } from '../../../lib/operations/merge-alerts/entry.ts';
import { changesOf } from '../../../lib/operations/merge-alerts/incident.ts';
import { isAsRead, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import type { HistoryEntry } from '../../../lib/table/rows.ts';
import { updateAction } from '../../../lib/table/write.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';

/**
 * Checks that each incident has the title and the owner of the latest entry of its history that gave one, unless a record of a later time has
 * replaced it; without such an entry, those that the feed gave last.
 */
export function* checkIncidents(
  { account, incidents }: MergeRows,
  entries: readonly EntryWithMoves[],
): Generator<Finding> {
  const finding = findingsOf(account);
  const histories = Map.groupBy(
    entries.map(({ entry }) => entry),
    ({ incident_id }) => incident_id,
  );
  for (const [incidentId, incident] of incidents) {
    const history = histories.get(incidentId) ?? [];
    const known = new Set(history.map(({ sequence }) => sequence));
    for (const each of [TITLE, OWNER]) {
      const { by, read } = each;
      const last = history.findLast((entry) => entry[each.given] !== undefined);
      const stored = incident[by];
      if (stored === last?.sequence) continue;
      const isMissing = stored !== undefined && !known.has(stored);
      const said = each.saidByFeed(incident);
      const isReplaced = last && !isBefore(said[each.order], orderOfTime(last.at_ms));
      const expected = !last || isReplaced ? { ...said, [by]: last?.sequence } : changesOf(each.only(last), said);
      yield finding(
        isMissing ? 'incident_entry_missing' : 'entry_not_applied',
        { incident_id: incidentId, sequence: (isMissing ? stored : last?.sequence) ?? 0 },
        isMissing
          ? `its ${each.what} goes back to what it was`
          : `its ${each.what} is as before entry ${last?.sequence}`,
        updateAction(
          keys.incident(account, incidentId),
          set({ ...Object.fromEntries(read.map((name) => [name, undefined])), ...expected }),
          isAsRead(incident, read),
        ),
      );
    }
  }
}

const TITLE = {
  ...({ what: 'title', given: 'new_title', by: 'title_by', order: 'title_order' } as const),
  read: ['title', 'title_order', 'title_by', 'feed_title', 'feed_title_order'] as const,
  /** An entry that gives only a title. */
  only: ({ new_owner_id: _owner, ...entry }: HistoryEntry) => entry,
  /** As the incident would be without merges. */
  saidByFeed: ({ title, title_order, feed_title, feed_title_order }: IncidentRow): Partial<IncidentRow> =>
    defined(feed_title === undefined ? { title, title_order } : { title: feed_title, title_order: feed_title_order }),
};

const OWNER = {
  ...({ what: 'owner', given: 'new_owner_id', by: 'owner_by', order: 'owner_order' } as const),
  read: ['owner_id', 'owner_order', 'owner_by', 'feed_owner_id', 'feed_owner_order'] as const,
  only: ({ new_title: _title, ...entry }: HistoryEntry) => entry,
  saidByFeed: ({ owner_id, owner_order, feed_owner_id, feed_owner_order }: IncidentRow): Partial<IncidentRow> =>
    defined(
      feed_owner_id === undefined
        ? { owner_id, owner_order }
        : { owner_id: feed_owner_id ?? undefined, owner_order: feed_owner_order },
    ),
};
