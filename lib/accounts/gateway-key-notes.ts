/** Where calls find the gateway key of an account: on the account and on each of its app keys. */
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { EXISTS, expression, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { updateRow } from '../table/row.ts';
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
  const update = expression`${set({ gateway_key: value })} ADD revision ${1}`;
  await settle<unknown>(table, {
    send: (table) => updateRow(table, keys.account(account), update, EXISTS),
    async look(table) {
      const row = await readAccount(table, account);
      return row?.gateway_key === value ? row : undefined;
    },
  });
  await copyToAppKeys(table, account);
}
