/** Where calls find the gateway key of an account: on the account and on each of its app keys. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { settle } from '../table/settle.ts';
import { copyToAppKeys, listAccounts, readAccount } from './accounts.ts';

/** Notes the gateway key of an account. */
export async function noteGatewayKey(table: Table, account: Int64, value: string): Promise<void> {
  await change(table, account, value);
}

/** Removes the gateway keys noted on all accounts of a table and on their app keys. */
export async function forgetGatewayKeys(table: Table): Promise<void> {
  for (const account of await listAccounts(table))
    if (await readAccount(table, account)) await change(table, account, undefined);
}

/** @param value absent: takes the note away */
async function change(table: Table, account: Int64, value: string | undefined): Promise<void> {
  const update = new UpdateCommand({
    TableName: table.name,
    Key: keys.account(account),
    UpdateExpression: `${value === undefined ? 'REMOVE gateway_key' : 'SET gateway_key = :value'} ADD revision :one`,
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':one': 1, ...(value !== undefined && { ':value': value }) },
  });
  await settle<unknown>({
    send: (options) => table.client.send(update, options),
    async look(options) {
      const row = await readAccount(table, account, options);
      return row?.gateway_key === value ? row : undefined;
    },
  });
  await copyToAppKeys(table, account);
}
