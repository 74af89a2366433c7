import type { Table } from '../../../lib/dynamodb/client.ts';
import { expression } from '../../../lib/dynamodb/expression.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { type Action, transact, updateAction } from '../../../lib/dynamodb/transact.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

/**
 * Undoes the deletion of an account's RUM resource. Functions see it when their caches expire.
 * @param also written in the same transaction
 * @returns false when there is none, or it is not deleted
 */
export async function restoreRumResource(table: Table, account: Int64, also: readonly Action[] = []): Promise<boolean> {
  const restored = updateAction(keys.rumResource(account), expression`REMOVE deleted`, expression`deleted = ${true}`);
  return (await transact(table, [restored, ...also])) === undefined;
}
