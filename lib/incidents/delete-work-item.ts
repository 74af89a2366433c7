import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Call, createOperationHandler, type Handler } from '../api/operation-handler.ts';
import { deleteWorkItem, type RequestOf } from '../api/operations.ts';
import { refuse } from '../api/refusals.ts';
import validate from '../api/validators/delete-work-item.ts';
import type { Deps } from '../deps.ts';
import type { Int64 } from '../json.ts';
import { keys } from '../table/keys.ts';
import { settle } from '../table/settle.ts';

export interface WorkItemRow {
  work_item_id: string;
  version: Int64;
  title: string;
  /** Unix milliseconds; absent: not deleted. */
  deleted_at_ms?: number;
  /** The key that deleted it. */
  deleted_by?: string;
  /** The deletion undone last; `version` is the version that it produced. */
  undone_deletion?: { version: Int64; at_ms: number; by?: string };
}

/** Marks a work item deleted if it is at the caller's version. */
export function createDeleteWorkItem({ table, now }: Deps) {
  return async function deleteItem({ body, caller, signal }: Call<RequestOf<typeof deleteWorkItem>>) {
    const { work_item_id: workItemId, version } = body;
    const deletion = { atMs: now(), by: caller.appKeyId, version };
    const row = { TableName: table.name, Key: keys.workItem(caller.accountId, workItemId) };
    const update = new UpdateCommand({
      ...row,
      UpdateExpression: 'SET deleted_at_ms = :now, deleted_by = :by, #version = #version + :one',
      ConditionExpression: '#version = :version AND attribute_not_exists(deleted_at_ms)',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':now': deletion.atMs, ':by': deletion.by, ':one': 1, ':version': version },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      await settle<unknown>(
        {
          send: (options) => table.client.send(update, options),
          async look(options) {
            const { Item } = await table.client.send(new GetCommand({ ...row, ConsistentRead: true }), options);
            return isDone(Item as WorkItemRow | undefined, deletion) ? Item : undefined;
          },
        },
        signal,
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const stored = error.Item && table.unmarshall<WorkItemRow>(error.Item);
      refuseUnlessDone(stored, workItemId, deletion);
    }
    return { data: {} };
  };
}

/** One call's deletion, as the row tells of it. */
interface Deletion {
  atMs: number;
  by: string;
  /** Before it. */
  version: Int64;
}

/** Whether the item was deleted at this version, or by this call and restored since. */
function isDone(stored: WorkItemRow | undefined, { atMs, by, version }: Deletion): boolean {
  const isNext = (other: Int64) => BigInt(other) === BigInt(version) + 1n;
  if (stored?.deleted_at_ms !== undefined && isNext(stored.version)) return true;
  const undone = stored?.undone_deletion;
  return undone !== undefined && isNext(undone.version) && undone.at_ms === atMs && undone.by === by;
}

/**
 * Determines from the stored row why the deletion did not apply. Returns if it was deleted at this version: the call is
 * a retry, or its own first reply was lost.
 */
function refuseUnlessDone(stored: WorkItemRow | undefined, workItemId: string, deletion: Deletion): void {
  if (isDone(stored, deletion)) return;
  if (!stored || stored.deleted_at_ms !== undefined) throw refuse('workItemNotFound', { workItemId });
  throw refuse('versionDiffers', {
    given: String(deletion.version),
    stored: String(stored.version),
  });
}

export const createDeleteWorkItemHandler = (deps: Deps): Handler =>
  createOperationHandler(deleteWorkItem, { validate, operate: createDeleteWorkItem(deps) }, deps);
