/** An app key, stored under its hash. Only an operator writes it, also by an import. */
import { flag, type Int64 } from '../shared/json.ts';
import type { AccountRow } from './account.ts';
import { type Field, type RowOf, UNIX_SECONDS } from './fields.ts';

/** Maximum length of an app key's note, in code points. */
export const MAX_NOTE_LENGTH = 512;
/** Shorter app keys can be guessed. */
const MIN_LENGTH = 32;

const groups = { row: {} } as const;

const fields = {
  /** The row has its hash instead. */
  app_key: { stored: false, schema: { type: 'string', minLength: MIN_LENGTH, maxLength: 256 } },
  app_key_hash: {
    stored: 'key',
    schema: { type: 'string', minLength: 64, maxLength: 64, pattern: '^[0-9a-f]{64}$' },
  },
  /** The last characters of the key, by which people recognize it. */
  last_digits: { stored: 'row', schema: { type: 'string', maxLength: 4 } },
  created_at: { stored: 'row', schema: UNIX_SECONDS },
  expires_at: { stored: 'row', schema: UNIX_SECONDS },
  /** The row has the time, `revoked_at`. */
  revoked: { stored: false, schema: flag },
  note: { stored: 'row', schema: { type: 'string', maxLength: MAX_NOTE_LENGTH } },
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const appKey = { groups, fields } as const;

/**
 * The only row of an app key. It has a copy of the account's permissions and state, so that a call needs only one read. Times are Unix seconds.
 */
export interface AppKeyRow
  extends RowOf<typeof fields>,
    Pick<AccountRow, 'permissions' | 'suspended' | 'cursor_secret' | 'gateway_key'> {
  /** The account that the key was issued to. It never changes. */
  account_id: Int64;
  /** The `revision` of the account at which its permissions and state were copied. */
  account_revision?: number;
  /** A key with this attribute is revoked, whatever its time. */
  revoked_at?: number;
  /** Seconds for which the key was issued; absent: until it is revoked. */
  lifetime?: number;
  /** Up to an hour before the last use. */
  last_used_at?: number;
}
