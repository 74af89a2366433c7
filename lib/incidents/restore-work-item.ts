import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
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

/**
 * Takes the deletion of a work item back. Its version goes up, so that a deletion that a client sends again does not
 * apply to the restored item.
 * @param deleted the item as it was read: deleted
 * @returns the restored item; undefined when it has changed since it was read
 */
export async function restoreWorkItem(
  table: Table,
  account: Int64,
  deleted: WorkItemRow,
): Promise<WorkItemRow | undefined> {
  try {
    const { Attributes } = await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.workItem(account, deleted.work_item_id),
        UpdateExpression: 'SET #version = #version + :one REMOVE deleted_at_ms, deleted_by',
        ConditionExpression: '#version = :version AND deleted_at_ms = :at',
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: { ':one': 1, ':version': deleted.version, ':at': deleted.deleted_at_ms },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return Attributes as WorkItemRow;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const stored = error.Item && table.unmarshall<WorkItemRow>(error.Item);
    // Restored from this very version: the reply to an earlier attempt of this call was lost.
    const done = stored?.deleted_at_ms === undefined && stored?.version === next(deleted.version);
    return done ? stored : undefined;
  }
}

const next = (version: Int64): Int64 => {
  const value = BigInt(version) + 1n;
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
};
