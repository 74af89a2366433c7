/** A sender in strict TypeScript, with the types that openapi-typescript makes of openapi.json. */
import type { components, paths } from './openapi.js';

type Body = components['schemas']['SendRecordsRequest'];
type Result = components['schemas']['FeedResult'];

/** A record of each kind that is sent often, all fields of an alert, and a field of its sender in a work item. */
const records: Body['records'] = [
  {
    kind: 'alert',
    alert_key: 'disk db-7',
    alert_status: 'Critical',
    title: 'Disk 7 is full',
    at_ms: Date.now(),
    ...{ description: '98 % used', labels: { host: 'db-7' }, source_url: 'https://grafana.example.com/d/7' },
    started_at_ms: Date.now() - 1_000,
    incident_at_ms: Date.now(),
  },
  { kind: 'host', host_id: 'h', agent_version: '1', edge_cluster: 'c', enabled: true, snapshot_ready: true },
  { kind: 'host', host_id: 'h', retired: true },
  { kind: 'host_status', host_id: 'h', node_count: 12 },
  { kind: 'incident', incident_id: '64f000000000000000000001', title: 'Checkout is down' },
  { kind: 'member', member_id: 101, name: 'Ada Okafor' },
  { kind: 'work_item', work_item_id: 'w', version: 1, title: 'Raise the timeout', labels: ['x'] },
];

/** Sends the records. @returns how many the feed has taken */
export async function send(url: string, appKey: string): Promise<number> {
  const body: paths['/feed/records']['post']['requestBody']['content']['application/json'] = { records };
  const response = await fetch(`${url}/feed/records?app_key=${appKey}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { data } = (await response.json()) as { data: Result };
  return data.accepted;
}

/** Shows that the compiler finds mistakes. */
export const mistakes: Body['records'] = [
  // @ts-expect-error a member without a name
  { kind: 'member', member_id: 1 },
  // @ts-expect-error a status that alerts do not have
  { kind: 'alert', alert_key: 'k', title: 't', alert_status: 'Fatal' },
  // @ts-expect-error a kind that the feed does not take
  { kind: 'account', name: 'n' },
];
