/** The four operations as tools. Their arguments are the requests of openapi.json. */
import { randomUUID } from 'node:crypto';
import openapi from '../../../openapi.json' with { type: 'json' };
import {
  type BrowseFleetRequest,
  type Client,
  type DeleteWorkItemRequest,
  explainStatus,
  type GetRumResourceRequest,
  type MergeAlertsRequest,
} from '../../client/src/index.ts';
import { type Arguments, type InputSchema, type Tool, tool } from './tool.ts';

const schemas: Readonly<Record<string, unknown>> = openapi.components.schemas;

/** A schema without references, `x-` fields and formats, which assistants may not know. */
function resolved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(resolved);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema) return resolved(schemas[String(schema.$ref).split('/').at(-1) ?? '']);
  const standard = Object.entries(schema).filter(([key]) => !key.startsWith('x-') && key !== 'format');
  return Object.fromEntries(standard.map(([key, value]) => [key, resolved(value)]));
}

const requestSchema = (name: keyof typeof openapi.components.schemas) => resolved(schemas[name]) as InputSchema;

const MAX_PREVIEWS = 100;

const mergeSchema = requestSchema('MergeAlertsRequest');
/** The texts of the previewed merges, by the codes that confirm them. */
const previewed = new Map<string, string>();
/** The text of a merge, which does not depend on the order of the fields. */
const textOf = (args: Arguments) => JSON.stringify(Object.keys(mergeSchema.properties).map((field) => args[field]));

function preview(args: Arguments) {
  const { alert_ids, incident_id, title, owner_id, comment } = args as unknown as MergeAlertsRequest;
  const code = randomUUID();
  previewed.set(code, textOf(args));
  for (const oldest of previewed.keys()) if (previewed.size > MAX_PREVIEWS) previewed.delete(oldest);
  return {
    merged: false,
    preview: {
      alerts_to_move: new Set(alert_ids.map((id) => id.toLowerCase())).size,
      into_incident: incident_id,
      ...(title && { new_title: title }),
      ...(owner_id !== undefined && { new_owner: owner_id }),
      ...(comment && { comment }),
    },
    not_checked: 'Whether the alerts and the incident exist, and where the alerts are now: the API cannot read them.',
    next: 'Nothing was merged. Show this to the user. If they agree, call again with the same arguments and this confirm.',
    confirm: code,
  };
}

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
      'Delete a work item (soft: the record is kept). version must be the stored one. Ask the user first: callers cannot undo it.',
    writes: true,
    inputSchema: requestSchema('DeleteWorkItemRequest'),
    async run(args, signal) {
      await client.deleteWorkItem(args as unknown as DeleteWorkItemRequest, { signal });
      return { deleted: true };
    },
  }),
  tool({
    name: 'merge_alerts',
    description:
      'Move alerts into an incident: all or none. The first call merges nothing: it returns a preview and a code. Call again with the same arguments and that code as confirm to merge; repeating that is safe for 24 hours. Callers cannot undo a merge.',
    writes: true,
    inputSchema: {
      ...mergeSchema,
      properties: {
        ...mergeSchema.properties,
        confirm: { type: 'string', description: 'The code of the preview, once the user has agreed' },
      },
    },
    async run({ confirm, ...args }, signal) {
      if (confirm === undefined) return preview(args);
      const code = String(confirm);
      if (previewed.get(code) !== textOf(args))
        throw new Error(
          'Nothing was merged: confirm is not the code of a preview of this merge. Call without confirm.',
        );
      // A repeated call sends the same key, so that nothing is merged twice.
      const request = args as unknown as MergeAlertsRequest;
      return { merged: true, ...(await client.mergeAlerts(request, { signal, idempotencyKey: code })) };
    },
  }),
];
