import { randomBytes } from 'node:crypto';
import { appKeyIdOf } from '../../../lib/auth/app-keys.ts';
import { batchGet } from '../../../lib/dynamodb/batch-get.ts';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { type Expression, expression, is, set } from '../../../lib/dynamodb/expression.ts';
import { collections, keys, parseKey } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { queryPage, queryRows } from '../../../lib/dynamodb/query.ts';
import { getRow, updateRow } from '../../../lib/dynamodb/row.ts';
import type { AccountRow } from '../../../lib/dynamodb/rows.ts';
import { settle } from '../../../lib/dynamodb/settle.ts';
import { type Action, putAction, transact, updateAction } from '../../../lib/dynamodb/transact.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

/** The part of each key that an account's list holds: never the key itself. */
export type ListedAppKey = Awaited<ReturnType<typeof listAppKeys>>[number];

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

/** All accounts, in the order of their ids. Costs about two read units for each. */
export async function readAllAccounts(table: Table): Promise<AccountRow[]> {
  const wanted = (await listAccounts(table)).map(keys.account);
  const { rows } = await batchGet(table, wanted);
  return wanted.flatMap((key) => rows.of(key) ?? []);
}

/**
 * Creates an account, or gives an existing one this name and these permissions; its secret and its keys stay, and so does
 * a suspension: only `changeAccount` ends one.
 * @param also written in the same transaction
 */
export function putAccount(
  table: Table,
  { account_id, name, permissions, suspended }: Pick<AccountRow, 'account_id' | 'name' | 'permissions' | 'suspended'>,
  also: readonly Action[] = [],
): Promise<AccountRow> {
  const cursor_secret = randomBytes(SECRET_BYTES);
  const change = set({ account_id, name, permissions, ...(suspended && { suspended }) }, { cursor_secret });
  const listed = putAction(keys.listedAccount(account_id));
  return writeAccount<never>(
    table,
    account_id,
    () => change,
    (update) => [listed, update, ...also],
  );
}

/**
 * Changes an account's permissions; its keys are updated before this returns, warm functions as their caches expire. Repeating it
 * after a failure completes it.
 * @param also written in the same transaction
 * @returns the changed account; undefined when there is none
 */
export function changeAccount(
  table: Table,
  account: Int64,
  change: (row: AccountRow) => Partial<Pick<AccountRow, 'permissions' | 'suspended'>>,
  also: readonly Action[] = [],
): Promise<AccountRow | undefined> {
  const changeOf = (row: AccountRow | undefined) => {
    if (!row) return undefined;
    const { permissions, suspended = false } = { ...row, ...change(row) };
    return set({ permissions, suspended });
  };
  return writeAccount(table, account, changeOf, (update) => [update, ...also]);
}

/** Records an account's gateway key on the account and on each of its app keys, where calls find it. */
export async function noteGatewayKey(table: Table, account: Int64, gateway_key: string): Promise<void> {
  if (!(await note(table, account, gateway_key))) throw new Error(`account ${account} no longer exists`);
}

/** Removes the recorded gateway keys from all accounts of a table and their app keys. */
export async function forgetGatewayKeys(table: Table): Promise<void> {
  for (const account of await listAccounts(table)) await note(table, account, undefined);
}

/**
 * Its write has no row of its own, so a lost reply is resolved by reading the account.
 * @returns undefined when there is no such account
 */
const note = (table: Table, account: Int64, gateway_key: string | undefined): Promise<AccountRow | undefined> =>
  settle(table, {
    send: (table) => writeAccount(table, account, (row) => row && set({ gateway_key })),
    async verify(table) {
      const row = await readAccount(table, account);
      return row?.gateway_key === gateway_key ? copyToAppKeys(table, account) : undefined;
    },
  });

/**
 * Changes an account, if it is unchanged since it was read, and copies it to its keys; after a concurrent change it reads again.
 * @param changeOf undefined: nothing is changed
 */
async function writeAccount<None extends undefined>(
  table: Table,
  account: Int64,
  changeOf: (row: AccountRow | undefined) => Expression | None,
  actionsOf: (update: Action) => readonly Action[] = (update) => [update],
): Promise<AccountRow | None> {
  for (;;) {
    const row = await readAccount(table, account);
    const change = changeOf(row);
    if (change === undefined) return change;
    // A write that arrives after later ones must change nothing: it could not copy itself to the keys.
    const isAsRead = is('revision', row?.revision);
    const update = updateAction(keys.account(account), expression`${change} ADD revision ${1}`, isAsRead);
    if ((await transact(table, actionsOf(update))) === undefined) return copyToAppKeys(table, account);
  }
}

/** The rows of an account's keys. Hashes of another account's keys are skipped. */
export async function listAppKeys(table: Table, account: AccountRow) {
  const hashes = [...(account.app_keys ?? [])];
  const { rows } = await batchGet(table, hashes.map(keys.appKey));
  return [...rows.values()]
    .filter(({ account_id }) => account_id === account.account_id)
    .map(({ pk, last_digits = '', created_at = 0, expires_at, revoked_at, lifetime, note, last_used_at }) => {
      const hash = String(parseKey({ pk, sk: '' })?.parts[0]);
      const times = { created_at, expires_at, revoked_at, lifetime, last_used_at };
      return { hash, app_key_id: appKeyIdOf(hash), last_digits, ...times, note };
    });
}

/** The part of the account that is copied to a key's row, so that a call reads one row. */
export function copiedFields({ permissions, suspended, cursor_secret, gateway_key, revision }: AccountRow) {
  return { permissions, suspended: suspended ?? false, cursor_secret, gateway_key, account_revision: revision };
}

/** Copies the current account to each of its keys; never an older state over a newer one. */
async function copyToAppKeys(table: Table, account: Int64): Promise<AccountRow> {
  const row = await readAccount(table, account);
  if (!row) throw new Error(`account ${account} no longer exists`);
  const copied = set(copiedFields(row));
  // Otherwise the key has a newer state already, or belongs to another account.
  const isOlder = expression`account_id = ${account} AND (attribute_not_exists(account_revision) OR account_revision <= ${row.revision})`;
  await forEach(row.app_keys ?? [], (hash) => updateRow(table, keys.appKey(hash), copied, isOlder));
  return row;
}
