import { fieldRefusal, type Operation } from '../../http/operation.ts';
import { alert, SEVERITIES } from '../../model/alert.ts';
import { flag, objectId } from '../../shared/json.ts';
import { alertItem, exampleAlert } from '../alert-schema.ts';
import {
  CURSOR_REFUSAL,
  LIST_THROTTLE,
  PAGE_NUMBER,
  pageFields,
  pageOf,
  SPAN_REFUSALS,
  spanFields,
  TRUE_ONLY_IF_SUPPORTED,
} from '../list-schema.ts';

/** Maximum alert ids and keys of a request, together. */
export const MAX_NAMED = 100;
/** Maximum days between the times of a request. */
export const MAX_DAYS = 31;

export const listAlerts = {
  name: 'list-alerts',
  method: 'POST',
  path: '/alert/list',
  summary: 'List alerts, open or by their start',
  description:
    'Alerts, the latest start first: without other fields the open ones; with `start_time` and `end_time` those that started between them, open or ended; or ' +
    'those of `alert_ids` and the last alert of each of `alert_keys`. Only alerts that were sent with an `alert_key` are open or ended. ' +
    'The list may be two seconds behind, and the incident of an alert as long as a large merge takes to move its alerts. ' +
    'A page has at most 4 MB. It may have fewer than `limit`, or none, although more follow: go by `has_next_page`.',
  tag: 'Incidents',
  throttle: LIST_THROTTLE,
  grants: [
    { actions: ['GetItem'], on: ['appKey'] },
    { actions: ['Query'], on: ['alertIndex'] },
    { actions: ['BatchGetItem'], on: ['alert', 'alertKey', 'incident'] },
  ],
  request: {
    title: 'AlertListRequest',
    type: 'object',
    properties: {
      ...pageFields('alerts'),
      asc: { ...flag, default: false, description: 'true: the earliest start first' },
      is_active: {
        ...flag,
        description:
          'true: only open alerts. false: only others, with times, alert_ids or alert_keys. Absent: without these open ones, else both',
      },
      ...spanFields('Started', `after start_time, by at most ${MAX_DAYS} days. Not with alert_ids or alert_keys`),
      alert_severity: {
        type: 'string',
        description: `Alerts of these severities, with commas between them: ${SEVERITIES.join(', ')}. Absent or empty: all`,
      },
      alert_ids: { type: 'array', maxItems: MAX_NAMED, items: objectId, description: 'Alerts with any of these ids' },
      alert_keys: {
        type: 'array',
        maxItems: MAX_NAMED,
        items: alert.fields.alert_key.schema,
        description: 'The last alert of each of these keys; with alert_ids at most 100 together',
      },
    },
  },
  unsupported: {
    ...PAGE_NUMBER,
    ...{ channel_ids: {}, integration_ids: {}, orderby: {} },
    ever_muted: TRUE_ONLY_IF_SUPPORTED,
    by_updated_at: TRUE_ONLY_IF_SUPPORTED,
  },
  response: pageOf('AlertList', alertItem, 'alerts'),
  example: {
    request: { alert_keys: [exampleAlert.alert_key] },
    data: { items: [exampleAlert], has_next_page: false },
  },
  refusals: [
    { summary: 'Ended alerts without times, ids or keys', name: 'endedAlertsUnnamed' },
    { summary: 'Times with ids or keys', name: 'namedAlertsWithTimes' },
    {
      summary: 'More than 100 ids and keys',
      name: 'tooManyNamed',
      values: { fields: ['alert_ids', 'alert_keys'], given: 101, maximum: MAX_NAMED },
    },
    fieldRefusal('An unknown severity', { field: 'alert_severity', schema: { type: 'string', enum: SEVERITIES } }),
    ...SPAN_REFUSALS,
    CURSOR_REFUSAL,
  ],
} as const satisfies Operation;
