/** What merges give incidents: titles and owners. */

import type { IncidentRow } from '../../model/incident.ts';
import { laterOrder } from '../../model/order.ts';
import type { HistoryEntry } from '../../table/rows.ts';

/** The attributes of an incident that a new title depends on and changes. `feed_title` is also read, if only to see whether there is one. */
export const TITLE_ATTRIBUTES = ['title', 'title_order', 'title_by'] as const;
export const OWNER_ATTRIBUTES = ['owner_id', 'owner_order', 'owner_by'] as const;

type Entry = Pick<HistoryEntry, 'sequence' | 'at_ms' | 'new_title' | 'new_owner_id'>;

/**
 * The attributes that an entry changes. Records of the feed from before it do not change them again. Its time decides, not its sequence:
 * after a merge by a clock that was ahead, all sequences are. What the feed said last is kept, since a restored table may lack the entry.
 */
export const changesOf = (entry: Entry, incident: Partial<IncidentRow>): Partial<IncidentRow> => ({
  ...titleOf(entry, incident),
  ...ownerOf(entry, incident),
});

function titleOf({ sequence, at_ms, new_title }: Entry, incident: Partial<IncidentRow>): Partial<IncidentRow> {
  if (new_title === undefined) return {};
  const { title, title_order, feed_title } = incident;
  return {
    title: new_title,
    title_order: laterOrder(at_ms, title_order),
    title_by: sequence,
    ...(feed_title === undefined && {
      feed_title: title ?? '',
      ...(title_order && { feed_title_order: title_order }),
    }),
  };
}

function ownerOf({ sequence, at_ms, new_owner_id }: Entry, incident: Partial<IncidentRow>): Partial<IncidentRow> {
  if (new_owner_id === undefined) return {};
  const { owner_id, owner_order, feed_owner_id } = incident;
  return {
    owner_id: new_owner_id,
    owner_order: laterOrder(at_ms, owner_order),
    owner_by: sequence,
    ...(feed_owner_id === undefined && {
      feed_owner_id: owner_id ?? null,
      ...(owner_order && { feed_owner_order: owner_order }),
    }),
  };
}
