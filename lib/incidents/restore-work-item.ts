import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { type Action, transact } from '../table/transact.ts';
import type { WorkItemRow } from './delete-work-item.ts';

/** A work item as stored; undefined when there is none. */
export async function readWorkItem(
  table: Table,
  account: Int64,
  workItemId: string,
): Promise<(WorkItemRow & Record<string, unknown>) | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: keys.workItem(account, workItemId), ConsistentRead: true }),
  );
  return Item as (WorkItemRow & Record<string, unknown>) | undefined;
}

/** The last version at which a work item can be deleted: deletion adds 1, and a version is an int64. */
export const LAST_VERSION = 2n ** 63n - 2n;

/**
 * Undoes the deletion of a work item. Its version is raised, so that a client's retry of the deletion does not
 * apply to the restored item. The item records which deletion it was: its caller may still be retrying.
 * @param deleted the item as it was read: deleted, at a version below {@link LAST_VERSION}, so that it can be deleted again
 * @param also written in the same transaction
 * @returns false when it has changed since it was read
 */
export async function restoreWorkItem(
  table: Table,
  account: Int64,
  deleted: WorkItemRow,
  also: readonly Action[] = [],
): Promise<boolean> {
  const restored = {
    Update: {
      TableName: table.name,
      Key: keys.workItem(account, deleted.work_item_id),
      UpdateExpression: 'SET #version = #version + :one, undone_deletion = :deletion REMOVE deleted_at_ms, deleted_by',
      ConditionExpression: '#version = :version AND deleted_at_ms = :at',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: {
        ':one': 1,
        ':version': deleted.version,
        ':at': deleted.deleted_at_ms,
        ':deletion': { version: deleted.version, at_ms: deleted.deleted_at_ms, by: deleted.deleted_by },
      },
    },
  };
  return (await transact(table, [restored, ...also])) === undefined;
}
