import type { Operation } from '../../http/operation.ts';
import { answersOf } from '../../model/fields.ts';
import { member } from '../../model/member.ts';
import { int64Field } from '../../shared/json.ts';
import { CURSOR_REFUSAL, LIST_THROTTLE, PAGE_NUMBER, pageFields, pageOf, queryField } from '../list-schema.ts';

const memberItem = {
  title: 'MemberItem',
  type: 'object',
  required: ['account_id', 'member_id', 'member_name'],
  properties: {
    account_id: int64Field('The account that the member belongs to'),
    ...answersOf(member.fields),
    updated_at: int64Field('Time of its last record: Unix time in seconds'),
  },
  additionalProperties: false,
} as const;

export const listMembers = {
  name: 'list-members',
  method: 'POST',
  path: '/member/list',
  summary: 'List members, such as to name the owner of an incident',
  description:
    'Members in the order of the decimal text of `member_id`. A call examines at most 1,000 members or 400 KB, so a page may have fewer than ' +
    '`limit`, or none, although more follow: go by `has_next_page`. The list may be a second behind.',
  tag: 'Incidents',
  throttle: LIST_THROTTLE,
  grants: [
    { actions: ['GetItem'], on: ['appKey'] },
    { actions: ['Query'], on: ['member'] },
  ],
  request: {
    title: 'MemberListRequest',
    type: 'object',
    properties: { ...pageFields('members'), query: queryField('name') },
  },
  unsupported: { ...PAGE_NUMBER, role_id: { harmless: [0] }, orderby: {}, asc: { harmless: [true] } },
  response: pageOf('MemberList', memberItem, 'members'),
  example: {
    request: { query: 'mei' },
    data: {
      items: [{ account_id: 1, member_id: 103, member_name: 'Mei Tanaka', updated_at: 1768206600 }],
      has_next_page: false,
    },
  },
  refusals: [CURSOR_REFUSAL],
} as const satisfies Operation;
