import type { Operation } from '../../lib/http/operations.ts';

export const getWorkItem = {
  name: 'get-work-item',
  method: 'POST',
  path: '/incident/work-item/info',
  summary: 'Read a work item',
  description: 'The work item as it is now.',
  tag: 'Incidents',
  throttle: { rate: 50, burst: 100 },
  grants: [{ actions: ['GetItem'], on: ['appKey', 'workItems'] }],
  request: {
    title: 'GetWorkItemRequest',
    type: 'object',
    required: ['work_item_id'],
    properties: { work_item_id: { type: 'string', minLength: 1, maxLength: 128, description: 'The work item' } },
  },
  response: {
    title: 'WorkItem',
    type: 'object',
    required: ['work_item_id', 'version', 'title'],
    properties: {
      work_item_id: { type: 'string', description: 'Names it' },
      version: { type: 'integer', format: 'int64', description: 'Its version' },
      title: { type: 'string', description: 'Its title' },
    },
  },
  // A work item of the sample data, which no example deletes.
  example: {
    request: { work_item_id: 'wi-1002' },
    data: { work_item_id: 'wi-1002', version: 2, title: 'Roll back to 4.10.7' },
  },
  refusals: [
    {
      summary: 'The work item does not exist',
      explanation: { name: 'workItemNotFound', values: { workItemId: 'wi-none' } },
    },
  ],
} as const satisfies Operation;
