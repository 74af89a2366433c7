/** Where calls find the gateway key of an account: on the account and on each of its app keys. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { copyToAppKeys, listAccounts, readAccount } from './accounts.ts';

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
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: keys.account(account),
      UpdateExpression: `${change} ADD revision :one`,
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':one': 1, ...values },
    }),
  );
  await copyToAppKeys(table, account);
}
