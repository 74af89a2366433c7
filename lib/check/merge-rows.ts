/** What a check of an account's merges looks at. */
import type { MergeOrder } from '../incidents/merge-order.ts';
import type { FeedItem } from '../incidents/read.ts';
import type { AlertRow, FeedEntry, IncidentRow } from '../incidents/rows.ts';
import type { Int64 } from '../json.ts';
import type { Key, Stored } from '../table/keys.ts';

/** Of an alert, all that its place depends on: the rest may be large. */
export const ALERT_ATTRIBUTES = ['incident_id', 'moved_sequence', 'moved_from', 'loaded_after'] as const;
export type CheckedAlert = Pick<AlertRow, (typeof ALERT_ATTRIBUTES)[number]>;

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
  readonly idempotencyKeys: readonly Stored<'idempotency'>[];
}

/** The entries that changed title or owner of an incident, ascending. */
export const changesOf = (entries: readonly FeedItem[], incidentId: string): FeedEntry[] =>
  entries
    .map(({ entry }) => entry)
    .filter((entry) => entry.incident_id === incidentId)
    .filter(({ new_title, new_owner_id }) => new_title !== undefined || new_owner_id !== undefined);
