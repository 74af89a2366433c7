/** The service for benchmarks, on a DynamoDB of its own: handlers in this process, a clock that is set forward, and counted calls. */
import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { connectTable, splitEndpoint, type Table } from '../../lib/dynamodb/client.ts';
import { type ListedOperation, operationIdOf } from '../../lib/http/operations.ts';
import type { Deps } from '../../lib/shared/deps.ts';
import { readSettings } from '../../lib/shared/settings.ts';
import { TIME_LIMITS } from '../../lib/shared/time-limits.ts';
import { createHandlers } from '../../test/support/handlers.ts';
import { loadData } from '../admin/data/load.ts';
import { createTable } from '../admin/local-service/local-table.ts';
import { startDynamoDb } from '../local/dynamodb-local.ts';

const quiet = () => undefined;
const A_MINUTE = 60_000;

export type BenchService = Awaited<ReturnType<typeof startBenchService>>;

/** @param options the DynamoDB to use (absent: that of `DYNAMODB_ENDPOINT`, or one of its own), and whether the table has its stream */
export async function startBenchService(
  lines: Iterable<string>,
  { endpoint = process.env.DYNAMODB_ENDPOINT, stream = true }: { endpoint?: string | undefined; stream?: boolean } = {},
) {
  const dynamoDb = await startDynamoDb({ endpoint });
  const name = `bench-${randomBytes(4).toString('hex')}`;
  await createTable(dynamoDb.endpoint, name, { stream });
  const timeouts = { connectionTimeout: 5_000, requestTimeout: 10_000 };
  const connect = (): Table => connectTable({ name, endpoint: dynamoDb.endpoint, timeouts });
  const table = connect();
  const { url, credentials } = splitEndpoint(dynamoDb.endpoint);
  const byHand = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: url, region: 'local', credentials }));
  await loadData(table, 'bench', lines, { nowSeconds: Math.floor(Date.now() / 1000) });
  let clock = Date.now();
  const deps: Deps = {
    table,
    now: () => clock,
    newId: () => randomBytes(16).toString('hex'),
    log: { info: quiet, warn: quiet, error: quiet },
    metrics: { call: quiet, event: quiet, records: quiet },
    settings: readSettings({ TABLE_NAME: name }),
    // Merges are measured to their last move, and pages with all their live status, however busy the machine is.
    timeLimits: { ...TIME_LIMITS, callMs: 600_000, inventoryMs: 60_000, liveStatusMs: 60_000, movesMs: 600_000 },
  };
  const handlers = createHandlers(deps);

  return {
    endpoint: dynamoDb.endpoint,
    table,
    deps,
    connect,
    /** A plain document client, for the baselines. */
    byHand,
    /** Sets the clock forward, so that a new window of the rate limit begins and cached keys and records expire. */
    stepClock(byMs = A_MINUTE): void {
      clock += byMs;
    },
    /** Calls an operation. @throws unless it answers 200 */
    async call(operation: ListedOperation, appKey: string, body: object): Promise<unknown> {
      const event = {
        path: operation.path,
        headers: { 'Content-Type': 'application/json' },
        queryStringParameters: { app_key: appKey },
        requestContext: { requestId: 'bench' },
        body: JSON.stringify(body),
      } as unknown as APIGatewayProxyEvent;
      const answer = await handlers[operationIdOf(operation.name)](event, {} as Context);
      if (answer.statusCode !== 200) throw new Error(`${operation.name}: ${answer.statusCode} ${answer.body}`);
      return JSON.parse(answer.body).data;
    },
    async stop(): Promise<void> {
      for (const client of [table.client, byHand]) client.destroy();
      await dynamoDb.stop();
    },
  };
}

/** What calls to DynamoDB used. Transactions count twice the units of their rows, as DynamoDB bills them. */
export interface Used {
  calls: number;
  /** Rounds: concurrent calls count as one. */
  rounds: number;
  read: number;
  write: number;
  rows: number;
}

interface Consumed {
  CapacityUnits?: number;
}

/**
 * Counts the units of every call of a table's client.
 * @returns runs an action and gives the usage
 */
export function countUnits(table: Table): (act: () => Promise<unknown>) => Promise<Used> {
  let used: Used = { calls: 0, rounds: 0, read: 0, write: 0, rows: 0 };
  let underWay = 0;
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      if (underWay === 0) used.rounds += 1;
      underWay += 1;
      try {
        const result = await next(args);
        const { ConsumedCapacity, ScannedCount = 0 } = result.output as {
          ConsumedCapacity?: Consumed | Consumed[];
          ScannedCount?: number;
        };
        const units = [ConsumedCapacity ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
        const rows = (args.input as { TransactItems?: unknown[] }).TransactItems?.length ?? 0;
        used.calls += 1;
        used.rows += ScannedCount;
        if (rows > 0) used.write += Math.max(units, 2 * rows);
        else used[/^(Update|Put)/.test(context.commandName ?? '') ? 'write' : 'read'] += units;
        return result;
      } finally {
        underWay -= 1;
      }
    },
    { step: 'initialize', priority: 'high', name: 'countUnits' },
  );
  return async (act) => {
    used = { calls: 0, rounds: 0, read: 0, write: 0, rows: 0 };
    await act();
    return used;
  };
}
