import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { type SendOptions, settle } from '../table/settle.ts';
import type { WorkItemRow } from './delete-work-item.ts';

/** A work item as stored; undefined when there is none. */
export async function readWorkItem(
  table: Table,
  account: Int64,
  workItemId: string,
  options: SendOptions = {},
): Promise<(WorkItemRow & Record<string, unknown>) | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: keys.workItem(account, workItemId), ConsistentRead: true }),
    options,
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
  const update = new UpdateCommand({
    TableName: table.name,
    Key: keys.workItem(account, deleted.work_item_id),
    UpdateExpression: 'SET #version = #version + :one REMOVE deleted_at_ms, deleted_by',
    ConditionExpression: '#version = :version AND deleted_at_ms = :at',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':one': 1, ':version': deleted.version, ':at': deleted.deleted_at_ms },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  /** The row, if it was restored from this very version: by an attempt of this call whose reply was lost. */
  const restored = (row: WorkItemRow | undefined) =>
    row?.deleted_at_ms === undefined && row?.version === next(deleted.version) ? row : undefined;
  try {
    return await settle({
      send: async (options) => (await table.client.send(update, options)).Attributes as WorkItemRow,
      look: async (options) => restored(await readWorkItem(table, account, deleted.work_item_id, options)),
    });
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return restored(error.Item && table.unmarshall<WorkItemRow>(error.Item));
  }
}

const next = (version: Int64): Int64 => {
  const value = BigInt(version) + 1n;
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
};
