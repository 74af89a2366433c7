/** Where calls find the gateway key of an account: on the account and on each of its app keys. */
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { expression, is, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { updateRow } from '../table/row.ts';
import { settle } from '../table/settle.ts';
import { copyToAppKeys, listAccounts, readAccount } from './accounts.ts';

/** Notes the gateway key of an account. */
export async function noteGatewayKey(table: Table, account: Int64, value: string): Promise<void> {
  if (!(await change(table, account, value))) throw new Error(`account ${account} no longer exists`);
}

/** Removes the gateway keys noted on all accounts of a table and on their app keys. */
export async function forgetGatewayKeys(table: Table): Promise<void> {
  for (const account of await listAccounts(table)) await change(table, account, undefined);
}

/**
 * @param value absent: takes the note away
 * @returns whether the account exists
 */
async function change(table: Table, account: Int64, value: string | undefined): Promise<boolean> {
  const update = expression`${set({ gateway_key: value })} ADD revision ${1}`;
  for (;;) {
    const row = await readAccount(table, account);
    if (!row) return false;
    const { done } = await settle(table, {
      // A write that arrives after later ones changes nothing: nobody would copy it to the app keys.
      send: (table) => updateRow(table, keys.account(account), update, is('revision', row.revision)),
      async look(table) {
        const found = await readAccount(table, account);
        return found?.gateway_key === value ? { done: true, row: found } : undefined;
      },
    });
    if (!done) continue; // A concurrent change: read the account again.
    await copyToAppKeys(table, account);
    return true;
  }
}
