import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type AppKeyRow, appKeyIdOf } from '../auth/app-keys.ts';
import type { Int64 } from '../json.ts';
import { batchGet } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { collections, keys, parseKey } from '../table/keys.ts';
import { queryAll } from '../table/query-all.ts';
import type { SendOptions } from '../table/settle.ts';
import { type Action, transact } from '../table/transact.ts';

export interface AccountRow {
  account_id: Int64;
  name: string;
  permissions: string[];
  /** Signs the cursors of the account; made once. */
  cursor_secret: Uint8Array;
  suspended?: boolean;
  /** The account's key of the usage plan, once there is one. */
  gateway_key?: string;
  /** Hashes of the account's app keys; absent: it has none. */
  app_keys?: Set<string>;
  /** Incremented by changes, so that an older state never overwrites a newer one. */
  revision: number;
}

/** What an account's list of keys holds of each: never the key. */
export interface ListedAppKey {
  hash: string;
  app_key_id: string;
  /** The key's last four characters. */
  last_digits: string;
  /** Unix seconds, as all times here. */
  created_at: number;
  expires_at?: number;
  revoked_at?: number;
  /** Seconds for which the key was issued; absent: until it is revoked. */
  lifetime?: number;
  note?: string;
}

export function appKeyState({ revoked_at, expires_at }: ListedAppKey, nowMs: number): 'revoked' | 'expired' | 'valid' {
  if (revoked_at !== undefined) return 'revoked';
  return expires_at !== undefined && expires_at * 1000 <= nowMs ? 'expired' : 'valid';
}

const SECRET_BYTES = 32;
const COPIES_AT_ONCE = 16;

export async function readAccount(
  table: Table,
  account: Int64,
  options: SendOptions = {},
): Promise<AccountRow | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: keys.account(account), ConsistentRead: true }),
    options,
  );
  return Item as AccountRow | undefined;
}

/** The ids of all accounts, ascending. */
export async function listAccounts(table: Table): Promise<Int64[]> {
  const rows = await Array.fromAsync(queryAll(table, collections.accounts()));
  return rows.map((row) => parseKey(row)?.account as Int64);
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
  await transact(table, [
    { Put: { TableName: table.name, Item: keys.listedAccount(account_id) } },
    {
      Update: {
        TableName: table.name,
        Key: keys.account(account_id),
        UpdateExpression:
          'SET account_id = :id, #name = :name, #permissions = :permissions,' +
          ` cursor_secret = if_not_exists(cursor_secret, :secret)${suspended ? ', suspended = :suspended' : ''}` +
          ' ADD revision :one',
        ExpressionAttributeNames: { '#name': 'name', '#permissions': 'permissions' },
        ExpressionAttributeValues: {
          ':id': account_id,
          ':name': name,
          ':permissions': permissions,
          ':secret': randomBytes(SECRET_BYTES),
          ':one': 1,
          ...(suspended && { ':suspended': true }),
        },
      },
    },
    ...also,
  ]);
  return copyToAppKeys(table, account_id);
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
      {
        Update: {
          TableName: table.name,
          Key: keys.account(account),
          UpdateExpression: 'SET #permissions = :permissions, suspended = :suspended ADD revision :one',
          ConditionExpression: 'revision = :revision',
          ExpressionAttributeNames: { '#permissions': 'permissions' },
          ExpressionAttributeValues: {
            ':permissions': permissions,
            ':suspended': suspended,
            ':revision': row.revision,
            ':one': 1,
          },
        },
      },
      ...also,
    ]);
    // A concurrent change: read the account again.
    if (failed === undefined) return copyToAppKeys(table, account);
  }
}

/** The rows of an account's keys. Hashes of another account's keys are skipped. */
export async function listAppKeys(table: Table, account: AccountRow): Promise<ListedAppKey[]> {
  const hashes = [...(account.app_keys ?? [])];
  const rows = await batchGet(table, hashes.map(keys.appKey));
  return [...rows.values()]
    .map((row) => row as unknown as StoredAppKey)
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

type StoredAppKey = AppKeyRow & { pk: string };

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
  const fields = Object.entries(copiedFields(row));
  const sets = fields.map((_field, index) => `#${index} = :${index}`);
  const hashes = [...(row.app_keys ?? [])].values();
  const copy = async () => {
    for (const hash of hashes)
      try {
        await table.client.send(
          new UpdateCommand({
            TableName: table.name,
            Key: keys.appKey(hash),
            UpdateExpression: `SET ${sets.join(', ')}${row.gateway_key === undefined ? ' REMOVE gateway_key' : ''}`,
            ConditionExpression:
              'account_id = :account AND (attribute_not_exists(account_revision) OR account_revision <= :revision)',
            ExpressionAttributeNames: Object.fromEntries(fields.map(([name], index) => [`#${index}`, name])),
            ExpressionAttributeValues: {
              ...Object.fromEntries(fields.map(([, value], index) => [`:${index}`, value])),
              ':account': account,
              ':revision': row.revision,
            },
          }),
        );
      } catch (error) {
        // A newer state is there already, or the key is another account's.
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
  };
  await Promise.all(Array.from({ length: COPIES_AT_ONCE }, copy));
  return row;
}
