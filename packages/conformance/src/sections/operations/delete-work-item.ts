import { expect } from 'vitest';
import { readWorkItem } from '../../../../admin/incidents/restore-work-item.ts';
import { data, refused } from '../../answers.ts';
import { DELETE } from '../../api-client.ts';
import { object } from '../../contract.ts';
import { ROUNDED } from '../../data.ts';
import { all, NOT_SPECIFIED, type OperationSection, type Requirements, todo, withData } from '../../requirement.ts';
import { COMMON_ERRORS, MISSING, refuses } from '../common.ts';

// Several checks delete the same work item: a deletion that is repeated succeeds, too.
export const workItem = {
  'Identified by work_item_id, a string': async (api) => {
    await refuses(DELETE, 'work_item_id', [7], { version: 1 })(api);
    refused(await api.remove(MISSING), 'ResourceNotFound', MISSING.work_item_id);
  },
  'Carries an integer version': refuses(DELETE, 'version', ['1', 1.5, null], { work_item_id: 'x' }),
  'A version beyond 2^53 is compared without rounding': withData(async (api, { workItems: { big } }) => {
    refused(await api.remove({ ...big, version: ROUNDED }), 'InvalidParameter');
    data(await api.remove(big));
  }),
  'Deletion is soft: the record is kept, marked deleted': withData(async (api, { workItems: { deleted } }) => {
    data(await api.remove(deleted));
    data(await api.remove(deleted)); // it succeeds, so the record still exists and its version is compared
    refused(await api.remove({ ...deleted, version: deleted.version + 1 }), 'ResourceNotFound');
  }),
  'Other fields of the work item': todo(NOT_SPECIFIED),
} satisfies Requirements;

export const deleteWorkItem = {
  'POST /incident/work-item/delete soft-deletes a work item':
    workItem['Deletion is soft: the record is kept, marked deleted'],
  'The record stays in the table, marked as deleted': async (api) => {
    const { table, account } = api.need('tableAccess');
    const { deleted } = api.need('dataSet').workItems;
    data(await api.remove(deleted));
    const row = await readWorkItem(table, account, deleted.work_item_id);
    expect(row).toMatchObject({ title: 'Certificate', version: deleted.version + 1 });
    expect(Number(row?.deleted_at_ms)).toBeGreaterThan(0);
  },
  'Both fields are sent': all(
    refuses(DELETE, 'work_item_id', [undefined], { version: 1 }),
    refuses(DELETE, 'version', [undefined], { work_item_id: 'x' }),
  ),
  'version is that of the work item: with another one nothing is deleted': withData(async (api, { workItems }) => {
    const { versioned } = workItems;
    for (const version of [versioned.version - 1, versioned.version + 1])
      refused(await api.remove({ ...versioned, version }), 'InvalidParameter');
    data(await api.remove(versioned));
  }),
  'data is an empty object': withData(async (api, { workItems }) =>
    expect(data(await api.remove(workItems.deleted))).toStrictEqual({}),
  ),
  'Bounds of work_item_id, and how version is checked': todo(NOT_SPECIFIED),
  '400 InvalidParameter': refuses(DELETE, 'work_item_id', [undefined]),
  ...COMMON_ERRORS,
} satisfies Requirements;

export const section: OperationSection = {
  heading: '4.3 Delete a work item',
  path: DELETE,
  data: object({}),
  requirements: deleteWorkItem,
};
