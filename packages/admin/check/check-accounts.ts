/**
 * Checks that the accounts, the list of accounts and the app keys agree. The highest revision decides, wherever it is: a key may have a change
 * of its account that the account's own row lacks.
 */
import { isDeepStrictEqual } from 'node:util';
import { appKeyIdOf } from '../../../lib/http/app-keys.ts';
import type { AccountRow } from '../../../lib/model/account.ts';
import type { AppKeyRow } from '../../../lib/model/app-key.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { all, EXISTS, expression, IS_NEW, is, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { type Action, conditionCheck, deleteAction, putAction, updateAction } from '../../../lib/table/write.ts';
import { copiedFields } from '../accounts/accounts.ts';
import { type Finding, findingsOf } from './finding.ts';

/** What is read of the rows of accounts and app keys, and of entries besides their keys: not their alerts, which may be large. */
export const READ_ATTRIBUTES = [
  ...(['account_id', 'permissions', 'cursor_secret', 'suspended', 'gateway_key', 'app_keys', 'revision'] as const),
  ...(['account_revision', 'revoked_at', 'erased_at_ms', 'erasure_ended_at_ms'] as const),
] as const;
type ReadAttribute = (typeof READ_ATTRIBUTES)[number];
export type CheckedAccount = Pick<AccountRow, ReadAttribute & keyof AccountRow>;
export type CheckedAppKey = Pick<AppKeyRow, ReadAttribute & keyof AppKeyRow>;

export interface AccountRows {
  readonly listed: ReadonlySet<Int64>;
  /** Every account that a row or the list of accounts names, with its row; undefined: it has none. */
  readonly accounts: ReadonlyMap<Int64, CheckedAccount | undefined>;
  /** By hash. */
  readonly appKeys: ReadonlyMap<string, CheckedAppKey>;
  /** Erased accounts that have other rows than their mark, their audit and app keys. */
  readonly notEmpty: ReadonlySet<Int64>;
}

export function* checkAccounts({ listed, accounts, appKeys, notEmpty }: AccountRows): Generator<Finding> {
  const keysOf = Map.groupBy(appKeys, ([, { account_id }]) => account_id);
  for (const [account, row] of accounts) {
    const keysOfAccount = keysOf.get(account) ?? [];
    if (row?.erased_at_ms !== undefined)
      yield* checkErased(row, listed.has(account) || keysOfAccount.length > 0 || notEmpty.has(account));
    else if (row) yield* checkAccount(row, listed.has(account), keysOfAccount, appKeys);
    else yield* checkMissing(account, listed.has(account), keysOfAccount);
  }
}

function* checkErased(
  { account_id: account, erasure_ended_at_ms }: CheckedAccount,
  hasRows: boolean,
): Generator<Finding> {
  if (erasure_ended_at_ms === undefined || hasRows)
    yield findingsOf(account)('erasure_unfinished', {}, `run \`account erase ${account}\` again`);
}

type Keys = readonly (readonly [hash: string, CheckedAppKey])[];

/** Nothing tells what the keys of an account without a row may do. They are revoked, since a call reads nothing but its key. */
function* checkMissing(account: Int64, isListed: boolean, appKeys: Keys): Generator<Finding> {
  const finding = findingsOf(account);
  const isMissing = conditionCheck(keys.account(account), IS_NEW);
  if (isListed) {
    const detail = 'the list of accounts has it, but the account does not exist';
    yield finding('account_missing', {}, detail, deleteAction(keys.listedAccount(account)), isMissing);
  } else yield finding('account_missing', {}, 'it has rows, but the account does not exist');
  for (const [hash, { revoked_at }] of appKeys) {
    if (revoked_at !== undefined) continue;
    // Any time revokes it.
    const revoke = updateAction(keys.appKey(hash), set({ revoked_at: 0 }), is('account_id', account));
    const detail = 'its account does not exist, so it is to be revoked';
    yield finding('app_key_valid', { app_key_id: appKeyIdOf(hash) }, detail, revoke, isMissing);
  }
}

function* checkAccount(
  stored: CheckedAccount,
  isListed: boolean,
  appKeys: Keys,
  allKeys: AccountRows['appKeys'],
): Generator<Finding> {
  const { account_id: account, revision } = stored;
  const finding = findingsOf(account);
  if (!isListed) {
    const detail = '`account list` and exports of all accounts do not show it';
    yield finding('account_unlisted', {}, detail, putAction(keys.listedAccount(account)));
  }
  const [newest] = appKeys.toSorted(([, a], [, b]) => revisionOf(b) - revisionOf(a));
  const isOutdated = newest !== undefined && revisionOf(newest[1]) > revision;
  const row = isOutdated ? { ...stored, ...fieldsCopiedTo(newest[1]) } : stored;
  if (isOutdated) {
    const [hash, { account_revision }] = newest;
    const detail = `it is at revision ${revision}, and key ${appKeyIdOf(hash)} has revision ${row.revision}`;
    const take = updateAction(keys.account(account), set(fieldsCopiedTo(newest[1])), is('revision', revision));
    const isUnchanged = conditionCheck(keys.appKey(hash), is('account_revision', account_revision));
    yield finding('account_outdated', {}, detail, take, isUnchanged);
  }
  for (const hash of stored.app_keys ?? []) {
    if (allKeys.get(hash)?.account_id === account) continue;
    const detail = allKeys.has(hash) ? 'the key belongs to another account' : 'calls with it are refused';
    yield finding(
      'app_key_missing',
      { app_key_id: appKeyIdOf(hash) },
      detail,
      ...keyListActions(account, 'DELETE', hash),
    );
  }
  for (const [hash, appKey] of appKeys) {
    const ids = { app_key_id: appKeyIdOf(hash) };
    if (!stored.app_keys?.has(hash)) {
      const detail = 'it works, but is neither listed nor changed with its account';
      yield finding('app_key_unlisted', ids, detail, ...keyListActions(account, 'ADD', hash));
    }
    const { permissions, suspended = false, cursor_secret, gateway_key, account_revision } = appKey;
    const copied = { permissions, suspended, cursor_secret, gateway_key, account_revision };
    if (isDeepStrictEqual(copied, copiedFields(row))) continue;
    const detail = `it has the permissions of revision ${revisionOf(appKey)}; the account is at revision ${row.revision}`;
    yield finding('app_key_outdated', ids, detail, ...copyActions(hash, appKey, row));
  }
}

/** An account's revision that a key has. */
const revisionOf = ({ account_revision = 0 }: CheckedAppKey) => account_revision;

/** What a key has of its account, as the account's own attributes. */
const fieldsCopiedTo = (appKey: CheckedAppKey) => {
  const { permissions, suspended = false, cursor_secret, gateway_key } = appKey;
  return { permissions, suspended, cursor_secret, ...(gateway_key && { gateway_key }), revision: revisionOf(appKey) };
};

/** `ADD` lists a key if it still belongs to the account; `DELETE` removes it from the list if it still does not. */
function keyListActions(account: Int64, verb: 'ADD' | 'DELETE', hash: string): Action[] {
  const hashes = new Set([hash]);
  const [change, isStill] =
    verb === 'ADD'
      ? [expression`ADD app_keys ${hashes}`, is('account_id', account)]
      : [expression`DELETE app_keys ${hashes}`, expression`${IS_NEW} OR account_id <> ${account}`];
  return [updateAction(keys.account(account), change, EXISTS), conditionCheck(keys.appKey(hash), isStill)];
}

/** Copies the account's permissions to a key, if neither has changed. */
function copyActions(hash: string, { account_revision }: CheckedAppKey, account: CheckedAccount): Action[] {
  const { account_id, revision } = account;
  return [
    updateAction(
      keys.appKey(hash),
      set(copiedFields(account)),
      all(is('account_id', account_id), is('account_revision', account_revision)),
    ),
    conditionCheck(keys.account(account_id), is('revision', revision)),
  ];
}
