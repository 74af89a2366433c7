/** Describes the effect of a feed entry for operators. */

import type { FeedEntryWithAlerts } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { countText } from '../text/count-text.ts';

/**
 * @param ownerOf names a member
 * @returns the text of each, and the id of the incident that follows it, if one does
 */
export function effectsOf({ entry, moves, stayed }: FeedEntryWithAlerts, ownerOf: (id: Int64) => string = String) {
  const isMerge = entry.kind === 'merge';
  const { old_owner_id, new_owner_id } = entry;
  const byOther = Map.groupBy(moves, ({ from, to }) => (isMerge ? from : to));
  const effects: { text: string; incident?: string }[] = [...byOther].map(([incident, { length }]) => {
    const text = `${countText(length, 'alert')} ${isMerge ? 'from' : 'back to'}`;
    return incident ? { text, incident } : { text: `${text} no incident` };
  });
  if (stayed.length > 0) effects.push({ text: `${countText(stayed.length, 'alert')} already there` });
  if (entry.new_title !== undefined) effects.push({ text: `title: ${entry.old_title} → ${entry.new_title}` });
  if (new_owner_id !== undefined) {
    const before = old_owner_id === undefined ? 'none' : ownerOf(old_owner_id);
    effects.push({ text: `owner: ${before} → ${ownerOf(new_owner_id)}` });
  }
  if (entry.comment !== undefined) effects.push({ text: `comment: ${entry.comment}` });
  return effects;
}
