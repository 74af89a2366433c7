/** An account: only an operator writes it, also by an import. */
import { flag, type Int64 } from '../shared/json.ts';
import type { Field, RowOf } from './fields.ts';

/** What an account may be allowed to call. */
export const PERMISSIONS = ['monit', 'feed'] as const;

/** Maximum length of the name of an account or a member, in code points. */
export const MAX_NAME_LENGTH = 512;
export const NAME = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH } as const;

const groups = { row: {} } as const;

const fields = {
  name: { stored: 'row', required: true, schema: NAME },
  permissions: {
    stored: 'row',
    required: true,
    schema: { type: 'array', items: { type: 'string', enum: PERMISSIONS } },
    read: { type: 'array', items: { type: 'string' } },
  },
  suspended: { stored: 'row', schema: flag },
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const account = { groups, fields } as const;

export interface AccountRow extends RowOf<typeof fields> {
  account_id: Int64;
  /** Signs the cursors of the account. It never changes. */
  cursor_secret: Uint8Array;
  /** The account was suspended or unsuspended, which no event has published yet, since not all app keys may have the change. */
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
