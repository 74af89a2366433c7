import { readWorkItem } from '../../../admin/incidents/restore-work-item.ts';
import { data, equal, holds, invalid, refused } from '../expect.ts';
import { NOT_SHOWN, open, section, shown, shownOnData } from '../sentence.ts';

export const deleteWorkItem = section('4.3', 'Delete a work item', [
  shownOnData('POST /incident/work-item/delete soft-deletes a work item', async (t, { workItems: { deleted } }) => {
    data(await t.remove(deleted));
    refused(await t.remove({ ...deleted, version: deleted.version + 1 }), 'ResourceNotFound');
  }),
  shown('The record stays in the table, marked', async (t) => {
    const { table, account } = t.need('stored');
    const { deleted } = t.need('entities').workItems;
    data(await t.remove(deleted));
    const row = await readWorkItem(table, account, deleted.work_item_id);
    equal([row?.title, row?.version], ['Certificate', deleted.version + 1], 'title and version of the row');
    holds(Number(row?.deleted_at_ms) > 0, 'deleted_at_ms', row?.deleted_at_ms);
  }),
  shown('Both fields are sent', async (t) => {
    invalid(await t.remove({ version: 1 }), 'work_item_id');
    invalid(await t.remove({ work_item_id: 'x' }), 'version');
  }),
  shown('version is that of the work item: with another one nothing is deleted', async (t) => {
    const { versioned } = t.need('entities').workItems;
    for (const version of [versioned.version - 1, versioned.version + 1])
      refused(await t.remove({ ...versioned, version }), 'InvalidParameter');
    data(await t.remove(versioned));
  }),
  shown('data is an empty object', async (t) => {
    equal(data(await t.remove(t.need('entities').workItems.deleted)), {}, 'data');
  }),
  open('Bounds of work_item_id, and how version is checked', NOT_SHOWN),
  shown('400 InvalidParameter', async (t) => invalid(await t.remove({}), 'work_item_id')),
  shown('401 Unauthorized', async (t) => refused(await t.remove({}, { as: null }), 'Unauthorized')),
  open('429 RequestTooFrequently', 'shown in section 8'),
  open('500 InternalError', 'a bug of the service, which no call can cause'),
]);
