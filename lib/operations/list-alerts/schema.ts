import type { Operation } from '../../http/operation.ts';
import { alert, SEVERITIES } from '../../model/alert.ts';
import { flag, objectId } from '../../shared/json.ts';
import { alertItem, exampleAlert } from '../alert-schema.ts';

export const listAlerts = {
  name: 'list-alerts',
  method: 'POST',
  path: '/alert/list',
  summary: 'List open alerts',
  description:
    'Open alerts, the latest start first; or, open or not, those of `alert_ids` and the last alert of each of `alert_keys`. ' +
    'Only alerts that were sent with an `alert_key` are open or ended. The list may be two seconds behind, and the incident of an alert ' +
    'as long as a large merge takes to move its alerts. A page has at most 4 MB.',
  tag: 'Incidents',
  grants: [
    { actions: ['GetItem'], on: ['appKey'] },
    { actions: ['Query'], on: ['alertIndex'] },
    { actions: ['BatchGetItem'], on: ['alert', 'alertKey', 'incident'] },
  ],
  request: {
    title: 'AlertListRequest',
    type: 'object',
    properties: {
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Maximum number of alerts in the page',
      },
      search_after_ctx: {
        type: 'string',
        description:
          'The search_after_ctx of the previous page, unchanged, with the same filters; absent or empty for the first page. Never construct one',
      },
      asc: { ...flag, default: false, description: 'true: the earliest start first' },
      is_active: {
        ...flag,
        description:
          'true: only open alerts. false: only others, which alert_ids or alert_keys must name. Absent: open ones, or all that are named',
      },
      alert_severity: {
        type: 'string',
        description: `Alerts of these severities, with commas between them: ${SEVERITIES.join(', ')}. Absent or empty: all`,
      },
      alert_ids: { type: 'array', maxItems: 100, items: objectId, description: 'Alerts with any of these ids' },
      alert_keys: {
        type: 'array',
        maxItems: 100,
        items: alert.fields.alert_key.schema,
        description: 'The last alert of each of these keys',
      },
    },
  },
  response: {
    title: 'AlertList',
    type: 'object',
    required: ['items', 'has_next_page'],
    properties: {
      items: { type: 'array', items: alertItem, description: 'The alerts of the page' },
      has_next_page: { ...flag, description: 'Whether alerts may follow' },
      search_after_ctx: { type: 'string', description: 'For the next page; absent if none follows' },
    },
    additionalProperties: false,
  },
  example: {
    request: { alert_keys: [exampleAlert.alert_key] },
    data: { items: [exampleAlert], has_next_page: false },
  },
  refusals: [
    {
      summary: 'Ended alerts without ids or keys',
      explanation: { name: 'endedAlertsUnnamed', values: undefined },
    },
    {
      summary: 'An unknown severity',
      explanation: {
        name: 'invalidFields',
        values: { fieldErrors: [{ field: 'alert_severity', schema: { type: 'string', enum: SEVERITIES } }] },
      },
    },
    {
      summary: 'The cursor is of another account or of other filters',
      explanation: {
        name: 'invalidFields',
        values: { fieldErrors: [{ field: 'search_after_ctx', schema: { type: 'string', format: 'filtered-cursor' } }] },
      },
    },
  ],
} as const satisfies Operation;
