import { withSignal } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { getRow } from '../../lib/dynamodb/row.ts';
import { refuse } from '../../lib/http/errors.ts';
import { type Call, createOperationHandler, type Handler } from '../../lib/http/operation-handler.ts';
import type { RequestOf } from '../../lib/http/operations.ts';
import type { Deps } from '../../lib/shared/deps.ts';
import { getWorkItem } from './operation.ts';
import validate from './validate-get-work-item.ts';

function createGetWorkItem({ table }: Deps) {
  return async function readItem({ body, caller, signal }: Call<RequestOf<typeof getWorkItem>>) {
    const { work_item_id: workItemId } = body;
    const row = await getRow(withSignal(table, signal), keys.workItem(caller.accountId, workItemId));
    if (!row || row.deleted_at_ms !== undefined) throw refuse('workItemNotFound', { workItemId });
    return { data: { work_item_id: row.work_item_id, version: row.version, title: row.title } };
  };
}

export const createGetWorkItemHandler = (deps: Deps): Handler =>
  createOperationHandler(getWorkItem, { validate, operate: createGetWorkItem(deps) }, deps);
