/** What a check of an account's merges looks at. */
import type { AlertRow, FeedEntry, IncidentRow } from '../incidents/feed.ts';
import type { MergeOrder } from '../incidents/merge-order.ts';
import type { FeedItem } from '../incidents/read.ts';
import type { Int64 } from '../json.ts';
import type { Row } from '../table/batch-get.ts';
import type { Key } from '../table/keys.ts';

/** Of an alert, all that its place depends on. */
export type CheckedAlert = Pick<AlertRow, 'incident_id' | 'moved_sequence' | 'moved_from' | 'loaded_after'>;

/** All rows that an account's merges read and write. */
export interface MergeRows {
  readonly account: Int64;
  readonly order: MergeOrder;
  readonly incidents: ReadonlyMap<string, IncidentRow>;
  readonly alerts: ReadonlyMap<string, CheckedAlert>;
  /** The entries of all feeds. */
  readonly entries: readonly FeedItem[];
  /** Rows of entries that no feed has. */
  readonly orphans: readonly Key[];
  /** The further rows of entries: their lists of alerts, and the moves. */
  readonly rowsOfEntries: readonly Key[];
  /** Remembered Idempotency-Keys. */
  readonly idempotencyKeys: readonly (Key & Row)[];
}

/** The entries that changed title or owner of an incident, ascending. */
export const changesOf = (entries: readonly FeedItem[], incidentId: string): FeedEntry[] =>
  entries
    .map(({ entry }) => entry)
    .filter((entry) => entry.incident_id === incidentId)
    .filter(({ new_title, new_owner_id }) => new_title !== undefined || new_owner_id !== undefined);
