/** The attributes of each kind of row. */
import type { Int64 } from '../shared/json.ts';

export interface AccountRow {
  account_id: Int64;
  name: string;
  permissions: string[];
  /** Signs the cursors of the account. It never changes. */
  cursor_secret: Uint8Array;
  suspended?: boolean;
  /** The account was suspended or unsuspended, and no event has told it yet, since perhaps not all keys have it. */
  untold?: true;
  /** The account's key of the usage plan, once there is one. */
  gateway_key?: string;
  /** Hashes of the account's app keys; absent: it has none. */
  app_keys?: Set<string>;
  /** Incremented by changes, so that an older state never overwrites a newer one. */
  revision: number;
  /**
   * Unix milliseconds at which its erasure began. The row then holds nothing of the account but its id, which is never used again, and stays
   * suspended.
   */
  erased_at_ms?: number;
  /** Unix milliseconds at which its erasure ended; absent: that has not ended yet. */
  erasure_ended_at_ms?: number;
}

/** The event that an operator's command publishes. It contains no secret, since anyone may subscribe to it. */
export type CommandEvent =
  | { readonly event: 'AccountErased' | 'AccountSuspended' | 'AccountUnsuspended' }
  | { readonly event: 'AppKeyIssued' | 'AppKeyRevoked'; readonly event_detail: { readonly app_key_id: string } }
  | {
      readonly event: 'WorkItemRestored';
      readonly event_detail: { readonly work_item_id: string; readonly work_item_version: Int64 };
    };

/** One command of an operator, as it was run. It contains no app key. */
export interface AuditEntry {
  readonly id: string;
  /** Unix milliseconds of the operator's clock. */
  readonly at_ms: number;
  /** The operator: an ARN on AWS, elsewhere the name of the user of the operating system. */
  readonly by: string;
  /** Such as `app-key revoke`. */
  readonly command: string;
  /** What the command changed within the account, such as the id of an app key. */
  readonly target?: string;
  /** `started` until the command has ended. */
  readonly result: 'started' | 'done' | 'failed';
  readonly detail?: string;
  /** The event that reports the command; present only if the command changes something. */
  readonly event?: CommandEvent['event'];
  readonly event_detail?: object;
}

/**
 * The only row of an app key, stored under the key's hash. It has a copy of the account's permissions and state, so that a call needs only
 * one read.
 */
export interface AppKeyRow {
  /** The account that the key was issued to. It never changes. */
  account_id: Int64;
  permissions: string[];
  suspended?: boolean;
  cursor_secret: Uint8Array;
  gateway_key?: string;
  /** The `revision` of the account at which the fields above were copied. */
  account_revision?: number;
  /** Unix seconds. */
  expires_at?: number;
  /** Unix seconds. A key with this attribute is revoked, whatever its time. */
  revoked_at?: number;
  /** The last characters of the key, by which people recognize it. */
  last_digits?: string;
  /** Unix seconds. */
  created_at?: number;
  /** Seconds for which the key was issued; absent: until it is revoked. */
  lifetime?: number;
  note?: string;
  /** Unix seconds, up to an hour before the last use. */
  last_used_at?: number;
}

export interface WorkItemRow {
  work_item_id: string;
  version: Int64;
  title: string;
  /** Unix milliseconds; absent: not deleted. */
  deleted_at_ms?: number;
  /** The id of an app key, or `record: ` and what the record says. */
  deleted_by?: string;
  /** Id of the API call that deleted it. Absent if a record did. */
  deleted_request_id?: string;
  /** The order of the latest record that deleted the item. */
  deletion_order?: Uint8Array;
  /** The latest deletion that was undone; `version` is the item's version after that deletion. */
  undone_deletion?: { version: Int64; at_ms: number; by?: string };
}

export interface IncidentRow {
  incident_id: string;
  title: string;
  owner_id?: Int64;
  /** The order of the record that last set the title, or the time of the merge. */
  title_order?: Uint8Array;
  owner_order?: Uint8Array;
  /** Sequence of the latest merge that gave it a title, even if a record has replaced that. */
  title_by?: number;
  owner_by?: number;
  /** While the title is a merge's: the one that the feed gave last, and the order of that record. */
  feed_title?: string;
  feed_title_order?: Uint8Array;
  /** null: none. */
  feed_owner_id?: Int64 | null;
  feed_owner_order?: Uint8Array;
}

/** Severities of an alert that is open. */
export const SEVERITIES = ['Critical', 'Warning', 'Info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface AlertRow extends Partial<KeyedAlert> {
  alert_id: string;
  title: string;
  description?: string;
  labels?: Readonly<Record<string, string>>;
  source_url?: string;
  /** The order of the record that last wrote these fields. */
  row_order?: Uint8Array;
  /** Absent: in no incident. */
  incident_id?: string;
  /** The order of the latest record that named the incident. */
  incident_order?: Uint8Array;
  /** Sequence of the latest merge or undo that took it, even if it stayed in its incident. */
  moved_sequence?: number;
  /** The row's `incident_id` before that merge or undo wrote it; absent: none. */
  moved_from?: string;
  /** Once a merge has taken it: the incident that the feed named last; absent: none. Until then `incident_id` is. */
  feed_incident?: string;
}

/** What an alert has that records with an alert key have written. Times are Unix milliseconds. */
export interface KeyedAlert {
  alert_key: string;
  /** The order of the latest record of the key that this alert has taken. */
  key_order: Uint8Array;
  /** The latest status that was not `Ok`; absent: only its end was told. */
  alert_severity: Severity;
  started_at_ms: number;
  /** Absent: it is open. */
  ended_at_ms: number;
  created_at_ms: number;
  /** Keys of the index of open alerts. An alert that has ended has none, and so is not in the index. */
  open_partition: string;
  open_at: string;
  /** The event that the latest write of the row publishes; other writes remove it. */
  event: 'AlertTriggered' | 'AlertResolved';
}

/** What decides whether an alert key has an open alert. */
export interface AlertKeyRow {
  /** The last alert of the key. */
  alert_id: string;
  is_open: boolean;
  /** The order of the record that opened it, or of the latest that said that it has ended. */
  row_order: Uint8Array;
  /** Unix seconds; absent while the alert is open. */
  ttl?: number;
}

/** What a merge or its undo did: an entry of the incident's history. */
export interface HistoryEntry {
  kind: 'merge' | 'merge_undone';
  incident_id: string;
  /** Orders all merges and undos of the account: at least the Unix milliseconds of the commit. Also the sort key. */
  sequence: number;
  /** Random: distinguishes entries of the same key, such as those of two attempts. */
  merge_id: string;
  /** Unix milliseconds. */
  at_ms: number;
  /** The id of the app key of the call, or the operator. */
  by: string;
  request_id: string;
  comment?: string;
  old_title?: string;
  new_title?: string;
  old_owner_id?: Int64;
  new_owner_id?: Int64;
  /** Of an undo: the sequence of the undone merge. */
  undone_sequence?: number;
  /** The entry is committed before the rows of its alerts are written. */
  large?: true;
  /** Of a large merge: the position of the account's log before it read its alerts. */
  read_since?: LogPosition;
}

/** The alerts of an entry, 12 bytes an id. */
export interface EntryAlerts {
  alert_ids: Uint8Array;
  /**
   * The other incident of each: for a merge where it came from, for an undo where it goes. Zeros: none. While a large merge is pending,
   * the incidents that it has read, some of which may have changed before its commit.
   */
  other_ids: Uint8Array;
  /** A bit for each alert that an earlier entry had taken, the first in the lowest bit; absent: none. */
  taken_before?: Uint8Array;
}

/** A position in an account's log. */
export interface LogPosition {
  /** Sequence of the latest entry; 0: none. */
  last: number;
  /** How many entries the log has up to that one. */
  entries: number;
}

/** See `log-head.ts`. */
export interface LogHeadRow extends Partial<LogPosition> {
  /** Sequence of the latest large entry. */
  last_large?: number;
}

export interface IdempotencyRow {
  body_hash: string;
  /** Unix seconds after which it no longer counts. */
  ttl: number;
  incident_id: string;
  sequence: number;
}

/** The calls of an account in one outer window of a rate limit. */
export interface RateCountRow {
  total?: number;
  /** Random ids of the calls counted so far. */
  nonces?: Set<string>;
  /** Calls in an inner window. The name is `w` and the window's number within the outer one. */
  [inner: `w${number}`]: number | undefined;
  /** Unix seconds. */
  ttl?: number;
}

/** Written by other systems: an attribute may be missing or have any type. Its reader checks it. */
export type UncheckedRow = Record<never, unknown>;

/** The attributes of the rows of each kind, besides the key. */
export interface Rows {
  account: AccountRow;
  /** All its data is in the key. */
  listedAccount: Record<never, never>;
  audit: AuditEntry & { ttl: number };
  appKey: AppKeyRow;
  /** When the last record of a kind was sent, in Unix milliseconds, up to five minutes too early. */
  lastRecord: { sent_at_ms: number };
  /** A person to whom an account's incidents may be assigned. */
  member: { member_id: Int64; name: string };
  host: UncheckedRow;
  /** `ttl`: Unix seconds. */
  hostStatus: UncheckedRow & { ttl?: number };
  /** The latest retirement of a host. */
  retirement: { row_order: Uint8Array; ttl: number };
  rumResource: UncheckedRow & { deleted?: boolean };
  rumUsage: UncheckedRow;
  rateCount: RateCountRow;
  workItem: WorkItemRow;
  incident: IncidentRow;
  alert: AlertRow;
  alertKey: AlertKeyRow;
  historyEntry: HistoryEntry & EntryAlerts;
  /** Where the entry with this sequence is. */
  logPointer: { incident_id: string };
  logHead: LogHeadRow & {
    /** The large entries that still have alerts to move: their incident ids, by sequence. */
    pending?: Record<string, string>;
    /** The large entry that the latest write finished and removed from `pending`, if any. Completed, as in `MergeCompleted`, means finished. */
    completed?: Pick<HistoryEntry, 'sequence' | 'incident_id'>;
  };
  idempotency: IdempotencyRow;
}
