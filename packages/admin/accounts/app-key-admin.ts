/** Issues, rotates and revokes app keys. Each key has a row of its own, and the row of its account lists its hash. */
import { randomBytes } from 'node:crypto';
import { hashAppKey } from '../../../lib/http/app-keys.ts';
import type { AccountRow } from '../../../lib/model/account.ts';
import type { AppKeyRow } from '../../../lib/model/app-key.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { all, expression, IS_NEW, is, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { getRow } from '../../../lib/table/read.ts';
import { type Action, transact, updateAction } from '../../../lib/table/write.ts';
import { AccountError, copiedFields, readAccount, requireNotErased } from './accounts.ts';

const KEY_BYTES = 32;
const LAST_DIGITS = 4;
/** Each key takes 67 bytes of its account's row, which DynamoDB limits to 400 KB. */
const MAX_KEYS = 5_000;

/** What the table stores instead of the key itself. */
export interface AppKeyIdentity {
  hash: string;
  lastDigits: string;
}

/** When a key was made, until when it is valid, and its note. */
export type AppKeyDetails = { created_at: number } & Pick<AppKeyRow, 'expires_at' | 'revoked_at' | 'note'>;

export const newAppKey = () => randomBytes(KEY_BYTES).toString('base64url');

export const identityOfAppKey = (appKey: string): AppKeyIdentity => ({
  hash: hashAppKey(appKey),
  // Whole characters, not halves of surrogate pairs.
  lastDigits: [...appKey].slice(-LAST_DIGITS).join(''),
});

/**
 * Stores a key of an account by its hash. If the key is already stored, it keeps its creation time and a revocation,
 * and its expiry can only become earlier.
 * @param extraActions written in the same transaction
 * @throws AccountError if the key belongs to another account, or the account has too many keys or is erased
 */
export async function putAppKey(
  table: Table,
  account: AccountRow,
  identity: AppKeyIdentity,
  details: AppKeyDetails,
  extraActions: readonly Action[] = [],
): Promise<void> {
  for (let row: AccountRow | undefined = account; row; row = await readAccount(table, account.account_id)) {
    requireNotErased(row);
    const stored = await getRow(table, keys.appKey(identity.hash));
    if (stored && stored.account_id !== row.account_id)
      throw new AccountError('the key belongs to another account: issue a new one');
    if ((row.app_keys?.size ?? 0) >= MAX_KEYS && !row.app_keys?.has(identity.hash))
      throw new AccountError(`account ${row.account_id} has ${MAX_KEYS} app keys, which is the maximum`);
    const actions = [listAction(row, identity.hash), keyAction(row, identity, details, stored), ...extraActions];
    const failed = await transact(table, actions);
    if (failed === undefined) return;
    // Action 0 or 1 fails if the account or the row of the key has changed: read both and try again. The caller's own
    // actions follow: if one of them fails, since a key to rotate is revoked, for example, give up.
    if (failed >= 2) throw new AccountError('the key has just been changed: check it and try again');
  }
  throw new AccountError(`account ${account.account_id} no longer exists`);
}

/** Adds the key to its account's list, if the account is unchanged since it was read. */
const listAction = ({ account_id, revision }: AccountRow, hash: string) =>
  updateAction(keys.account(account_id), expression`ADD app_keys ${new Set([hash])}`, is('revision', revision));

/** Writes the key's row, if it is unchanged since it was read. */
function keyAction(
  account: AccountRow,
  { hash, lastDigits }: AppKeyIdentity,
  { created_at, expires_at, revoked_at, note }: AppKeyDetails,
  stored: AppKeyRow | undefined,
): Action {
  const expiries = [expires_at, stored?.expires_at].filter((expiry) => expiry !== undefined);
  const fields = {
    note,
    account_id: account.account_id,
    ...copiedFields(account),
    last_digits: lastDigits || (stored?.last_digits ?? ''),
    ...(expiries.length > 0 && { expires_at: Math.min(...expiries) }),
  };
  const initial = {
    created_at,
    revoked_at,
    // Only from the first expiry: a rotation shortens the expiry, which says nothing about how long new keys should live.
    lifetime: expires_at !== undefined && !stored ? Math.max(0, expires_at - created_at) : undefined,
  };
  const isUnchanged = stored ? all(is('account_id', account.account_id), is('expires_at', stored.expires_at)) : IS_NEW;
  return updateAction(keys.appKey(hash), set(fields, initial), isUnchanged);
}

/**
 * Revokes a key. It is revoked if `revoked_at` is present, whatever the time in it; a second revocation writes nothing.
 * @param extraActions written in the same transaction
 * @throws AccountError if the account has no such key
 */
export async function revokeAppKey(
  table: Table,
  account: Int64,
  hash: string,
  nowSeconds: number,
  extraActions: readonly Action[] = [],
): Promise<void> {
  const isValid = all(is('account_id', account), is('revoked_at', undefined));
  const revoked = updateAction(keys.appKey(hash), set({ revoked_at: nowSeconds }), isValid);
  if ((await transact(table, [revoked, ...extraActions])) === undefined) return;
  const stored = await getRow(table, keys.appKey(hash), ['account_id']);
  if (stored?.account_id !== account) throw new AccountError(`account ${account} has no such key`);
}

/**
 * Adds a new key and sets the expiry of the old one, in one transaction.
 * @param expiresAt new expiry of the old key, in Unix seconds; an earlier one is kept
 * @param extraActions written in the same transaction
 * @throws AccountError if the old key was revoked meanwhile
 */
export async function rotateAppKey(
  table: Table,
  account: AccountRow,
  old: { hash: string; expires_at?: number | undefined },
  replacement: { identity: AppKeyIdentity; details: AppKeyDetails },
  expiresAt: number,
  extraActions: readonly Action[] = [],
): Promise<void> {
  const ending = updateAction(
    keys.appKey(old.hash),
    set({ expires_at: Math.min(expiresAt, old.expires_at ?? expiresAt) }),
    all(is('account_id', account.account_id), is('revoked_at', undefined)),
  );
  await putAppKey(table, account, replacement.identity, replacement.details, [ending, ...extraActions]);
}
