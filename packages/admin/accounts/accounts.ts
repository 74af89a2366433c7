import { randomBytes } from 'node:crypto';
import { appKeyIdOf } from '../../../lib/http/app-keys.ts';
import type { AccountRow } from '../../../lib/model/account.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { all, type Expression, expression, is, set } from '../../../lib/table/expression.ts';
import { keys, parseKey, partitions } from '../../../lib/table/keys.ts';
import { batchGet, getRow, queryPage, queryRows } from '../../../lib/table/read.ts';
import {
  type Action,
  conditionCheck,
  type NamedActions,
  putAction,
  RETURN_STORED,
  settle,
  transact,
  updateAction,
  updateRow,
} from '../../../lib/table/write.ts';

/** An app key as operators see it: never the key itself. */
export type ListedAppKey = Awaited<ReturnType<typeof listAppKeys>>[number];

export function appKeyState({ revoked_at, expires_at }: ListedAppKey, nowMs: number): 'revoked' | 'expired' | 'valid' {
  if (revoked_at !== undefined) return 'revoked';
  return expires_at !== undefined && expires_at * 1000 <= nowMs ? 'expired' : 'valid';
}

/** An account or one of its keys cannot be stored or changed. The message says why, in lower case and without a full stop. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
}

const SECRET_BYTES = 32;

export const readAccount = (table: Table, account: Int64): Promise<AccountRow | undefined> =>
  getRow(table, keys.account(account));

/** @throws AccountError if the account was erased, or is being erased */
export function requireNotErased(row: Pick<AccountRow, 'account_id' | 'erased_at_ms'> | undefined): void {
  if (row?.erased_at_ms !== undefined)
    throw new AccountError(`account ${row.account_id} was erased, and its id is not used again: choose another id`);
}

/**
 * For a write that must not come after an erasure, which deletes no row a second time.
 * @returns the condition of its transaction
 * @throws AccountError if the account is erased already
 */
export async function checkNotErased(table: Table, account: Int64): Promise<NamedActions> {
  requireNotErased(await readAccount(table, account));
  return { account: conditionCheck(keys.account(account), is('erased_at_ms', undefined)) };
}

/** The ids of all accounts, ascending. */
export async function listAccounts(table: Table): Promise<Int64[]> {
  const rows = await queryRows(table, partitions.listedAccount());
  return rows.map((row) => parseKey(row)?.account as Int64);
}

/**
 * A page of accounts, in the order of their ids.
 * @returns `next`: the value of `after` for the next page; undefined after the last
 */
export async function readAccounts(table: Table, options: { limit: number; after?: string | undefined }) {
  const { rows: listed, next } = await queryPage(table, partitions.listedAccount(), options);
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
 * Creates an account, or gives an existing one this name and these permissions. An existing one keeps its secret and
 * its keys, and stays suspended: only {@link changeAccount} makes and ends a suspension.
 * @param extraActions written in the same transaction
 * @throws AccountError if the account is erased
 */
export function putAccount(
  table: Table,
  { account_id, name, permissions }: Pick<AccountRow, 'account_id' | 'name' | 'permissions'>,
  extraActions: readonly Action[] = [],
): Promise<AccountRow> {
  const cursor_secret = randomBytes(SECRET_BYTES);
  const change = set({ account_id, name, permissions }, { cursor_secret });
  const listed = putAction(keys.listedAccount(account_id));
  return writeAccount<never>(
    table,
    account_id,
    () => change,
    (update) => [listed, update, ...extraActions],
  );
}

/**
 * Changes an account, and copies the change to its app keys. Warm functions see it when their caches expire. After a failure, the same
 * call completes the change. A suspension of a suspended account, or the end of none, writes nothing.
 * @param started written in the transaction that changes the account
 * @param done written when all keys have the change; of a suspension or its end, once
 * @returns the account; undefined if there is none
 */
export async function changeAccount(
  table: Table,
  account: Int64,
  change: (row: AccountRow) => Partial<Pick<AccountRow, 'name' | 'permissions' | 'suspended'>>,
  started: readonly Action[] = [],
  done: readonly Action[] = [],
): Promise<AccountRow | undefined> {
  let wanted: boolean | undefined;
  const changeOf = (row: AccountRow | undefined) => {
    if (!row) return undefined;
    const changes = change(row);
    const { name, permissions, suspended = false } = { ...row, ...changes };
    wanted = changes.suspended;
    const untold = row.untold || suspended !== (row.suspended ?? false) || undefined;
    return wanted !== undefined && !untold ? undefined : set({ name, permissions, suspended, untold });
  };
  let row = await writeAccount(table, account, changeOf, (update) => [update, ...started]);
  for (; row; row = await copyToAppKeys(table, account)) {
    if (wanted !== undefined && (row.suspended !== wanted || !row.untold))
      throw new AccountError(`account ${account} has just been changed: check it and try again`);
    const isCopied = all(is('revision', row.revision), is('untold', true));
    const told =
      wanted === undefined ? [] : [updateAction(keys.account(account), set({ untold: undefined }), isCopied)];
    const actions = [...told, ...done];
    if (actions.length === 0 || (await transact(table, actions)) === undefined) return row;
  }
  return readAccount(table, account);
}

/** Stores an account's gateway key in its row, and in the rows of its app keys, where calls read it. */
export async function storeGatewayKey(table: Table, account: Int64, gateway_key: string): Promise<void> {
  if (!(await setGatewayKey(table, account, gateway_key))) throw new Error(`account ${account} no longer exists`);
}

/** Removes the gateway keys from the rows of all accounts and their app keys. */
export async function removeGatewayKeys(table: Table): Promise<void> {
  for (const account of await listAccounts(table)) await setGatewayKey(table, account, undefined);
}

/**
 * The write leaves no row of its own by which it could be recognized, so after a lost reply the account is read.
 * @returns undefined if there is no such account
 */
const setGatewayKey = (
  table: Table,
  account: Int64,
  gateway_key: string | undefined,
): Promise<AccountRow | undefined> =>
  settle(table, {
    send: (table) => writeAccount(table, account, (row) => row && set({ gateway_key })),
    async verify(table) {
      const row = await readAccount(table, account);
      return row?.gateway_key === gateway_key ? copyToAppKeys(table, account) : undefined;
    },
  });

/**
 * Reads an account, changes it and copies it to its keys. After a concurrent change it starts again.
 * @param changeOf returns undefined if nothing is to be changed
 * @throws AccountError if the account is erased
 */
async function writeAccount<None extends undefined>(
  table: Table,
  account: Int64,
  changeOf: (row: AccountRow | undefined) => Expression | None,
  actionsOf: (update: Action) => readonly Action[] = (update) => [update],
): Promise<AccountRow | None> {
  for (;;) {
    const row = await readAccount(table, account);
    requireNotErased(row);
    const change = changeOf(row);
    if (change === undefined) return change;
    // A write that arrives late, after others, must change nothing, since nobody would copy it to the keys.
    const isAsRead = all(is('revision', row?.revision), is('untold', row?.untold));
    const update = updateAction(keys.account(account), expression`${change} ADD revision ${1}`, isAsRead);
    if ((await transact(table, actionsOf(update))) === undefined) return copyToAppKeys(table, account);
  }
}

/** The app keys of an account. A listed key that belongs to another account is left out. */
export async function listAppKeys(table: Table, account: AccountRow) {
  const hashes = [...(account.app_keys ?? [])];
  const { rows } = await batchGet(table, hashes.map(keys.appKey));
  return [...rows.values()]
    .filter(({ account_id }) => account_id === account.account_id)
    .map(({ pk, last_digits = '', created_at = 0, expires_at, revoked_at, lifetime, note, last_used_at }) => {
      const hash = String(parseKey({ pk, sk: '' })?.values[0]);
      const times = { created_at, expires_at, revoked_at, lifetime, last_used_at };
      return { hash, app_key_id: appKeyIdOf(hash), last_digits, ...times, note };
    });
}

/** When the last record of each kind was sent, by the feed: what an import wrote does not count. */
export async function readLastRecords(table: Table, account: Int64): Promise<{ kind: string; sent_at_ms: number }[]> {
  const rows = await queryRows(table, partitions.lastRecord(account));
  return rows.map(({ sk, sent_at_ms }) => ({ kind: sk, sent_at_ms }));
}

/** The part of an account that each of its app keys' rows repeats, so that a call reads a single row. */
export function copiedFields({
  permissions,
  suspended,
  cursor_secret,
  gateway_key,
  revision,
}: Omit<AccountRow, 'name'>) {
  return { permissions, suspended: suspended ?? false, cursor_secret, gateway_key, account_revision: revision };
}

/**
 * Copies the current account to each of its keys, unless a key already has a newer state.
 * @throws AccountError if a key is newer than the account, as in a table that was restored: then it keeps what it has
 */
async function copyToAppKeys(table: Table, account: Int64): Promise<AccountRow> {
  const row = await readAccount(table, account);
  if (!row) throw new Error(`account ${account} no longer exists`);
  const copied = set(copiedFields(row));
  const isOlder = expression`account_id = ${account} AND (attribute_not_exists(account_revision) OR account_revision <= ${row.revision})`;
  await forEach(row.app_keys ?? [], async (hash) => {
    const { done, row: stored } = await updateRow(table, keys.appKey(hash), copied, isOlder, RETURN_STORED);
    if (done || stored?.account_id !== account) return;
    // A later change has copied itself, if the account has it.
    const { account_revision = 0 } = stored;
    if (((await readAccount(table, account))?.revision ?? 0) < account_revision)
      throw new AccountError(
        `key ${appKeyIdOf(hash)} has a later state than account ${account}, and keeps it: run \`repair\`, then try again`,
      );
  });
  return row;
}
