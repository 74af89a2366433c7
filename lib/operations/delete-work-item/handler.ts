import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import { type ApiError, refusal } from '../../http/errors.ts';
import type { Call, Handler, RequestOf } from '../../http/operation.ts';
import type { WorkItemRow } from '../../model/work-item.ts';
import { type Int64, isInt64 } from '../../shared/json.ts';
import { withSignal } from '../../table/client.ts';
import { expression } from '../../table/expression.ts';
import { keys } from '../../table/keys.ts';
import { getRow } from '../../table/read.ts';
import { isRowTooLarge, RETURN_STORED, settle, updateRow } from '../../table/write.ts';
import { deleteWorkItem } from './schema.ts';
import validate from './validate-delete-work-item.ts';

/** Marks a work item as deleted, on condition that its version is the caller's. */
export function createHandler(deps: Deps): Handler {
  async function operate({ body, caller, requestId, signal }: Call<RequestOf<typeof deleteWorkItem>>) {
    const { work_item_id: workItemId, version } = body;
    const deletion = { atMs: deps.now(), by: caller.appKeyId, version };
    const key = keys.workItem(caller.accountId, workItemId);
    const { done, row } = await settle(withSignal(deps.table, signal), {
      send: (table) =>
        updateRow(
          table,
          key,
          expression`SET deleted_at_ms = ${deletion.atMs}, deleted_by = ${deletion.by}, deleted_request_id = ${requestId}, #version = #version + ${1}`,
          expression`#version = ${version} AND attribute_not_exists(deleted_at_ms)`,
          RETURN_STORED,
        ),
      async verify(table) {
        const row = await getRow(table, key);
        return isDone(row, deletion) ? { done: true, row } : undefined;
      },
    }).catch((error: unknown) => {
      // Other systems write the row, too.
      throw isRowTooLarge(error) ? refusal('workItemTooLarge', { workItemId }) : error;
    });
    if (!done && !isDone(row, deletion)) throw refusalOf(row, workItemId, version);
    return { data: {} };
  }
  return createOperationHandler(deleteWorkItem, { validate, operate }, deps);
}

/** What the row records of a deletion. */
interface Deletion {
  atMs: number;
  by: string;
  /** The item's version before the deletion. */
  version: Int64;
}

/**
 * Whether the item is deleted and had this version before, as after an earlier call with the same body, or this call's own write deleted it
 * and an operator has restored it since.
 */
function isDone(stored: WorkItemRow | undefined, { atMs, by, version }: Deletion): boolean {
  const isNext = (candidate: Int64) => BigInt(candidate) === BigInt(version) + 1n;
  if (stored?.deleted_at_ms !== undefined && isNext(stored.version)) return true;
  const undone = stored?.undone_deletion;
  return isInt64(undone?.version) && isNext(undone.version) && undone.at_ms === atMs && undone.by === by;
}

function refusalOf(stored: WorkItemRow | undefined, workItemId: string, version: Int64): ApiError {
  if (!stored || stored.deleted_at_ms !== undefined) return refusal('workItemNotFound', { workItemId });
  return refusal('versionDiffers', { given: String(version), stored: String(stored.version) });
}
