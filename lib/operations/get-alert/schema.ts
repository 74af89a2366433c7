import type { Operation } from '../../http/operation.ts';
import { objectId } from '../../shared/json.ts';
import { alertItem, exampleAlert } from '../alert-schema.ts';

export const getAlert = {
  name: 'get-alert',
  method: 'POST',
  path: '/alert/info',
  summary: 'Read an alert by its id',
  description: 'The alert, open or not. Its incident is behind while a large merge moves its alerts.',
  tag: 'Incidents',
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'alert'] },
    { actions: ['BatchGetItem'], on: ['incident'] },
  ],
  request: {
    title: 'AlertInfoRequest',
    type: 'object',
    required: ['alert_id'],
    properties: { alert_id: { ...objectId, description: 'Identifier of the alert' } },
  },
  response: alertItem,
  example: { request: { alert_id: exampleAlert.alert_id }, data: exampleAlert },
  refusals: [{ summary: 'There is no such alert', name: 'alertNotFound', values: { alertId: exampleAlert.alert_id } }],
} as const satisfies Operation;
