/** The service under test: real handlers, built as production builds them, on a table of their own. */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  paginateQuery,
  paginateScan,
} from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { Deps } from '../../lib/deps.ts';
import { hashAppKey } from '../../lib/http/app-keys.ts';
import type { Handler, Operation } from '../../lib/http/operation.ts';
import { PERMISSIONS } from '../../lib/model/account.ts';
import type { AppKeyRow } from '../../lib/model/app-key.ts';
import { type ListedOperation, operationIdOf } from '../../lib/operations/index.ts';
import { chunksOf, forEach } from '../../lib/shared/concurrency.ts';
import { type Int64, stringifyJson } from '../../lib/shared/json.ts';
import type { RecordCounts } from '../../lib/shared/log.ts';
import { readSettings, type Settings, type TimeLimits } from '../../lib/shared/settings.ts';
import { connectTable, type Table, type TableOptions } from '../../lib/table/client.ts';
import { type Key, keys } from '../../lib/table/keys.ts';
import { createTable } from '../../packages/admin/local-service/local-table.ts';
import { connectDouble } from '../table-double/client.ts';
import { TableDouble } from '../table-double/table-double.ts';
import { dynamodbEndpoint } from './dynamodb-local.ts';
import { createHandlers, type Handlers } from './handlers.ts';

export { createHandlers };

/** The start of a minute. It is in the future, so that DynamoDB does not delete rate counts as expired while a test runs. */
export const NOW = 2_050_000_020_000;

/** A log that keeps its lines, so that tests can look at them. */
export function recordingLog() {
  const lines: { level: string; message: string; fields: Record<string, unknown> }[] = [];
  const writer = (level: string) => (message: string, fields: Record<string, unknown>) => {
    lines.push({ level, message, fields });
  };
  return { lines, info: writer('info'), warn: writer('warn'), error: writer('error') };
}

/** Time-outs of DynamoDB's clients: on a busy machine DynamoDB Local is slower than DynamoDB. Tests of timing use production's. */
export const PATIENCE = { connectionTimeout: 10_000, requestTimeout: 10_000 };
/** Time limits of calls, for the same reason. */
export const PATIENT_LIMITS: TimeLimits = {
  callMs: 30_000,
  authorizerMs: 30_000,
  inventoryMs: 30_000,
  liveStatusMs: 30_000,
};

/** A new table at the run's DynamoDB. @param options `stream`: whether it has a stream */
export async function newTable({ stream = false } = {}): Promise<Table> {
  const endpoint = dynamodbEndpoint();
  const name = `test-${randomUUID()}`;
  await createTable(endpoint, name, { stream });
  return connectTable({ name, endpoint, timeouts: PATIENCE });
}

/** A table in memory, which is faster than DynamoDB Local. `table-double.test.ts` compares the two. */
export const newDouble = (double = new TableDouble()): Table => connectDouble(async (request) => double.apply(request));

/** A client of a table that goes through a proxy, with the time-outs of production unless others are given. */
export const connectThrough = (
  { name }: Table,
  { endpoint }: { endpoint: string },
  timeouts?: TableOptions['timeouts'],
): Table => connectTable({ name, endpoint, ...(timeouts && { timeouts }) });

/** Metrics that are kept, so that tests can look at them. */
function recordingMetrics() {
  const calls: { operation: string; code: string; durationMs: number }[] = [];
  const events: string[] = [];
  const recordCounts: RecordCounts[] = [];
  return {
    calls,
    events,
    recordCounts,
    call: (operation: string, code: string, durationMs: number) => void calls.push({ operation, code, durationMs }),
    event: (name: string) => void events.push(name),
    records: (counts: RecordCounts) => void recordCounts.push(counts),
  };
}

export interface TestDeps extends Deps {
  readonly log: ReturnType<typeof recordingLog>;
  readonly metrics: ReturnType<typeof recordingMetrics>;
}

/** What production gives its handlers, but with a log and metrics that keep everything, and time limits for a busy machine. */
export function testDeps(
  table: Table,
  {
    settings,
    ...rest
  }: { now?: () => number; monotonicNow?: () => number; settings?: Partial<Settings>; timeLimits?: TimeLimits } = {},
): TestDeps {
  return {
    table,
    now: Date.now,
    monotonicNow: performance.now.bind(performance),
    newId: randomUUID,
    log: recordingLog(),
    metrics: recordingMetrics(),
    settings: { ...readSettings({ TABLE_NAME: table.name }), ...settings },
    timeLimits: PATIENT_LIMITS,
    ...rest,
  };
}

export interface EventOptions {
  appKey?: string | string[] | undefined;
  body?: unknown;
  /** The body as text, or as bytes in base64, in place of `body`. */
  rawBody?: string | Buffer | null;
  /** A list gives a header several times. */
  headers?: Record<string, string | string[]>;
}

/** The event that API Gateway's REST proxy integration sends for a call of an operation. */
export function eventFor(
  operation: Pick<Operation, 'path' | 'method'>,
  options: EventOptions = {},
): APIGatewayProxyEvent {
  const appKeys = [options.appKey ?? []].flat();
  const last = appKeys.at(-1);
  const body = options.body === undefined ? null : stringifyJson(options.body);
  const { rawBody = body } = options;
  const allHeaders = Object.entries({ 'Content-Type': 'application/json', ...options.headers }).map(
    ([name, value]) => [name, [value].flat()] as const,
  );
  return {
    resource: operation.path,
    path: operation.path,
    httpMethod: operation.method,
    headers: Object.fromEntries(allHeaders.map(([name, values]) => [name, values.at(-1)])),
    multiValueHeaders: Object.fromEntries(allHeaders),
    queryStringParameters: last === undefined ? null : { app_key: last },
    multiValueQueryStringParameters: last === undefined ? null : { app_key: appKeys },
    pathParameters: null,
    stageVariables: null,
    requestContext: { requestId: randomUUID(), stage: 'test' } as APIGatewayProxyEvent['requestContext'],
    body: Buffer.isBuffer(rawBody) ? rawBody.toString('base64') : rawBody,
    isBase64Encoded: Buffer.isBuffer(rawBody),
  };
}

/** What a caller sees of an answer. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the answer holds
  body: any;
}

/** Calls a handler as Lambda would, without a gateway before it. */
export async function invokeAlone(handler: Handler, event: APIGatewayProxyEvent): Promise<Answer> {
  const { statusCode, headers, body } = await handler(event, { awsRequestId: 'invocation' } as Context);
  return { status: statusCode, headers: headers as Record<string, string>, text: body, body: JSON.parse(body) };
}

/** Calls an operation as Lambda would, without a gateway before it. */
export const callAlone = (
  handlers: Handlers,
  operation: ListedOperation,
  options: EventOptions = {},
): Promise<Answer> => invokeAlone(handlers[operationIdOf(operation.name)], eventFor(operation, options));

/** An app key such as `admin app-key issue` makes. */
export const newAppKey = () => randomBytes(32).toString('base64url');

/** Puts an app key of an account into the table. @returns the key */
export async function putAppKey(
  table: Table,
  row: Partial<AppKeyRow> & { account_id: Int64 },
  appKey = newAppKey(),
): Promise<string> {
  const full: AppKeyRow = {
    permissions: [...PERMISSIONS],
    cursor_secret: Buffer.from(`secret of ${row.account_id}`),
    ...row,
  };
  await put(table, keys.appKey(hashAppKey(appKey)), { ...full });
  return appKey;
}

/** Puts many rows in batches, a few of them at the same time. */
export async function putAll(table: Table, rows: (Key & object)[]): Promise<void> {
  await forEach(
    chunksOf(rows, 25),
    async (batch) => {
      const RequestItems = { [table.name]: batch.map((Item) => ({ PutRequest: { Item } })) };
      await table.client.send(new BatchWriteCommand({ RequestItems }));
    },
    { concurrency: 4 },
  );
}

export async function put(table: Table, key: Key, row: object): Promise<void> {
  await table.client.send(new PutCommand({ TableName: table.name, Item: { ...key, ...row } }));
}

/** Deletes a row. */
export async function remove(table: Table, { pk, sk }: Key): Promise<void> {
  await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
}

/** A stored row, read consistently; undefined when there is none. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the row holds
export async function stored(table: Table, key: Key): Promise<any> {
  const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }));
  return Item;
}

/** All rows of a partition, in order. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the rows hold
export async function storedUnder(table: Table, pk: string): Promise<any[]> {
  const pages = paginateQuery(
    { client: table.client },
    {
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
    },
  );
  return (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items);
}

/** All rows of a table, every page of them. */
export async function rowsIn(table: Table): Promise<(Key & Record<string, unknown>)[]> {
  const pages = paginateScan({ client: table.client }, { TableName: table.name, ConsistentRead: true });
  return (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items) as (Key & Record<string, unknown>)[];
}

/** All that a table holds as JSON, whatever the order of attributes. */
export async function everythingIn(table: Table): Promise<string> {
  const sorted = (row: object) => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
  return stringifyJson((await rowsIn(table)).map(sorted));
}
