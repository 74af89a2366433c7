import { randomBytes } from 'node:crypto';
import { appKeyIdOf } from '../auth/app-keys.ts';
import type { AppKeyRow } from '../auth/rows.ts';
import type { Int64 } from '../json.ts';
import { batchGet } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { expression, is, set } from '../table/expression.ts';
import { collections, keys, parseKey } from '../table/keys.ts';
import { forEach } from '../table/pool.ts';
import { queryRows } from '../table/query-all.ts';
import { queryPage } from '../table/query-page.ts';
import { getRow, updateRow } from '../table/row.ts';
import { type Action, putAction, transact, updateAction } from '../table/transact.ts';
import type { AccountRow } from './rows.ts';

/** What an account's list of keys holds of each: never the key. */
export interface ListedAppKey
  extends Required<Pick<AppKeyRow, 'last_digits' | 'created_at'>>,
    Pick<AppKeyRow, 'expires_at' | 'revoked_at' | 'lifetime' | 'note'> {
  hash: string;
  app_key_id: string;
}

export function appKeyState({ revoked_at, expires_at }: ListedAppKey, nowMs: number): 'revoked' | 'expired' | 'valid' {
  if (revoked_at !== undefined) return 'revoked';
  return expires_at !== undefined && expires_at * 1000 <= nowMs ? 'expired' : 'valid';
}

const SECRET_BYTES = 32;

export const readAccount = (table: Table, account: Int64): Promise<AccountRow | undefined> =>
  getRow(table, keys.account(account));

/** The ids of all accounts, ascending. */
export async function listAccounts(table: Table): Promise<Int64[]> {
  const rows = await queryRows(table, collections.accounts());
  return rows.map((row) => parseKey(row)?.account as Int64);
}

/** Accounts in the order of their ids. @returns `next`: the `after` of the following ones; absent after the last */
export async function readAccounts(table: Table, options: { limit: number; after?: string | undefined }) {
  const { rows: listed, next } = await queryPage(table, collections.accounts(), options);
  const wanted = listed.map((row) => keys.account(parseKey(row)?.account ?? 0));
  const { rows } = await batchGet(table, wanted);
  return { accounts: wanted.flatMap((key) => rows.of(key) ?? []), next };
}

/**
 * Creates an account, or gives an existing one this name and these permissions; its secret and its keys stay, and so does
 * a suspension: only `changeAccount` ends one.
 * @param also written in the same transaction
 */
export async function putAccount(
  table: Table,
  { account_id, name, permissions, suspended }: Pick<AccountRow, 'account_id' | 'name' | 'permissions' | 'suspended'>,
  also: readonly Action[] = [],
): Promise<AccountRow> {
  const cursor_secret = randomBytes(SECRET_BYTES);
  const change = set({ account_id, name, permissions, ...(suspended && { suspended }) }, { cursor_secret });
  for (;;) {
    const row = await readAccount(table, account_id);
    const failed = await transact(table, [
      putAction(keys.listedAccount(account_id)),
      // So a write that arrives after later ones changes nothing: it could not copy itself to the keys.
      updateAction(keys.account(account_id), expression`${change} ADD revision ${1}`, is('revision', row?.revision)),
      ...also,
    ]);
    if (failed === undefined) return copyToAppKeys(table, account_id);
  }
}

/**
 * Changes an account's permissions; its keys are updated before this returns, warm functions as their caches expire. Repeating it
 * after a failure completes it.
 * @param also written in the same transaction
 * @returns the changed account; undefined when there is none
 */
export async function changeAccount(
  table: Table,
  account: Int64,
  change: (row: AccountRow) => Partial<Pick<AccountRow, 'permissions' | 'suspended'>>,
  also: readonly Action[] = [],
): Promise<AccountRow | undefined> {
  for (;;) {
    const row = await readAccount(table, account);
    if (!row) return undefined;
    const { permissions, suspended = false } = { ...row, ...change(row) };
    const failed = await transact(table, [
      updateAction(
        keys.account(account),
        expression`${set({ permissions, suspended })} ADD revision ${1}`,
        is('revision', row.revision),
      ),
      ...also,
    ]);
    // A concurrent change: read the account again.
    if (failed === undefined) return copyToAppKeys(table, account);
  }
}

/** The rows of an account's keys. Hashes of another account's keys are skipped. */
export async function listAppKeys(table: Table, account: AccountRow): Promise<ListedAppKey[]> {
  const hashes = [...(account.app_keys ?? [])];
  const { rows } = await batchGet(table, hashes.map(keys.appKey));
  return [...rows.values()]
    .filter(({ account_id }) => account_id === account.account_id)
    .map(({ pk, last_digits = '', created_at = 0, expires_at, revoked_at, lifetime, note }) => {
      const hash = String(parseKey({ pk, sk: '' })?.parts[0]);
      return {
        hash,
        app_key_id: appKeyIdOf(hash),
        last_digits,
        created_at,
        ...(expires_at !== undefined && { expires_at }),
        ...(revoked_at !== undefined && { revoked_at }),
        ...(lifetime !== undefined && { lifetime }),
        ...(note !== undefined && { note }),
      };
    });
}

/** What a key's row copies of its account, so that a call finds all in one read. */
export function copiedFields({ permissions, suspended, cursor_secret, gateway_key, revision }: AccountRow) {
  return {
    permissions,
    suspended: suspended ?? false,
    cursor_secret,
    ...(gateway_key !== undefined && { gateway_key }),
    account_revision: revision,
  };
}

/** Copies the account as it is now into each of its keys; never an older state over a newer one. */
export async function copyToAppKeys(table: Table, account: Int64): Promise<AccountRow> {
  const row = await readAccount(table, account);
  if (!row) throw new Error(`account ${account} no longer exists`);
  const copied = set({ gateway_key: undefined, ...copiedFields(row) });
  // Otherwise a newer state is there already, or the key is another account's.
  const isOlder = expression`account_id = ${account} AND (attribute_not_exists(account_revision) OR account_revision <= ${row.revision})`;
  await forEach(row.app_keys ?? [], (hash) => updateRow(table, keys.appKey(hash), copied, isOlder));
  return row;
}
