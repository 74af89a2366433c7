/**
 * The operations: path, permission, limits, grants, schemas and documentation of each. Handlers, stack, local gateway, API reference and
 * tests read them. Each has its own export, so that a function's bundle contains only its own.
 */
import { objectId } from '../shared/schema.ts';
import type { Operation } from './operation.ts';
import { fleetPage, fleetStatus, rumResource } from './resources.ts';

export { FLEET_STATUSES } from './resources.ts';

const captureMode = { title: 'CaptureMode', type: 'string', enum: ['ebpf', 'polling', 'unknown'] } as const;

const THROTTLE = { rate: 50, burst: 100 } as const;
/** Lower, since all merges of an account write one row, its merge order. */
const MERGE_THROTTLE = { rate: 20, burst: 40 } as const;

export const browseFleet = {
  name: 'browse-fleet',
  method: 'POST',
  path: '/monit/servicemap/fleet',
  summary: 'List the hosts of the account with the state of their network-topology collection',
  description:
    'Requires the permission Targets Read (`monit`).\n\n' +
    'One page of hosts in ascending order of `host_id`, each with its status at `generated_at_ms`. All filters given must match; ' +
    'an empty one matches every host. A page ends when it is full, when `scan_limit` hosts were examined, or with the last host; ' +
    '`next_cursor` is present as long as hosts are left. If live status cannot be read, hosts are shown from the inventory, ' +
    '`coverage.failed` counts them, and `partial` is true.\n\n' +
    'A call counts against the limits of 2 a second and 30 a minute once it has passed all other checks. Responses to counted calls ' +
    '(200, and 500 or 503 of the operation itself) and the 429 of these limits have the rate-limit headers. No other response has them: ' +
    'the 429 of the usage plan (50 calls a second for each account and operation) has `Retry-After` alone.',
  tag: 'Monitoring',
  permission: 'monit',
  rateWindows: [
    { name: 'second', limit: 2, seconds: 1 },
    { name: 'minute', limit: 30, seconds: 60 },
  ],
  throttle: THROTTLE,
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'rate'] },
    { actions: ['UpdateItem'], on: ['rate'] },
    { actions: ['Query'], on: ['hosts', 'hostStatuses'] },
    { actions: ['BatchGetItem'], on: ['hostStatuses'] },
  ],
  request: {
    title: 'BrowseFleetRequest',
    type: 'object',
    properties: {
      cursor: {
        type: 'string',
        description:
          'The next_cursor of the previous page, unchanged; absent or empty for the first page. Never construct one',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 50,
        description: 'Maximum number of matching hosts in the page',
      },
      scan_limit: {
        type: 'integer',
        minimum: 1,
        maximum: 2000,
        default: 1000,
        description: 'Maximum number of hosts examined to fill the page: at least limit, at most 2000',
      },
      statuses: {
        type: 'array',
        maxItems: 20,
        items: fleetStatus,
        description: 'Hosts in any of these statuses; all when absent or empty',
      },
      agent_versions: {
        type: 'array',
        maxItems: 20,
        items: { type: 'string' },
        description: 'Hosts with any of these agent versions, compared exactly; all when absent or empty',
      },
      edge_clusters: {
        type: 'array',
        maxItems: 20,
        items: { type: 'string' },
        description: 'Hosts in any of these edge clusters, compared exactly; all when absent or empty',
      },
      capture_modes: {
        type: 'array',
        maxItems: 3,
        items: captureMode,
        description: 'Hosts with any of these capture modes; unknown matches hosts that have not reported one',
      },
    },
  },
  response: fleetPage,
  example: { request: { limit: 1, statuses: ['stale', 'degraded'] } },
  refusals: [
    {
      summary: 'The account lacks the permission Targets Read',
      explanation: { name: 'permissionMissing', values: { permission: 'monit' } },
    },
    {
      summary: 'The third call in a second',
      explanation: { name: 'tooFrequent', values: { limit: 2, windowSeconds: 1 } },
    },
  ],
} as const satisfies Operation;

export const getRumResource = {
  name: 'get-rum-resource',
  method: 'POST',
  path: '/rum/resource/info',
  summary: "Read the account's RUM plan, quotas and usage",
  description:
    'The record may be as old as the header `Age` says, unless `no_cache` is true; usage is read on every call.',
  tag: 'RUM',
  throttle: THROTTLE,
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'rum'] },
    { actions: ['Query'], on: ['rum'] },
  ],
  request: {
    title: 'GetRumResourceRequest',
    type: 'object',
    properties: {
      no_cache: {
        type: 'boolean',
        default: false,
        description:
          'Bypass the short-lived cache and read the record (plan, quotas, status) from its source; does not refresh the usage counts, which are read on every call',
      },
    },
  },
  response: rumResource,
  headers: ['Age'],
  example: { request: {} },
  refusals: [
    {
      summary: 'The account has no RUM resource',
      explanation: { name: 'rumResourceNotFound', values: undefined },
    },
  ],
} as const satisfies Operation;

export const deleteWorkItem = {
  name: 'delete-work-item',
  method: 'POST',
  path: '/incident/work-item/delete',
  summary: 'Soft-delete a work item',
  description:
    '`version` must be the stored version; the deletion adds 1 to it. Repeating the call with the same version succeeds and does nothing.',
  tag: 'Incidents',
  throttle: THROTTLE,
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'workItems'] },
    { actions: ['UpdateItem'], on: ['workItems'] },
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
      explanation: { name: 'workItemTooLarge', values: { workItemId: 'wi-large' } },
    },
    {
      summary: 'The work item wi-none does not exist',
      explanation: { name: 'workItemNotFound', values: { workItemId: 'wi-none' } },
    },
  ],
} as const satisfies Operation;

export const mergeAlerts = {
  name: 'merge-alerts',
  method: 'POST',
  path: '/alert/merge',
  summary: 'Merge alerts into an incident',
  description:
    "All of the alerts are moved or none, however many. The incident's feed gets one entry that lists where each came from. With an " +
    '`Idempotency-Key` a merge can be repeated for 24 hours without being done twice. After a 503 or a lost response the merge may have been done: ' +
    'repeat it with the same key to find out. `BadRequest`: an alert or the incident has too much stored data (400 KB) to be changed.',
  tag: 'Incidents',
  throttle: MERGE_THROTTLE,
  grants: [
    { actions: ['BatchGetItem'], on: ['alerts', 'incidents', 'members', 'merges', 'idempotency'] },
    { actions: ['GetItem'], on: ['appKey', 'feed', 'merges', 'rate'] },
    { actions: ['Query'], on: ['log'] },
    { actions: ['PutItem'], on: ['feed', 'log', 'idempotency'] },
    { actions: ['UpdateItem'], on: ['merges', 'feed', 'incidents', 'alerts', 'rate'] },
    { actions: ['ConditionCheckItem'], on: ['members'] },
  ],
  idempotent: true,
  writes: true,
  request: {
    title: 'MergeAlertsRequest',
    type: 'object',
    required: ['alert_ids', 'incident_id'],
    properties: {
      alert_ids: {
        type: 'array',
        minItems: 1,
        items: objectId,
        description:
          'Alerts of the account, obtained from POST /alert/list: ObjectIDs in either letter case; repeated ids count once',
      },
      incident_id: {
        ...objectId,
        description:
          'The incident that takes the alerts, obtained from POST /incident/list: an ObjectID in either letter case',
      },
      comment: {
        type: 'string',
        maxLength: 1024,
        description: 'Recorded on the feed entry of the merge: at most 1024 characters; empty counts as absent',
      },
      title: {
        type: 'string',
        maxLength: 512,
        description: 'New title of the incident: at most 512 characters; empty counts as absent',
      },
      owner_id: {
        type: 'integer',
        format: 'int64',
        description: 'Member id of the new owner of the incident, obtained from POST /member/list',
      },
    },
  },
  response: { type: 'null' },
  example: {
    request: {
      alert_ids: ['23a5a8cc741f9d42df78f93f', 'd3afd55730b974e815f545aa'],
      incident_id: '40637f096ece1da9c808ecde',
      comment: 'same cause',
    },
    data: null,
  },
  refusals: [
    {
      summary: 'An alert has too much stored data',
      explanation: { name: 'alertsTooLarge', values: { named: ['5f0c2a9d1b7e4c3f8a6d9e01'], more: 0 } },
    },
    {
      summary: 'An alert does not exist',
      explanation: {
        name: 'mergeTargetsNotFound',
        values: { named: [{ kind: 'alert', id: 'ffffffffffffffffffffffff' }], more: 0, unread: 0 },
      },
    },
  ],
} as const satisfies Operation;

export const operations = [browseFleet, getRumResource, deleteWorkItem, mergeAlerts] as const satisfies Operation[];

export type OperationName = (typeof operations)[number]['name'];
/** An element of {@link operations}: its name is an {@link OperationName}. */
export type ListedOperation = Operation & { readonly name: OperationName };

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;
/** The name of an operation in code and in openapi.json: `browseFleet` for `browse-fleet`. */
export type OperationId<Name extends string = OperationName> = CamelCase<Name>;

export const operationIdOf = <Name extends string>(name: Name): OperationId<Name> =>
  name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase()) as OperationId<Name>;

/** The route of openapi.json, which needs no app key. */
export const openApiRoute = { method: 'GET', path: '/openapi.json' } as const;

/** The method of each path that is served. A function, so that a bundle that does not call it lacks the list. */
export const allowedMethods = (): Readonly<Record<string, string>> =>
  Object.fromEntries([...operations, openApiRoute].map(({ method, path }) => [path, method]));
