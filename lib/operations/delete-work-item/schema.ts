import type { Operation } from '../../http/operation.ts';

export const deleteWorkItem = {
  name: 'delete-work-item',
  method: 'POST',
  path: '/incident/work-item/delete',
  summary: 'Soft-delete a work item',
  description:
    '`version` must be the stored version; the deletion adds 1 to it. Repeating the call with the same version succeeds and does nothing.',
  tag: 'Incidents',
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'workItem'] },
    { actions: ['UpdateItem'], on: ['workItem'] },
  ],
  writes: true,
  request: {
    title: 'DeleteWorkItemRequest',
    type: 'object',
    required: ['work_item_id', 'version'],
    properties: {
      work_item_id: {
        type: 'string',
        minLength: 1,
        maxLength: 128,
        description: 'The work item to delete: 1 to 128 characters',
      },
      version: {
        type: 'integer',
        format: 'int64',
        minimum: 1,
        'x-maximum': '9223372036854775806',
        description: 'The version that you last read, which must be the stored one; from 1 to 9223372036854775806',
      },
    },
  },
  response: {
    title: 'DeleteWorkItemResult',
    type: 'object',
    description: 'Empty',
    properties: {},
    additionalProperties: false,
  },
  example: { request: { work_item_id: 'wi-1001', version: 1 }, data: {} },
  refusals: [
    {
      summary: 'The work item wi-large has too much stored data',
      name: 'workItemTooLarge',
      values: { workItemId: 'wi-large' },
    },
    { summary: 'The work item wi-none does not exist', name: 'workItemNotFound', values: { workItemId: 'wi-none' } },
    { summary: 'Somebody has changed the work item', name: 'versionDiffers', values: { given: '1', stored: '2' } },
  ],
} as const satisfies Operation;
