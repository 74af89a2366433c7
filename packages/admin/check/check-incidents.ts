import { changeOf, type Entry } from '../../../lib/operations/merge-alerts/entry.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { isAsRead, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import type { FeedEntry, IncidentChange } from '../../../lib/table/rows.ts';
import { updateAction } from '../../../lib/table/write.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';

/** The attributes of an incident that merges change; undefined: absent. */
interface Fields {
  title: string;
  owner_id?: Int64 | undefined;
}

/**
 * Checks that each incident has the title and owner that its feed gave it last. An incident records the last entry
 * that changed it and the values before that, so that values which others wrote later are kept.
 */
export function* checkIncidents({ account, incidents }: MergeRows, entries: readonly Entry[]): Generator<Finding> {
  const finding = findingsOf(account);
  for (const [incidentId, incident] of incidents) {
    const { last_change: recorded } = incident;
    const changes = changesOf(entries, incidentId);
    const last = changes.at(-1);
    if (recorded?.sequence === last?.sequence) continue;
    const isInFeed = (wanted: number) => changes.some(({ sequence }) => sequence === wanted);
    /** Whether the entry that changed the incident last is missing. */
    const isMissing = recorded !== undefined && !isInFeed(recorded.sequence);
    const ids = { incident_id: incidentId, sequence: (isMissing ? recorded.sequence : last?.sequence) ?? 0 };
    const { previous_sequence: previous = 0 } = recorded ?? {};
    /** Whether the entry before that one is missing, too. */
    const isPreviousMissing = isMissing && previous > 0 && !isInFeed(previous);
    if (isPreviousMissing && !isSetBy(changes, recorded)) {
      const detail = `entry ${previous}, which changed it before, is missing too: its title and owner before that are unknown`;
      yield finding('incident_entry_missing', ids, detail);
      continue;
    }
    let expected: Fields = isMissing ? reverted(incident, recorded) : incident;
    /** Sequence of the latest entry that `expected` contains. 0: all entries of the feed are still to be applied. */
    let appliedUpTo = recorded?.sequence ?? 0;
    if (isPreviousMissing) appliedUpTo = 0;
    else if (isMissing) appliedUpTo = changes.findLast(({ sequence }) => sequence < recorded.sequence)?.sequence ?? 0;
    for (const entry of changes) if (entry.sequence > appliedUpTo) expected = applied(expected, entry);
    const update = updateAction(
      keys.incident(account, incidentId),
      set({ title: expected.title, owner_id: expected.owner_id, last_change: last && changeOf(last, changes.at(-2)) }),
      isAsRead(incident, ['title', 'owner_id', 'last_change']),
    );
    yield isMissing
      ? finding('incident_entry_missing', ids, 'its title and owner go back to what they were', update)
      : finding('entry_not_applied', ids, `its title and owner are as before entry ${last?.sequence}`, update);
  }
}

/** The entries that changed title or owner of an incident, ascending. */
const changesOf = (entries: readonly Entry[], incidentId: string): FeedEntry[] =>
  entries
    .map(({ entry }) => entry)
    .filter((entry) => entry.incident_id === incidentId)
    .filter(({ new_title, new_owner_id }) => new_title !== undefined || new_owner_id !== undefined);

/** Whether the feed's entries contain everything that a lost change overwrote. */
const isSetBy = (changes: readonly FeedEntry[], { old_title, old_owner_id }: IncidentChange) =>
  (old_title === undefined || changes.some(({ new_title }) => new_title !== undefined)) &&
  (old_owner_id === undefined || changes.some(({ new_owner_id }) => new_owner_id !== undefined));

const reverted = ({ title, owner_id }: Fields, { old_title, old_owner_id }: IncidentChange): Fields => ({
  title: old_title ?? title,
  owner_id: old_owner_id === undefined ? owner_id : (old_owner_id ?? undefined),
});

const applied = ({ title, owner_id }: Fields, { new_title, new_owner_id }: FeedEntry): Fields => ({
  title: new_title ?? title,
  owner_id: new_owner_id ?? owner_id,
});
