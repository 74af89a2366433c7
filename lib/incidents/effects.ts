/** What an entry of a feed did, in words for operators. */
import { countText } from '../count-text.ts';
import type { FeedItem } from './read.ts';

export interface Effect {
  readonly text: string;
  /** Follows the text, where there is one. */
  readonly incident?: string;
}

export function effectsOf({ entry, moves, stayed }: FeedItem): Effect[] {
  const isMerge = entry.kind === 'merge';
  const { old_owner_id = 'none', new_owner_id } = entry;
  const effects: Effect[] = [...Map.groupBy(moves, ({ from, to }) => (isMerge ? from : to))].map(
    ([incident, { length }]) => {
      const text = `${countText(length, 'alert')} ${isMerge ? 'from' : 'back to'}`;
      return incident ? { text, incident } : { text: `${text} no incident` };
    },
  );
  if (stayed.length > 0) effects.push({ text: `${countText(stayed.length, 'alert')} already there` });
  if (entry.new_title !== undefined) effects.push({ text: `title: ${entry.old_title} → ${entry.new_title}` });
  if (new_owner_id !== undefined) effects.push({ text: `owner: ${old_owner_id} → ${new_owner_id}` });
  if (entry.comment !== undefined) effects.push({ text: `comment: ${entry.comment}` });
  return effects;
}
