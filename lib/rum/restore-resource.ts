import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { expression } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { type Action, transact, updateAction } from '../table/transact.ts';

/**
 * Undoes the deletion of an account's RUM resource. Functions see it when their caches expire.
 * @param also written in the same transaction
 * @returns false when there is none, or it is not deleted
 */
export async function restoreRumResource(table: Table, account: Int64, also: readonly Action[] = []): Promise<boolean> {
  const restored = updateAction(keys.rumResource(account), expression`REMOVE deleted`, expression`deleted = ${true}`);
  return (await transact(table, [restored, ...also])) === undefined;
}
