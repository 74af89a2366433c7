/** Issuing and ending app keys: what the operator does. Each change is one transaction over the key's two rows. */
import { randomBytes } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { type Key, keys } from '../table/keys.ts';
import { type AccountRow, type ListedAppKey, readAccount } from './accounts.ts';
import { type AppKeyRow, appKeyIdOf, hashAppKey } from './app-keys.ts';

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

const KEY_BYTES = 32;
const LAST_DIGITS = 4;

/** What is stored of a key's text. */
export interface AppKeyIdentity {
  hash: string;
  lastDigits: string;
}

/** Times in Unix seconds. */
export interface AppKeyLimits {
  created_at: number;
  expires_at?: number;
  revoked_at?: number;
  note?: string;
}

export const newAppKey = () => randomBytes(KEY_BYTES).toString('base64url');

export const identityOfAppKey = (appKey: string): AppKeyIdentity => ({
  hash: hashAppKey(appKey),
  lastDigits: appKey.slice(-LAST_DIGITS),
});

/**
 * Puts a key of an account into the table: only its hash is stored. Said again, it is as said last, but for when it was
 * created and revoked.
 * @param before further changes of the same transaction
 * @throws when the account is gone
 */
export async function putAppKey(
  table: Table,
  account: AccountRow,
  { hash, lastDigits }: AppKeyIdentity,
  { created_at, note, ...limits }: AppKeyLimits,
  before: Action[] = [],
): Promise<void> {
  let row: AccountRow | undefined = account;
  for (;;) {
    if (!row) throw new Error(`account ${account.account_id} went away`);
    const copied: AppKeyRow = {
      account_id: row.account_id,
      permissions: row.permissions,
      suspended: row.suspended ?? false,
      cursor_secret: row.cursor_secret,
      account_revision: row.revision,
      ...(row.gateway_key !== undefined && { gateway_key: row.gateway_key }),
      ...limits,
    };
    const listed: ListedAppKey = {
      app_key_id: appKeyIdOf(hash),
      last_digits: lastDigits,
      created_at,
      ...limits,
      ...(note !== undefined && { note }),
    };
    const unchanged: Action = {
      ConditionCheck: {
        TableName: table.name,
        Key: keys.account(row.account_id),
        ConditionExpression: 'revision = :revision',
        ExpressionAttributeValues: { ':revision': row.revision },
      },
    };
    const puts: Action[] = [
      put(table, keys.appKey(hash), copied, ['expires_at', 'revoked_at', 'gateway_key']),
      put(table, keys.accountAppKey(row.account_id, hash), listed, ['expires_at', 'revoked_at', 'note']),
    ];
    try {
      await table.client.send(new TransactWriteCommand({ TransactItems: [unchanged, ...puts, ...before] }));
      return;
    } catch (error) {
      // The account was changed between its reading and this: the key must not keep what the account no longer may.
      if (!isCancelledBy(error, 0)) throw error;
      row = await readAccount(table, account.account_id);
    }
  }
}

/** What happened once stays: a key that is put again was created and revoked when it was first. */
const LASTING = new Set(['created_at', 'revoked_at']);

/** Gives a row these fields, and takes those away that it need not have and does not. */
function put(table: Table, Key: Key, fields: object, optional: readonly string[]): Action {
  const entries = Object.entries(fields);
  const sets = entries.map(
    ([name], at) => `#f${at} = ${LASTING.has(name) ? `if_not_exists(#f${at}, :v${at})` : `:v${at}`}`,
  );
  const absent = optional.filter((name) => !(name in fields));
  const removes = absent.map((_name, at) => `#r${at}`);
  return {
    Update: {
      TableName: table.name,
      Key,
      UpdateExpression: `SET ${sets.join(', ')}${removes.length > 0 ? ` REMOVE ${removes.join(', ')}` : ''}`,
      ExpressionAttributeNames: Object.fromEntries([
        ...entries.map(([name], at) => [`#f${at}`, name]),
        ...absent.map((name, at) => [`#r${at}`, name]),
      ]),
      ExpressionAttributeValues: Object.fromEntries(entries.map(([, value], at) => [`:v${at}`, value])),
    },
  };
}

/** Revokes a key from now on. Said again, the first time stays. */
export async function revokeAppKey(table: Table, account: Int64, hash: string, nowSeconds: number): Promise<void> {
  const set = {
    UpdateExpression: 'SET revoked_at = if_not_exists(revoked_at, :now)',
    ExpressionAttributeValues: { ':now': nowSeconds },
  };
  await table.client.send(new TransactWriteCommand({ TransactItems: changeBoth(table, account, hash, set) }));
}

/**
 * Puts a new key beside an old one that then expires, in one transaction.
 * @param expiresAt Unix seconds; the old key never lives longer than it would have
 */
export async function rotateAppKey(
  table: Table,
  account: AccountRow,
  old: ListedAppKey & { hash: string },
  fresh: { identity: AppKeyIdentity; limits: AppKeyLimits },
  expiresAt: number,
): Promise<void> {
  const set = {
    UpdateExpression: 'SET expires_at = :at',
    ExpressionAttributeValues: { ':at': Math.min(expiresAt, old.expires_at ?? expiresAt) },
  };
  const ending = changeBoth(table, account.account_id, old.hash, set);
  await putAppKey(table, account, fresh.identity, fresh.limits, ending);
}

function changeBoth(
  table: Table,
  account: Int64,
  hash: string,
  change: { UpdateExpression: string; ExpressionAttributeValues: Record<string, unknown> },
): Action[] {
  return [keys.appKey(hash), keys.accountAppKey(account, hash)].map((Key) => ({
    Update: { TableName: table.name, Key, ConditionExpression: 'attribute_exists(pk)', ...change },
  }));
}

function isCancelledBy(error: unknown, at: number): boolean {
  return (
    error instanceof TransactionCanceledException && error.CancellationReasons?.[at]?.Code === 'ConditionalCheckFailed'
  );
}
