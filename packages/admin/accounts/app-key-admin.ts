/** Issuing and revoking app keys, for the operator's commands. A key is one row; its account's row lists its hash. */
import { randomBytes } from 'node:crypto';
import { hashAppKey } from '../../../lib/auth/app-keys.ts';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { all, expression, IS_NEW, is, set } from '../../../lib/dynamodb/expression.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { getRow } from '../../../lib/dynamodb/row.ts';
import type { AccountRow, AppKeyRow } from '../../../lib/dynamodb/rows.ts';
import { type Action, transact, updateAction } from '../../../lib/dynamodb/transact.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { copiedFields, readAccount } from './accounts.ts';

const KEY_BYTES = 32;
const LAST_DIGITS = 4;
/** Each key takes 67 bytes of the account's row, of which DynamoDB allows 400 KB. */
const MAX_KEYS = 5_000;

/** The part of a key's text that is stored. */
export interface AppKeyIdentity {
  hash: string;
  lastDigits: string;
}

export type AppKeyLimits = { created_at: number } & Pick<AppKeyRow, 'expires_at' | 'revoked_at' | 'note'>;

/** Why a key cannot be stored or changed; the message is a clause for the operator. */
export class AppKeyError extends Error {
  override readonly name = 'AppKeyError';
}

export const newAppKey = () => randomBytes(KEY_BYTES).toString('base64url');

export const identityOfAppKey = (appKey: string): AppKeyIdentity => ({
  hash: hashAppKey(appKey),
  // Whole characters, not halves of surrogate pairs.
  lastDigits: [...appKey].slice(-LAST_DIGITS).join(''),
});

/**
 * Puts a key of an account into the table: only its hash is stored. Of a key that is stored already the creation and a
 * revocation stay, and its expiry can only come nearer.
 * @param also written in the same transaction
 * @throws AppKeyError when the key belongs to another account, or the account has too many
 */
export async function putAppKey(
  table: Table,
  account: AccountRow,
  identity: AppKeyIdentity,
  limits: AppKeyLimits,
  also: readonly Action[] = [],
): Promise<void> {
  for (let row: AccountRow | undefined = account; row; row = await readAccount(table, account.account_id)) {
    const stored = await getRow(table, keys.appKey(identity.hash));
    if (stored && stored.account_id !== row.account_id)
      throw new AppKeyError('the key belongs to another account: issue a new one');
    if ((row.app_keys?.size ?? 0) >= MAX_KEYS && !row.app_keys?.has(identity.hash))
      throw new AppKeyError(`account ${row.account_id} has ${MAX_KEYS} app keys, which is the maximum`);
    const actions = [listAction(row, identity.hash), keyAction(row, identity, limits, stored), ...also];
    const failed = await transact(table, actions);
    if (failed === undefined) return;
    // A row changed since it was read: the account, so that the key must not keep outdated permissions, or the key.
    if (failed >= 2) throw new AppKeyError('the key has just been changed: check it and try again');
  }
  throw new AppKeyError(`account ${account.account_id} no longer exists`);
}

/** Adds the key to its account's list, if the account is unchanged since it was read. */
const listAction = ({ account_id, revision }: AccountRow, hash: string) =>
  updateAction(keys.account(account_id), expression`ADD app_keys ${new Set([hash])}`, is('revision', revision));

/** Writes the key's row, if it is unchanged since it was read. */
function keyAction(
  account: AccountRow,
  { hash, lastDigits }: AppKeyIdentity,
  { created_at, expires_at, revoked_at, note }: AppKeyLimits,
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
  const lasting = {
    created_at,
    revoked_at,
    // A rotation shortens the expiry, so it says nothing about how long new keys should live.
    lifetime: expires_at !== undefined && !stored ? Math.max(0, expires_at - created_at) : undefined,
  };
  const isUnchanged = stored ? all(is('account_id', account.account_id), is('expires_at', stored.expires_at)) : IS_NEW;
  return updateAction(keys.appKey(hash), set(fields, lasting), isUnchanged);
}

/**
 * Revokes a key: the attribute's presence decides, not its time. Repeating it keeps the first time.
 * @param also written in the same transaction
 * @throws AppKeyError when the account has no such key
 */
export async function revokeAppKey(
  table: Table,
  account: Int64,
  hash: string,
  nowSeconds: number,
  also: readonly Action[] = [],
): Promise<void> {
  const revoked = updateAction(keys.appKey(hash), set({}, { revoked_at: nowSeconds }), is('account_id', account));
  if ((await transact(table, [revoked, ...also])) !== undefined)
    throw new AppKeyError(`account ${account} has no such key`);
}

/**
 * Adds a new key and sets the expiry of the old one, in one transaction.
 * @param expiresAt Unix seconds; the old key never lives longer than it would have
 * @param also written in the same transaction
 * @throws AppKeyError when the old key was revoked meanwhile
 */
export async function rotateAppKey(
  table: Table,
  account: AccountRow,
  old: { hash: string; expires_at?: number | undefined },
  fresh: { identity: AppKeyIdentity; limits: AppKeyLimits },
  expiresAt: number,
  also: readonly Action[] = [],
): Promise<void> {
  const ending = updateAction(
    keys.appKey(old.hash),
    set({ expires_at: Math.min(expiresAt, old.expires_at ?? expiresAt) }),
    all(is('account_id', account.account_id), is('revoked_at', undefined)),
  );
  await putAppKey(table, account, fresh.identity, fresh.limits, [ending, ...also]);
}
