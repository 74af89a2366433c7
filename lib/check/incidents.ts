import { changeOf } from '../incidents/feed.ts';
import type { FeedItem } from '../incidents/read.ts';
import type { FeedEntry, IncidentChange, IncidentRow } from '../incidents/rows.ts';
import type { Int64 } from '../json.ts';
import { isAsRead, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { type Action, updateAction } from '../table/transact.ts';
import type { Finding } from './finding.ts';
import { changesOf, type MergeRows } from './merge-rows.ts';

/** What merges change of an incident. */
type Fields = Pick<IncidentRow, 'title' | 'owner_id' | 'last_change'>;

/**
 * Whether incidents have the titles and owners that their feeds gave them last. What others have written since stays: an
 * incident notes which entry changed it last, and what was before.
 */
export function* checkIncidents({ account, incidents }: MergeRows, entries: readonly FeedItem[]): Generator<Finding> {
  for (const [incidentId, incident] of incidents) {
    const { loaded_after: loadedAfter = 0, last_change: noted } = incident;
    const changes = changesOf(entries, incidentId).filter(({ sequence }) => sequence > loadedAfter);
    const last = changes.at(-1);
    if (noted?.sequence === last?.sequence) continue;
    let should: Fields = incident;
    const isUnknown = noted !== undefined && !changes.some(({ sequence }) => sequence === noted.sequence);
    if (isUnknown) should = reverted(should, noted);
    const reached = isUnknown
      ? changes.findLast(({ sequence }) => sequence < noted.sequence)?.sequence
      : noted?.sequence;
    for (const entry of changes) if (entry.sequence > (reached ?? 0)) should = applied(should, entry);
    should = { ...should, ...(last ? { last_change: changeOf(last) } : {}) };
    if (!last) should = { title: should.title, ...(should.owner_id !== undefined && { owner_id: should.owner_id }) };
    yield {
      kind: isUnknown ? 'incident_entry_missing' : 'entry_not_applied',
      account,
      ids: { incident_id: incidentId, sequence: (isUnknown ? noted.sequence : last?.sequence) ?? 0 },
      detail: isUnknown
        ? 'its title and owner go back to what they were'
        : `its title and owner are as before entry ${last?.sequence}`,
      fixes: [put(account, incidentId, incident, should)],
    };
  }
}

const reverted = ({ title, owner_id }: Fields, { old_title, old_owner_id }: IncidentChange): Fields => {
  const owner = old_owner_id === undefined ? owner_id : (old_owner_id ?? undefined);
  return { title: old_title ?? title, ...(owner !== undefined && { owner_id: owner }) };
};

const applied = ({ title, owner_id }: Fields, { new_title, new_owner_id }: FeedEntry): Fields => {
  const owner = new_owner_id ?? owner_id;
  return { title: new_title ?? title, ...(owner !== undefined && { owner_id: owner }) };
};

/** Gives an incident these fields, if it is as it was read. */
function put(account: Int64, incidentId: string, was: IncidentRow, { title, owner_id, last_change }: Fields): Action {
  return updateAction(
    keys.incident(account, incidentId),
    set({ title, owner_id, last_change }),
    isAsRead(was, ['title', 'owner_id', 'last_change']),
  );
}
