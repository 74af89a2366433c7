import type { Int64 } from '../shared/json.ts';

/**
 * The one row of an app key, found by its hash. What the account may do is copied into it, so that one read is enough.
 */
export interface AppKeyRow {
  /** The account that the key was first stored for; never another. */
  account_id: Int64;
  permissions: string[];
  suspended?: boolean;
  cursor_secret: Uint8Array;
  gateway_key?: string;
  /** Revision of the account that these copies are of. */
  account_revision?: number;
  /** Unix seconds. */
  expires_at?: number;
  /** Unix seconds; its presence revokes, whatever the clock says. */
  revoked_at?: number;
  last_digits?: string;
  /** Unix seconds. */
  created_at?: number;
  /** Seconds for which the key was issued; absent: until it is revoked. */
  lifetime?: number;
  note?: string;
}

declare module '../dynamodb/keys.ts' {
  interface Rows {
    appKey: AppKeyRow;
  }
}
