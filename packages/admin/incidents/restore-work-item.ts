import type { WorkItemRow } from '../../../lib/model/work-item.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { expression } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { getRow } from '../../../lib/table/read.ts';
import { type Action, transact, updateAction } from '../../../lib/table/write.ts';

/** A work item as stored; undefined if there is none. */
export const readWorkItem = (table: Table, account: Int64, workItemId: string) =>
  getRow(table, keys.workItem(account, workItemId));

/**
 * Undoes the deletion of a work item. The version is raised, so that a caller who still retries the deletion does not
 * delete the item again; the item records which deletion was undone, so that such a retry is recognized.
 * @param deleted the deleted item as it was read, at a version below `MAX_DELETABLE_VERSION`, so that it can be
 *   deleted again
 * @param extraActions written in the same transaction
 * @returns false if it has changed since it was read
 */
export async function restoreWorkItem(
  table: Table,
  account: Int64,
  deleted: WorkItemRow,
  extraActions: readonly Action[] = [],
): Promise<boolean> {
  const { work_item_id: id, version, deleted_at_ms: at_ms, deleted_by: by } = deleted;
  const restored = updateAction(
    keys.workItem(account, id),
    expression`SET #version = #version + ${1}, undone_deletion = ${{ version, at_ms, by }} REMOVE deleted_at_ms, deleted_by, deleted_request_id`,
    expression`#version = ${version} AND deleted_at_ms = ${at_ms}`,
  );
  return (await transact(table, [restored, ...extraActions])) === undefined;
}
