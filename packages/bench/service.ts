/** The handlers for benchmarks, on a DynamoDB of their own, with a clock that is set forward; and their data. */
import { randomBytes, randomUUID } from 'node:crypto';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Deps } from '../../lib/deps.ts';
import { type ListedOperation, operationIdOf } from '../../lib/operations/index.ts';
import { chunksOf, forEach } from '../../lib/shared/concurrency.ts';
import { readSettings, TIME_LIMITS } from '../../lib/shared/settings.ts';
import { connectTable, type Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { startLimitsProxy } from '../../test/limits-proxy/limits-proxy.ts';
import { createHandlers } from '../../test/support/handlers.ts';
import { connectDouble } from '../../test/table-double/client.ts';
import { TableDouble } from '../../test/table-double/table-double.ts';
import { loadData } from '../admin/data/load.ts';
import { createTable } from '../admin/local-service/local-table.ts';
import { startDynamoDb } from '../local/dynamodb-local.ts';

/** Longer than app keys and RUM records are cached. */
export const PAST_CACHE_MS = 120_000;

/** Long enough that even on a busy machine merges move all their alerts and pages have their whole live status. */
const PATIENT = { ...TIME_LIMITS, callMs: 600_000, inventoryMs: 60_000, liveStatusMs: 60_000 };

const ignore = () => undefined;

export const eventOf = ({ method, path }: ListedOperation, appKey: string, body: object) => ({
  httpMethod: method,
  path,
  headers: { 'Content-Type': 'application/json' },
  queryStringParameters: { app_key: appKey },
  requestContext: { requestId: 'bench' },
  body: JSON.stringify(body),
});

export const benchDeps = (table: Table, now: () => number): Deps => ({
  table,
  now,
  monotonicNow: performance.now.bind(performance),
  newId: randomUUID,
  log: { info: ignore, warn: ignore, error: ignore },
  metrics: { call: ignore, event: ignore, records: ignore },
  settings: readSettings({ TABLE_NAME: table.name }),
  timeLimits: PATIENT,
});

export function benchHandlers(table: Table) {
  let aheadMs = 0;
  const handlers = createHandlers(benchDeps(table, () => Date.now() + aheadMs));
  return {
    /** Sets the clock forward, so that a new window of the rate limit begins and cached keys and records expire. */
    stepClock(byMs: number): void {
      aheadMs += byMs;
    },
    /** Calls an operation. @throws unless it answers 200 */
    async call(operation: ListedOperation, appKey: string, body: object): Promise<void> {
      const event = eventOf(operation, appKey, body) as unknown as APIGatewayProxyEvent;
      const { statusCode, body: text } = await handlers[operationIdOf(operation.name)](event, {} as Context);
      if (statusCode !== 200) throw new Error(`${operation.name}: ${statusCode} ${text}`);
    },
  };
}

/** Maximum rows of one batch. */
const MAX_BATCH = 25;

const putAll = (table: Table, rows: readonly object[]) =>
  forEach(chunksOf(rows, MAX_BATCH), async (chunk) => {
    const RequestItems = { [table.name]: chunk.map((Item) => ({ PutRequest: { Item } })) };
    await table.client.send(new BatchWriteCommand({ RequestItems }));
  });

/** Imports data into a table in memory, and copies its rows, since an import writes them one by one. */
async function load(table: Table, lines: Iterable<string>): Promise<void> {
  const double = new TableDouble();
  const inMemory = connectDouble(async (request) => double.apply(request));
  await loadData(inMemory, 'bench', lines, { nowMs: Date.now() });
  await putAll(table, double.items());
}

/** @param endpoint of the DynamoDB to use; absent: one that it starts */
export async function startBenchService(lines: Iterable<string>, endpoint = process.env.DYNAMODB_ENDPOINT) {
  const dynamoDb = await startDynamoDb({ endpoint });
  const name = `bench-${randomBytes(4).toString('hex')}`;
  await createTable(dynamoDb.endpoint, name, { stream: false });
  const timeouts = { connectionTimeout: 5_000, requestTimeout: 60_000 };
  const table = connectTable({ name, endpoint: dynamoDb.endpoint, timeouts });
  await load(table, lines);
  async function stop(): Promise<void> {
    table.client.destroy();
    await dynamoDb.stop();
  }
  return { endpoint: dynamoDb.endpoint, table, ...benchHandlers(table), stop, [Symbol.asyncDispose]: stop };
}

/**
 * A client of a table, and the units that its calls have taken, by AWS's rules: DynamoDB Local reports too few for transactions, and none for a
 * failed condition, which AWS charges by the stored row (Developer Guide, "DynamoDB read and write operations"). Entries of indexes are not
 * counted.
 */
export async function startMeter({ endpoint, table: { name } }: { endpoint: string; table: Pick<Table, 'name'> }) {
  const proxy = await startLimitsProxy(endpoint, { readUnits: 1e12, writeUnits: 1e12 });
  const timeouts = { connectionTimeout: 10_000, requestTimeout: 60_000 };
  const table = connectTable({ name, endpoint: proxy.endpoint, timeouts });
  return {
    table,
    totals: proxy.totals,
    async [Symbol.asyncDispose]() {
      table.client.destroy();
      await proxy.close();
    },
  };
}

export const hostName = (index: number) => `fra-1-edge-${String(index).padStart(6, '0')}`;

export const accountLines = (account_id: number, app_key: string) => [
  JSON.stringify({ kind: 'account', account_id, name: 'Bench', permissions: ['monit', 'feed'] }),
  JSON.stringify({ kind: 'app_key', account_id, app_key }),
];

/** The live status of the usual size: about 270 bytes. */
export const statusOf = (nowMs: number) => ({
  observed_at_ms: nowMs - 350,
  node_count: 40,
  edge_count: 60,
  authoritative: true,
  graph_available: true,
  snapshot_truncated: false,
  snapshot_degraded: false,
  health_at_ms: nowMs - 100,
  reason_codes: ['kernel_headers_missing_for_probe'],
});

/** The inventory of the usual size: about 180 bytes with the key. */
const hostInventory = {
  agent_version: '4.11.2',
  edge_cluster: 'fra-1',
  enabled: true,
  capability_status: 'running',
  capture_mode: 'ebpf',
  report_interval_ms: 30_000,
  snapshot_ready: true,
};

/** A fleet whose rows have the usual size. */
export function fleetLines(account_id: number, count: number, nowMs: number): string[] {
  const status = { received_at_ms: nowMs, ...statusOf(nowMs) };
  return Array.from({ length: count }, (_, index) => hostName(index)).flatMap((host_id) => [
    JSON.stringify({ kind: 'host', account_id, host_id, ...hostInventory }),
    JSON.stringify({ kind: 'host_status', account_id, host_id, ...status }),
  ]);
}

const objectId = () => randomBytes(12).toString('hex');

/** Creates alerts, and an incident to merge them into. */
export async function createAlerts(table: Table, account: number, count: number) {
  const ids = Array.from({ length: count }, objectId);
  const incident = objectId();
  await putAll(table, [
    { ...keys.incident(account, incident), incident_id: incident, title: 'Checkout is down' },
    ...ids.map((id) => ({ ...keys.alert(account, id), alert_id: id, title: 'p99 above threshold' })),
  ]);
  return { ids, incident };
}
