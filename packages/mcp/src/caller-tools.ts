/** The operations that agents call, as tools. Their arguments are the requests of openapi.json. The feed is for machines. */
import openapi from '../../../openapi.json' with { type: 'json' };
import {
  type BrowseFleetRequest,
  type Client,
  type DeleteWorkItemRequest,
  explainStatus,
  type GetRumResourceRequest,
  type MergeAlertsRequest,
} from '../../client/src/index.ts';
import { type InputSchema, int64, type Tool, tool } from './tool.ts';

const schemas: Readonly<Record<string, unknown>> = openapi.components.schemas;

/** A schema without references, `x-` fields and formats, which assistants may not know. */
function resolved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(resolved);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema) return resolved(schemas[String(schema.$ref).split('/').at(-1) ?? '']);
  const standard = Object.entries(schema).filter(([key]) => !key.startsWith('x-') && key !== 'format');
  const members = Object.fromEntries(standard.map(([key, value]) => [key, resolved(value)]));
  return 'format' in schema && schema.format === 'int64' ? int64(members) : members;
}

const requestSchema = (name: keyof typeof openapi.components.schemas) => resolved(schemas[name]) as InputSchema;

/** What a merge would do, for a person to agree to. */
function mergeQuestion({ alert_ids, incident_id, title, owner_id, comment }: MergeAlertsRequest): string[] {
  const ids = [...new Set(alert_ids.map((id) => id.toLowerCase()))];
  const more = ids.length - SHOWN_ALERTS;
  return [
    `Merge ${ids.length} ${ids.length === 1 ? 'alert' : 'alerts'} into incident ${incident_id}? The account cannot undo it.`,
    ...(title ? [`New title: ${title}`] : []),
    ...(owner_id === undefined ? [] : [`New owner: member ${owner_id}`]),
    ...(comment ? [`Comment: ${comment}`] : []),
    `Alerts: ${ids.slice(0, SHOWN_ALERTS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  ];
}
const SHOWN_ALERTS = 20;

export const callerTools = (client: Client): Tool[] => [
  tool({
    name: 'browse_fleet',
    description:
      "List the account's hosts in order of host_id, each with the status of its network-topology collection and the reasons for that status. One page of up to 100 hosts: pass next_cursor as cursor for the next. All filters given must match. coverage counts this page only, not the fleet. Limits: 2 calls a second and 30 a minute.",
    inputSchema: requestSchema('BrowseFleetRequest'),
    async run(args, signal) {
      const { items, ...page } = await client.browseFleet(args as BrowseFleetRequest, { signal });
      return { items: items.map((host) => ({ ...host, why: explainStatus(host) })), ...page };
    },
  }),
  tool({
    name: 'get_rum_resource',
    description:
      "Read the account's RUM (real user monitoring) plan: version, status, days of retention, session quotas and sessions used in the current window. Times are Unix seconds.",
    inputSchema: requestSchema('GetRumResourceRequest'),
    run: (args, signal) => client.getRumResource(args as GetRumResourceRequest, { signal }),
  }),
  tool({
    name: 'delete_work_item',
    description:
      'Delete a work item (soft: the record is kept). version must be the stored one, as the user knows it. Callers cannot undo it.',
    inputSchema: requestSchema('DeleteWorkItemRequest'),
    question: ({ work_item_id, version }) => [
      `Delete work item ${work_item_id} at version ${version}? The account cannot undo it.`,
    ],
    async run(args, signal) {
      await client.deleteWorkItem(args as unknown as DeleteWorkItemRequest, { signal });
      return { deleted: true };
    },
  }),
  tool({
    name: 'merge_alerts',
    description: 'Move alerts into an incident: all or none. Callers cannot undo a merge.',
    inputSchema: requestSchema('MergeAlertsRequest'),
    question: (args) => mergeQuestion(args as unknown as MergeAlertsRequest),
    run: (args, signal) => client.mergeAlerts(args as unknown as MergeAlertsRequest, { signal }),
  }),
];
