import { randomBytes } from 'node:crypto';
import { GetCommand, paginateQuery, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { collections, keys } from '../table/keys.ts';
import { type AppKeyRow, appKeyIdOf, hashAppKey } from './app-keys.ts';

export interface AccountRow {
  account_id: Int64;
  name: string;
  permissions: string[];
  /** Signs the cursors of the account; made once. */
  cursor_secret: Uint8Array;
  suspended?: boolean;
  /** The account's key of the usage plan, once there is one. */
  gateway_key?: string;
}

/** What an account's list of keys holds of each: never the key. */
interface AccountAppKeyRow {
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

/** Creates an account, or gives an existing one this name and these permissions; its secret and its keys stay. */
export async function putAccount(
  table: Table,
  { account_id, name, permissions }: Pick<AccountRow, 'account_id' | 'name' | 'permissions'>,
): Promise<AccountRow> {
  const { Attributes } = await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: keys.account(account_id),
      UpdateExpression:
        'SET account_id = :id, #name = :name, #permissions = :permissions,' +
        ' cursor_secret = if_not_exists(cursor_secret, :secret)',
      ExpressionAttributeNames: { '#name': 'name', '#permissions': 'permissions' },
      ExpressionAttributeValues: {
        ':id': account_id,
        ':name': name,
        ':permissions': permissions,
        ':secret': randomBytes(SECRET_BYTES),
      },
      ReturnValues: 'ALL_NEW',
    }),
  );
  const row = Attributes as AccountRow;
  await copyToAppKeys(table, row);
  return row;
}

/** The hashes and rows of an account's keys. */
export async function listAppKeys(table: Table, account: Int64): Promise<(AccountAppKeyRow & { hash: string })[]> {
  const rows: (AccountAppKeyRow & { hash: string })[] = [];
  const pages = paginateQuery(
    { client: table.client },
    {
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': collections.appKeys(account) },
      ConsistentRead: true,
    },
  );
  for await (const { Items = [] } of pages)
    for (const { pk: _pk, sk, ...row } of Items) rows.push({ ...(row as AccountAppKeyRow), hash: sk });
  return rows;
}

/** Copies what the account may do into each of its keys, where a call finds it in one read. */
async function copyToAppKeys(table: Table, account: AccountRow): Promise<void> {
  for (const { hash } of await listAppKeys(table, account.account_id))
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.appKey(hash),
        UpdateExpression: 'SET #permissions = :permissions, suspended = :suspended',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: { '#permissions': 'permissions' },
        ExpressionAttributeValues: { ':permissions': account.permissions, ':suspended': account.suspended ?? false },
      }),
    );
}

/** Puts a key of an account into the table: only its hash is stored. Said again, it replaces what was said before. */
export async function putAppKey(
  table: Table,
  account: AccountRow,
  appKey: string,
  { nowSeconds, ...times }: { nowSeconds: number; expires_at?: number; revoked_at?: number; note?: string },
): Promise<void> {
  const hash = hashAppKey(appKey);
  const { note, ...limits } = times;
  const row: AppKeyRow = {
    account_id: account.account_id,
    permissions: account.permissions,
    suspended: account.suspended ?? false,
    cursor_secret: account.cursor_secret,
    ...(account.gateway_key !== undefined && { gateway_key: account.gateway_key }),
    ...limits,
  };
  const listed: AccountAppKeyRow = {
    app_key_id: appKeyIdOf(hash),
    last_digits: appKey.slice(-4),
    created_at: nowSeconds,
    ...limits,
    ...(note !== undefined && { note }),
  };
  await table.client.send(
    new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName: table.name, Item: { ...keys.appKey(hash), ...row } } },
        { Put: { TableName: table.name, Item: { ...keys.accountAppKey(account.account_id, hash), ...listed } } },
      ],
    }),
  );
}
