/** Whether accounts, the list of them and their app keys agree. */
import { isDeepStrictEqual } from 'node:util';
import { type AccountRow, copiedFields } from '../accounts/accounts.ts';
import { type AppKeyRow, appKeyIdOf } from '../auth/app-keys.ts';
import { Condition, updateOf } from '../incidents/transaction.ts';
import type { Int64 } from '../json.ts';
import { keys } from '../table/keys.ts';
import type { Finding, Fix } from './finding.ts';

/** Accounts and keys as stored. */
export interface AccountRows {
  /** Accounts that are in the list of accounts. */
  readonly listed: ReadonlySet<Int64>;
  /** Accounts that anything belongs to; undefined: there is no such account. */
  readonly accounts: ReadonlyMap<Int64, AccountRow | undefined>;
  /** By hash. */
  readonly appKeys: ReadonlyMap<string, AppKeyRow>;
}

/** @param tableName what the fixes are written to */
export function* checkAccounts({ listed, accounts, appKeys }: AccountRows, tableName: string): Generator<Finding> {
  for (const [account, row] of accounts) {
    const list = { TableName: tableName, Key: keys.listedAccount(account) };
    if (!row) {
      const [what, fixes] = listed.has(account)
        ? (['the list of accounts has it', [{ Delete: list }]] as const)
        : (['it has rows', []] as const);
      yield { kind: 'account_missing', account, ids: {}, detail: `${what}, but the account does not exist`, fixes };
      continue;
    }
    if (!listed.has(account))
      yield {
        kind: 'account_unlisted',
        account,
        ids: {},
        detail: '`account list` and exports of all accounts do not show it',
        fixes: [{ Put: { TableName: tableName, Item: keys.listedAccount(account) } }],
      };
    for (const hash of row.app_keys ?? [])
      if (appKeys.get(hash)?.account_id !== account)
        yield {
          kind: 'app_key_missing',
          account,
          ids: { app_key_id: appKeyIdOf(hash) },
          detail: appKeys.has(hash) ? 'the key belongs to another account' : 'calls with it are refused',
          fixes: listing(tableName, account, 'DELETE', hash),
        };
  }
  for (const [hash, appKey] of appKeys) {
    const account = accounts.get(appKey.account_id);
    if (!account) continue;
    const ids = { app_key_id: appKeyIdOf(hash) };
    if (!account.app_keys?.has(hash))
      yield {
        kind: 'app_key_unlisted',
        account: account.account_id,
        ids,
        detail: 'it works, but is neither listed nor changed with its account',
        fixes: listing(tableName, account.account_id, 'ADD', hash),
      };
    const should = copiedFields(account);
    const { permissions, suspended = false, cursor_secret, gateway_key, account_revision } = appKey;
    const has = {
      permissions,
      suspended,
      cursor_secret,
      ...(gateway_key !== undefined && { gateway_key }),
      account_revision,
    };
    if (isDeepStrictEqual(has, should)) continue;
    yield {
      kind: 'app_key_outdated',
      account: account.account_id,
      ids,
      detail: `it has the permissions of revision ${account_revision ?? 0}; the account is at revision ${account.revision}`,
      fixes: copying(tableName, hash, appKey, account),
    };
  }
}

/** Adds a key to its account's list, or takes it from there, if it is still the account's, or still not. */
function listing(tableName: string, account: Int64, verb: 'ADD' | 'DELETE', hash: string): Fix[] {
  const isOwn = verb === 'ADD';
  return [
    {
      Update: {
        TableName: tableName,
        Key: keys.account(account),
        UpdateExpression: `${verb} app_keys :hashes`,
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':hashes': new Set([hash]) },
      },
    },
    {
      ConditionCheck: {
        TableName: tableName,
        Key: keys.appKey(hash),
        ConditionExpression: isOwn ? 'account_id = :account' : 'attribute_not_exists(pk) OR account_id <> :account',
        ExpressionAttributeValues: { ':account': account },
      },
    },
  ];
}

/** Copies the account's permissions to a key, if neither has changed. The account decides, even if the key has a later state. */
function copying(tableName: string, hash: string, appKey: AppKeyRow, account: AccountRow): Fix[] {
  const condition = new Condition();
  const { expression, values } = updateOf({ gateway_key: undefined, ...copiedFields(account) });
  const conditions = ['account_id = :account', condition.is('account_revision', appKey.account_revision)];
  return [
    {
      Update: {
        TableName: tableName,
        Key: keys.appKey(hash),
        ...expression,
        ConditionExpression: conditions.join(' AND '),
        ExpressionAttributeValues: { ...values, ...condition.values, ':account': account.account_id },
      },
    },
    {
      ConditionCheck: {
        TableName: tableName,
        Key: keys.account(account.account_id),
        ConditionExpression: 'revision = :revision',
        ExpressionAttributeValues: { ':revision': account.revision },
      },
    },
  ];
}
