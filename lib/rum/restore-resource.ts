import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { type Action, transact } from '../table/transact.ts';

/**
 * Undoes the deletion of an account's RUM resource. Functions see it when their caches expire.
 * @param also written in the same transaction
 * @returns false when there is none, or it is not deleted
 */
export async function restoreRumResource(table: Table, account: Int64, also: readonly Action[] = []): Promise<boolean> {
  const restored = {
    Update: {
      TableName: table.name,
      Key: keys.rumResource(account),
      UpdateExpression: 'REMOVE deleted',
      ConditionExpression: 'deleted = :yes',
      ExpressionAttributeValues: { ':yes': true },
    },
  };
  return (await transact(table, [restored, ...also])) === undefined;
}
