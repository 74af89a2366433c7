import { laterOrder } from '../../../lib/ingest/order.ts';
import { changeOf, type EntryWithMoves } from '../../../lib/operations/merge-alerts/entry.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { isAsRead, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import type { HistoryEntry, IncidentChange, IncidentRow } from '../../../lib/table/rows.ts';
import { updateAction } from '../../../lib/table/write.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';

/** The attributes of an incident that merges change; undefined: absent. */
interface Fields {
  title: string;
  owner_id?: Int64 | undefined;
  title_order?: Uint8Array | undefined;
  owner_order?: Uint8Array | undefined;
}

/**
 * Checks that each incident has the title and owner that its history gave it last. An incident records the last entry
 * that changed it and the values before that, so that values which others wrote later are kept.
 */
export function* checkIncidents(
  { account, incidents }: MergeRows,
  entries: readonly EntryWithMoves[],
): Generator<Finding> {
  const finding = findingsOf(account);
  for (const [incidentId, incident] of incidents) {
    const { last_change: recorded } = incident;
    const changes = changesOf(entries, incidentId);
    const last = changes.at(-1);
    if (recorded?.sequence === last?.sequence) continue;
    const isInHistory = (wanted: number) => changes.some(({ sequence }) => sequence === wanted);
    /** Whether the entry that changed the incident last is missing. */
    const isMissing = recorded !== undefined && !isInHistory(recorded.sequence);
    const ids = { incident_id: incidentId, sequence: (isMissing ? recorded.sequence : last?.sequence) ?? 0 };
    const { previous_sequence: previous = 0 } = recorded ?? {};
    /** Whether the entry before that one is missing, too. */
    const isPreviousMissing = isMissing && previous > 0 && !isInHistory(previous);
    if (isPreviousMissing && !isSetBy(changes, recorded)) {
      const detail = `entry ${previous}, which changed it before, is missing too: its title and owner before that are unknown`;
      yield finding('incident_entry_missing', ids, detail);
      continue;
    }
    let expected: Fields = isMissing ? reverted(incident, recorded) : incident;
    /** Sequence of the latest entry that `expected` contains. 0: all entries of the history are still to be applied. */
    let appliedUpTo = recorded?.sequence ?? 0;
    if (isPreviousMissing) appliedUpTo = 0;
    else if (isMissing) appliedUpTo = changes.findLast(({ sequence }) => sequence < recorded.sequence)?.sequence ?? 0;
    let before: Fields = changes.slice(0, -1).reduce(applied, { title: '' });
    for (const entry of changes) {
      if (entry.sequence <= appliedUpTo) continue;
      before = expected;
      expected = applied(expected, entry);
    }
    const { title, owner_id, title_order, owner_order } = expected;
    const last_change = last && changeOf(last, before as IncidentRow, changes.at(-2));
    const update = updateAction(
      keys.incident(account, incidentId),
      set({ title, owner_id, title_order, owner_order, last_change }),
      isAsRead(incident, ['title', 'owner_id', 'title_order', 'owner_order', 'last_change']),
    );
    yield isMissing
      ? finding('incident_entry_missing', ids, 'its title and owner go back to what they were', update)
      : finding('entry_not_applied', ids, `its title and owner are as before entry ${last?.sequence}`, update);
  }
}

/** The entries that changed title or owner of an incident, ascending. */
const changesOf = (entries: readonly EntryWithMoves[], incidentId: string): HistoryEntry[] =>
  entries
    .map(({ entry }) => entry)
    .filter((entry) => entry.incident_id === incidentId)
    .filter(({ new_title, new_owner_id }) => new_title !== undefined || new_owner_id !== undefined);

/** Whether the history's entries contain everything that a lost change overwrote. */
const isSetBy = (changes: readonly HistoryEntry[], { old_title, old_owner_id }: IncidentChange) =>
  (old_title === undefined || changes.some(({ new_title }) => new_title !== undefined)) &&
  (old_owner_id === undefined || changes.some(({ new_owner_id }) => new_owner_id !== undefined));

const reverted = (
  { title, owner_id, title_order, owner_order }: Fields,
  { old_title, old_title_order, old_owner_id, old_owner_order }: IncidentChange,
): Fields => ({
  ...(old_title === undefined ? { title, title_order } : { title: old_title, title_order: old_title_order }),
  ...(old_owner_id === undefined
    ? { owner_id, owner_order }
    : { owner_id: old_owner_id ?? undefined, owner_order: old_owner_order }),
});

const applied = (fields: Fields, { at_ms, new_title, new_owner_id }: HistoryEntry): Fields => ({
  ...fields,
  ...(new_title !== undefined && { title: new_title, title_order: laterOrder(at_ms, fields.title_order) }),
  ...(new_owner_id !== undefined && {
    owner_id: new_owner_id,
    owner_order: laterOrder(at_ms, fields.owner_order),
  }),
});
