import type { CommandEvent } from '../../../lib/events/told-audit.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

export interface AccountRow {
  account_id: Int64;
  name: string;
  permissions: string[];
  /** Signs the cursors of the account; made once. */
  cursor_secret: Uint8Array;
  suspended?: boolean;
  /** The account's key of the usage plan, once there is one. */
  gateway_key?: string;
  /** Hashes of the account's app keys; absent: it has none. */
  app_keys?: Set<string>;
  /** Incremented by changes, so that an older state never overwrites a newer one. */
  revision: number;
}

/** One command of an operator, as it was run. Never an app key. */
export interface AuditEntry {
  readonly id: string;
  /** Unix milliseconds of the operator's clock. */
  readonly at_ms: number;
  /** The operator: an ARN on AWS, elsewhere the name of the user of the operating system. */
  readonly by: string;
  /** Such as `app-key revoke`. */
  readonly command: string;
  /** What it was done to, within the account. */
  readonly target?: string;
  /** `started` until the command has ended. */
  readonly result: 'started' | 'done' | 'failed';
  readonly detail?: string;
  /** What is told of it; only of a change that was done. */
  readonly event?: CommandEvent['event'];
  readonly event_detail?: object;
}

declare module '../../../lib/dynamodb/keys.ts' {
  interface Rows {
    account: AccountRow;
    /** Whom an account's incidents may be assigned to. */
    member: { member_id: Int64; name: string };
    audit: AuditEntry & { ttl: number };
  }
}
