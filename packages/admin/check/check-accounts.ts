/** Checks that the accounts, the list of accounts and the app keys agree. */
import { isDeepStrictEqual } from 'node:util';
import { appKeyIdOf } from '../../../lib/http/app-keys.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { all, EXISTS, expression, IS_NEW, is, set } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import type { AccountRow, AppKeyRow } from '../../../lib/table/rows.ts';
import { type Action, conditionCheck, deleteAction, putAction, updateAction } from '../../../lib/table/write.ts';
import { copiedFields } from '../accounts/accounts.ts';
import { type Finding, findingsOf } from './finding.ts';

export interface AccountRows {
  readonly listed: ReadonlySet<Int64>;
  /** Every account that a row or the list of accounts names, with its row; undefined: it has none. */
  readonly accounts: ReadonlyMap<Int64, AccountRow | undefined>;
  /** By hash. */
  readonly appKeys: ReadonlyMap<string, AppKeyRow>;
}

export function* checkAccounts({ listed, accounts, appKeys }: AccountRows): Generator<Finding> {
  const haveKeys = new Set([...appKeys.values()].map(({ account_id }) => account_id));
  for (const [account, row] of accounts) {
    const finding = findingsOf(account);
    const listKey = keys.listedAccount(account);
    if (!row) {
      const [what, ...fixes] = listed.has(account)
        ? ([
            'the list of accounts has it',
            deleteAction(listKey),
            conditionCheck(keys.account(account), IS_NEW),
          ] as const)
        : (['it has rows'] as const);
      yield finding('account_missing', {}, `${what}, but the account does not exist`, ...fixes);
      continue;
    }
    if (row.erased_at_ms !== undefined) {
      if (row.erasure_ended_at_ms === undefined || listed.has(account) || haveKeys.has(account))
        yield finding('erasure_unfinished', {}, `run \`account erase ${account}\` again`);
      continue;
    }
    if (!listed.has(account)) {
      const detail = '`account list` and exports of all accounts do not show it';
      yield finding('account_unlisted', {}, detail, putAction(listKey));
    }
    for (const hash of row.app_keys ?? []) {
      if (appKeys.get(hash)?.account_id === account) continue;
      const detail = appKeys.has(hash) ? 'the key belongs to another account' : 'calls with it are refused';
      yield finding(
        'app_key_missing',
        { app_key_id: appKeyIdOf(hash) },
        detail,
        ...keyListActions(account, 'DELETE', hash),
      );
    }
  }
  for (const [hash, appKey] of appKeys) {
    const account = accounts.get(appKey.account_id);
    if (!account) continue;
    if (account.erased_at_ms !== undefined) continue;
    const finding = findingsOf(account.account_id);
    const ids = { app_key_id: appKeyIdOf(hash) };
    if (!account.app_keys?.has(hash)) {
      const detail = 'it works, but is neither listed nor changed with its account';
      yield finding('app_key_unlisted', ids, detail, ...keyListActions(account.account_id, 'ADD', hash));
    }
    const { permissions, suspended = false, cursor_secret, gateway_key, account_revision } = appKey;
    const copied = { permissions, suspended, cursor_secret, gateway_key, account_revision };
    if (isDeepStrictEqual(copied, copiedFields(account))) continue;
    const detail = `it has the permissions of revision ${account_revision ?? 0}; the account is at revision ${account.revision}`;
    yield finding('app_key_outdated', ids, detail, ...copyActions(hash, appKey, account));
  }
}

/** `ADD` lists a key if it still belongs to the account; `DELETE` removes it from the list if it still does not. */
function keyListActions(account: Int64, verb: 'ADD' | 'DELETE', hash: string): Action[] {
  const hashes = new Set([hash]);
  const [change, isStill] =
    verb === 'ADD'
      ? [expression`ADD app_keys ${hashes}`, is('account_id', account)]
      : [expression`DELETE app_keys ${hashes}`, expression`${IS_NEW} OR account_id <> ${account}`];
  return [updateAction(keys.account(account), change, EXISTS), conditionCheck(keys.appKey(hash), isStill)];
}

/** Copies the account's permissions to a key, even one with a higher revision, if neither has changed. */
function copyActions(hash: string, { account_revision }: AppKeyRow, account: AccountRow): Action[] {
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
