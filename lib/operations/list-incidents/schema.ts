import type { Operation } from '../../http/operation.ts';
import { answersOf } from '../../model/fields.ts';
import { incident } from '../../model/incident.ts';
import { member } from '../../model/member.ts';
import { flag, int64Field, objectId } from '../../shared/json.ts';
import {
  CURSOR_REFUSAL,
  LIST_THROTTLE,
  PAGE_NUMBER,
  pageFields,
  pageOf,
  queryField,
  SPAN_REFUSALS,
  spanFields,
  TRUE_ONLY_IF_SUPPORTED,
} from '../list-schema.ts';

const incidentItem = {
  title: 'IncidentInfo',
  type: 'object',
  required: ['incident_id', 'account_id', 'title', 'owner_id'],
  properties: {
    account_id: int64Field('The account that the incident belongs to'),
    ...answersOf(incident.fields),
    owner: {
      title: 'IncidentOwner',
      type: 'object',
      description: 'Absent if there is no such member',
      required: ['member_id', 'member_name'],
      properties: answersOf(member.fields),
      additionalProperties: false,
    },
    updated_at: int64Field('When its title or owner was last changed: Unix time in seconds'),
  },
  additionalProperties: false,
} as const;

export const listIncidents = {
  name: 'list-incidents',
  method: 'POST',
  path: '/incident/list',
  summary: 'List incidents, such as to merge alerts into one',
  description:
    'Incidents, the highest id first: the latest, if ids are made as ObjectIDs. A call examines at most 1,000 incidents or 400 KB, so a page may have ' +
    'fewer than `limit`, or none, although more follow: go by `has_next_page`. The list may be a second behind.',
  tag: 'Incidents',
  throttle: LIST_THROTTLE,
  grants: [
    { actions: ['GetItem'], on: ['appKey'] },
    { actions: ['Query'], on: ['incident'] },
    { actions: ['BatchGetItem'], on: ['incident', 'member'] },
  ],
  request: {
    title: 'ListIncidentsRequest',
    type: 'object',
    properties: {
      ...pageFields('incidents'),
      asc: { ...flag, default: false, description: 'true: the lowest id first' },
      incident_ids: { type: 'array', maxItems: 100, items: objectId, description: 'Incidents with any of these ids' },
      query: queryField('title'),
      ...spanFields('Created', 'after start_time'),
    },
  },
  unsupported: {
    ...PAGE_NUMBER,
    ...{ progress: {}, incident_severity: {}, channel_ids: {}, team_ids: {}, responder_ids: {}, acker_ids: {} },
    ...{ creator_ids: {}, closer_ids: {}, nums: {} },
    is_snoozed: TRUE_ONLY_IF_SUPPORTED,
    is_my_team: TRUE_ONLY_IF_SUPPORTED,
    is_my_channel: TRUE_ONLY_IF_SUPPORTED,
    ever_muted: TRUE_ONLY_IF_SUPPORTED,
    is_rare: TRUE_ONLY_IF_SUPPORTED,
  },
  response: pageOf('IncidentList', incidentItem, 'incidents'),
  example: {
    request: { query: 'checkout' },
    data: {
      items: [
        {
          account_id: 1,
          incident_id: '696648d86ece1da9c808ecde',
          title: 'Checkout latency above 2 s in eu-central',
          owner_id: 101,
          created_at: 1768311000,
          owner: { member_id: 101, member_name: 'Ada Okafor' },
          updated_at: 1768311000,
        },
      ],
      has_next_page: false,
    },
  },
  refusals: [...SPAN_REFUSALS, CURSOR_REFUSAL],
} as const satisfies Operation;
