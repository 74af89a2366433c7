import type { Int64 } from '../shared/json.ts';

export interface WorkItemRow {
  work_item_id: string;
  version: Int64;
  title: string;
  /** Unix milliseconds; absent: not deleted. */
  deleted_at_ms?: number;
  deleted_by?: string;
  /** Of the call that deleted it; absent: an import, or a release before events, did. */
  deleted_request_id?: string;
  /** The deletion undone last; `version` is the version that it produced. */
  undone_deletion?: { version: Int64; at_ms: number; by?: string };
}

export interface IncidentRow {
  incident_id: string;
  title: string;
  owner_id?: Int64;
  last_change?: IncidentChange;
  /** Sequence of the account's latest entry when the row was loaded: earlier ones do not apply to it. */
  loaded_after?: number;
}

/** The entry that last changed an incident, and the previous values of what it changed. */
export interface IncidentChange {
  sequence: number;
  old_title?: string;
  /** null: it had none. */
  old_owner_id?: Int64 | null;
  /** Sequence of the change before this one: tells of entries that a restored table lacks. */
  previous_sequence?: number;
}

export interface AlertRow {
  alert_id: string;
  title: string;
  /** Absent: in no incident. */
  incident_id?: string;
  /** Sequence of the feed entry that took it last; it may have been in its incident already. */
  moved_sequence?: number;
  /** The incident that this entry took it from; absent: none. */
  moved_from?: string;
  /** Sequence of the entry that took it before that one: tells of entries that a restored table lacks. */
  previous_sequence?: number;
  /** Of the previous release: sequence of the small entry that last found it already in its incident. */
  stayed_sequence?: number;
  /** Sequence of the account's latest entry when the row was loaded: earlier ones do not apply to it. */
  loaded_after?: number;
}

/** What a merge or its undo did: an entry of the incident's feed. */
export interface FeedEntry {
  kind: 'merge' | 'merge_undone';
  incident_id: string;
  /** Place in the order of all merges of the account; also the sort key. */
  sequence: number;
  /** Random: distinguishes a merge's entry from another's with the same key. */
  merge_id: string;
  /** Unix milliseconds. */
  at_ms: number;
  /** The key that called, or the operator. */
  by: string;
  request_id: string;
  comment?: string;
  old_title?: string;
  new_title?: string;
  old_owner_id?: Int64;
  new_owner_id?: Int64;
  /** Of an undo: the sequence of the undone merge. */
  undone_sequence?: number;
  /** Committed before its alerts are moved: separate rows list them, and where they came from. */
  large?: true;
  /** Of a large entry: how many alerts it takes. */
  alerts?: number;
}

/** Alerts that moved by the other incident (from which, or back to which), and those that stayed. */
export interface MovedAlerts {
  moved: Record<string, string[]>;
  stayed: string[];
}

export interface AlertListRow {
  /** Which alerts a large entry takes: their ids, 12 bytes each. */
  alert_ids: Uint8Array;
}

/** The merge order's row, or one that the previous release writes beside it: see `merge-order.ts`. */
export interface MergeOrderRow {
  last?: number;
  last_large?: number;
}

export interface IdempotencyRow {
  body_hash: string;
  /** Unix seconds after which it no longer counts. */
  ttl: number;
  incident_id: string;
  sequence: number;
}

declare module '../dynamodb/keys.ts' {
  interface Rows {
    workItem: WorkItemRow;
    incident: IncidentRow;
    alert: AlertRow;
    feedEntry: FeedEntry & Partial<MovedAlerts>;
    feedAlerts: AlertListRow;
    /** What happened to `count` alerts of a large entry's list. */
    feedMoves: MovedAlerts & { count: number };
    mergeOrder: MergeOrderRow & {
      /** Incidents of the large merges that have alerts left to move, by sequence. */
      pending?: Record<string, string>;
      /** The large entry that the latest write of this row removed from these, if it removed one. */
      completed?: Pick<FeedEntry, 'sequence' | 'incident_id'>;
    };
    mergeOrderShard: MergeOrderRow;
    idempotency: IdempotencyRow;
  }
}
