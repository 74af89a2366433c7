/** Accounts that no other test uses. */
import { randomInt } from 'node:crypto';
import type { Table } from '../../lib/table/client.ts';
import type { AppKeyRow } from '../../lib/table/rows.ts';
import { putAppKey } from './service.ts';

/** A random account id, from so many that two tests hardly ever get the same. */
export const newAccountId = () => randomInt(1_000_000, 2 ** 47);

/** A new account with a valid key. */
export async function newCaller(
  table: Table,
  row: Partial<AppKeyRow> = {},
): Promise<{ account: number | bigint; appKey: string }> {
  const account = row.account_id ?? newAccountId();
  return { account, appKey: await putAppKey(table, { ...row, account_id: account }) };
}
