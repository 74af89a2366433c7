/**
 * `npm run bench:units`: the read and write units that each operation uses, as DynamoDB Local reports them, for rows of the
 * usual size. Transactions are counted at twice the units of their rows, as DynamoDB bills them, for DynamoDB Local reports less.
 */
import { randomBytes } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { startDynamoDb } from '../infra/local/dynamodb-local.ts';
import { DEMO_KEYS, sampleData, sampleId } from '../infra/local/sample.ts';
import { createTable } from '../infra/local/table.ts';
import { browseFleet, deleteWorkItem, getRumResource, mergeAlerts, type Operation } from '../lib/api/operations.ts';
import { type Handler, serve } from '../lib/api/serve.ts';
import validateBrowse from '../lib/api/validators/browse-fleet.ts';
import validateDelete from '../lib/api/validators/delete-work-item.ts';
import validateRum from '../lib/api/validators/get-rum-resource.ts';
import validateMerge from '../lib/api/validators/merge-alerts.ts';
import { loadData } from '../lib/data/load.ts';
import type { Deps } from '../lib/deps.ts';
import { checkScanLimit, createBrowse } from '../lib/fleet/browse.ts';
import { createDeleteWorkItem } from '../lib/incidents/delete-work-item.ts';
import { createMergeAlerts } from '../lib/incidents/merge-alerts.ts';
import { createGetRumResource } from '../lib/rum/resource.ts';
import { readSettings } from '../lib/settings.ts';
import { connectTable } from '../lib/table/client.ts';

const dynamoDb = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
const name = `bench-${randomBytes(4).toString('hex')}`;
await createTable(dynamoDb.endpoint, name);
const timeouts = { connectionTimeout: 5_000, requestTimeout: 5_000 };
const table = connectTable({ name, endpoint: dynamoDb.endpoint, timeouts });
const nowSeconds = Math.floor(Date.now() / 1000);
const hosts = Array.from({ length: 2_000 }, (_, index) => `bulk-${String(index).padStart(5, '0')}`);
const alerts = Array.from({ length: 1_000 }, (_, index) => sampleId(`bulk alert ${index}`));
const lines = [
  ...sampleData(Date.now()),
  ...[...alerts].map((alert_id) =>
    JSON.stringify({ kind: 'alert', account_id: 1, alert_id, title: 'p99 above threshold' }),
  ),
  JSON.stringify({ kind: 'account', account_id: 3, name: 'Bulk', permissions: ['monit'] }),
  JSON.stringify({ kind: 'app_key', account_id: 3, app_key: 'bulk' }),
  ...hosts.flatMap((host_id) => [
    JSON.stringify({
      kind: 'host',
      account_id: 3,
      host_id,
      agent_version: '4.11.2',
      edge_cluster: 'fra-1',
      enabled: true,
      capability_status: 'running',
      capture_mode: 'ebpf',
      report_interval_ms: 30_000,
      snapshot_ready: true,
    }),
    JSON.stringify({
      kind: 'host_status',
      account_id: 3,
      host_id,
      received_at_ms: Date.now(),
      observed_at_ms: Date.now(),
      node_count: 40,
      edge_count: 60,
      authoritative: true,
      graph_available: true,
      snapshot_truncated: false,
      snapshot_degraded: false,
      health_at_ms: Date.now() - 100_000,
    }),
  ]),
];
await loadData(table, 'bench', lines, { nowSeconds });

const units = { calls: 0, read: 0, write: 0 };
interface Consumed {
  CapacityUnits?: number;
}
table.client.middlewareStack.add(
  (next, context) => async (args) => {
    Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
    const result = await next(args);
    const command = context.commandName ?? '';
    const { ConsumedCapacity } = result.output as { ConsumedCapacity?: Consumed | Consumed[] };
    const used = [ConsumedCapacity ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
    const rows = (args.input as { TransactItems?: unknown[] }).TransactItems?.length ?? 0;
    units.calls += 1;
    if (rows > 0) units.write += Math.max(used, 2 * rows);
    else units[/^(Update|Put)/.test(command) ? 'write' : 'read'] += used;
    return result;
  },
  { step: 'initialize', priority: 'high' },
);

let clock = Date.now();
const quiet = () => undefined;
const deps: Deps = {
  table,
  now: () => clock,
  newId: () => randomBytes(16).toString('hex'),
  log: { info: quiet, warn: quiet, error: quiet },
  metrics: { call: quiet, event: quiet },
  settings: readSettings({ TABLE_NAME: name }),
};
const handlers = {
  browse: serve(
    browseFleet,
    { validate: validateBrowse, crossCheck: checkScanLimit, operate: createBrowse(deps) },
    deps,
  ),
  rum: serve(getRumResource, { validate: validateRum, operate: createGetRumResource(deps) }, deps),
  remove: serve(deleteWorkItem, { validate: validateDelete, operate: createDeleteWorkItem(deps) }, deps),
  merge: serve(mergeAlerts, { validate: validateMerge, operate: createMergeAlerts(deps) }, deps),
};

async function measure(
  what: string,
  handler: Handler,
  operation: Operation,
  body: object,
  appKey: string = DEMO_KEYS.demo,
) {
  clock += 60_000; // a new window of the rate limit; caches of the keys are cold
  Object.assign(units, { calls: 0, read: 0, write: 0 });
  const event = {
    path: operation.path,
    headers: { 'Content-Type': 'application/json' },
    queryStringParameters: { app_key: appKey },
    requestContext: { requestId: 'bench' },
    body: JSON.stringify(body),
  } as unknown as APIGatewayProxyEvent;
  const { statusCode } = await handler(event, {} as Context);
  if (statusCode !== 200) throw new Error(`${what}: status ${statusCode}`);
  const row = [what.padEnd(44), units.calls, units.read.toFixed(1), units.write.toFixed(1)];
  process.stdout.write(`${row.map((cell) => String(cell).padStart(8)).join(' ')}\n`);
}

process.stdout.write(
  `${'with a key that is not cached'.padEnd(44)} ${'calls'.padStart(8)} ${'read'.padStart(8)} ${'write'.padStart(8)}\n`,
);
const incident_id = sampleId('incident 0');
await measure('fleet browse, page of 50', handlers.browse, browseFleet, {}, 'bulk');
await measure(
  'fleet browse, 2,000 examined',
  handlers.browse,
  browseFleet,
  { scan_limit: 2000, edge_clusters: ['none'] },
  'bulk',
);
await measure('RUM resource, record not cached', handlers.rum, getRumResource, {});
await measure('delete a work item', handlers.remove, deleteWorkItem, { work_item_id: 'wi-1001', version: 1 });
await measure('merge 1 alert', handlers.merge, mergeAlerts, { alert_ids: alerts.slice(0, 1), incident_id });
await measure('merge 10 alerts', handlers.merge, mergeAlerts, { alert_ids: alerts.slice(1, 11), incident_id });
await measure('merge 90 alerts', handlers.merge, mergeAlerts, { alert_ids: alerts.slice(11, 101), incident_id });
await measure('merge 899 alerts', handlers.merge, mergeAlerts, { alert_ids: alerts.slice(101), incident_id });
table.client.destroy();
await dynamoDb.stop();
