import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { collections, keys, parseKey } from '../table/keys.ts';
import { queryAll } from '../table/query-all.ts';

export interface AccountRow {
  account_id: Int64;
  name: string;
  permissions: string[];
  /** Signs the cursors of the account; made once. */
  cursor_secret: Uint8Array;
  suspended?: boolean;
  /** The account's key of the usage plan, once there is one. */
  gateway_key?: string;
  /** Counts the changes, so that an older state is never copied over a newer one. */
  revision: number;
}

/** What an account's list of keys holds of each: never the key. */
export interface ListedAppKey {
  app_key_id: string;
  /** The key's last four characters. */
  last_digits: string;
  /** Unix seconds, as all times here. */
  created_at: number;
  expires_at?: number;
  revoked_at?: number;
  note?: string;
}

const SECRET_BYTES = 32;

export async function readAccount(table: Table, account: Int64): Promise<AccountRow | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: keys.account(account), ConsistentRead: true }),
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
 * whether it is suspended unless that is said.
 */
export async function putAccount(
  table: Table,
  { account_id, name, permissions, suspended }: Pick<AccountRow, 'account_id' | 'name' | 'permissions' | 'suspended'>,
): Promise<AccountRow> {
  // Listed first: an account that is there is never missing from the list.
  await table.client.send(new PutCommand({ TableName: table.name, Item: keys.listedAccount(account_id) }));
  const { Attributes } = await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: keys.account(account_id),
      UpdateExpression:
        'SET account_id = :id, #name = :name, #permissions = :permissions,' +
        ` cursor_secret = if_not_exists(cursor_secret, :secret)${suspended === undefined ? '' : ', suspended = :suspended'}` +
        ' ADD revision :one',
      ExpressionAttributeNames: { '#name': 'name', '#permissions': 'permissions' },
      ExpressionAttributeValues: {
        ':id': account_id,
        ':name': name,
        ':permissions': permissions,
        ':secret': randomBytes(SECRET_BYTES),
        ':one': 1,
        ...(suspended !== undefined && { ':suspended': suspended }),
      },
      ReturnValues: 'ALL_NEW',
    }),
  );
  const row = Attributes as AccountRow;
  await copyToAppKeys(table, row);
  return row;
}

/**
 * Changes what an account may do; its keys follow before this returns, and warm functions as their caches end. Done again
 * after a failure half-way, it completes.
 * @returns the changed account; undefined when there is none
 */
export async function changeAccount(
  table: Table,
  account: Int64,
  change: (row: AccountRow) => Partial<Pick<AccountRow, 'permissions' | 'suspended'>>,
): Promise<AccountRow | undefined> {
  for (;;) {
    const row = await readAccount(table, account);
    if (!row) return undefined;
    const next = { ...row, ...change(row), revision: row.revision + 1 };
    try {
      await table.client.send(
        new PutCommand({
          TableName: table.name,
          Item: { ...keys.account(account), ...next },
          ConditionExpression: 'revision = :revision',
          ExpressionAttributeValues: { ':revision': row.revision },
        }),
      );
    } catch (error) {
      // Another change came between, or this one was made and its reply was lost: both show when it is read again.
      if (error instanceof ConditionalCheckFailedException) continue;
      throw error;
    }
    await copyToAppKeys(table, next);
    return next;
  }
}

/** The hashes and rows of an account's keys. */
export async function listAppKeys(table: Table, account: Int64): Promise<(ListedAppKey & { hash: string })[]> {
  const rows = await Array.fromAsync(queryAll(table, collections.appKeys(account)));
  return rows.map(({ pk: _pk, sk, ...row }) => ({ ...(row as unknown as ListedAppKey), hash: sk }));
}

/** Copies what the account may do into each of its keys, where a call finds it in one read. */
async function copyToAppKeys(table: Table, account: AccountRow): Promise<void> {
  for (const { hash } of await listAppKeys(table, account.account_id))
    try {
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: keys.appKey(hash),
          UpdateExpression: 'SET #permissions = :permissions, suspended = :suspended, account_revision = :revision',
          ConditionExpression:
            'attribute_exists(pk) AND (attribute_not_exists(account_revision) OR account_revision <= :revision)',
          ExpressionAttributeNames: { '#permissions': 'permissions' },
          ExpressionAttributeValues: {
            ':permissions': account.permissions,
            ':suspended': account.suspended ?? false,
            ':revision': account.revision,
          },
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error; // a newer state is there already
    }
}
