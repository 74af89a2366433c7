/** Where calls find the gateway key of an account: on the account and on each of its app keys. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { type Key, keys } from '../table/keys.ts';
import { listAccounts, listAppKeys, readAccount } from './accounts.ts';

/** Notes the gateway key of an account. */
export async function noteGatewayKey(table: Table, account: Int64, value: string): Promise<void> {
  await change(table, account, 'SET gateway_key = :value', { ':value': value });
}

/** Takes the notes of gateway keys off all accounts of a table and their app keys. */
export async function forgetGatewayKeys(table: Table): Promise<void> {
  for (const account of await listAccounts(table))
    if (await readAccount(table, account)) await change(table, account, 'REMOVE gateway_key', {});
}

async function change(table: Table, account: Int64, change: string, values: Record<string, string>) {
  const update = (Key: Key, also = '', more: Record<string, unknown> = {}) => {
    const all = { ...values, ...more };
    return table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key,
        UpdateExpression: `${change}${also}`,
        ConditionExpression: 'attribute_exists(pk)',
        ...(Object.keys(all).length > 0 && { ExpressionAttributeValues: all }),
      }),
    );
  };
  await update(keys.account(account), ' ADD revision :one', { ':one': 1 });
  for (const { hash } of await listAppKeys(table, account)) await update(keys.appKey(hash));
}
