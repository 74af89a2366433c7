/** The attributes of each kind of row: those that hold records are declared in `lib/model`. */
import type { AccountRow } from '../model/account.ts';
import type { AlertKeyRow, AlertRow } from '../model/alert.ts';
import type { AppKeyRow } from '../model/app-key.ts';
import type { IncidentRow } from '../model/incident.ts';
import type { MemberRow } from '../model/member.ts';
import type { WorkItemRow } from '../model/work-item.ts';
import type { Int64 } from '../shared/json.ts';

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

/** What a merge or its undo did: an entry of the incident's history. */
export interface HistoryEntry {
  kind: 'merge' | 'merge_undone';
  incident_id: string;
  /** Orders all merges and undos of the account: at least the Unix milliseconds of the commit. Also the sort key. */
  sequence: number;
  /** The digit of the region that made it, in which the sequence ends; absent: the service has one region. */
  region?: number;
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
  /** The earliest time in Unix seconds from which one of its alerts that had ended may be gone; absent: none had. */
  expires_from?: number;
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
  member: MemberRow;
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
