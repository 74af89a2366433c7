/** The service for benchmarks: handlers in this process, on a DynamoDB of its own, with a clock that is set forward. */
import { randomBytes } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { connectTable, type Table } from '../../lib/dynamodb/client.ts';
import { type ListedOperation, operationIdOf } from '../../lib/http/operations.ts';
import type { Deps } from '../../lib/shared/deps.ts';
import { TIME_LIMITS, type TimeLimits } from '../../lib/shared/time-limits.ts';
import { createHandlers } from '../../test/support/handlers.ts';
import { loadData } from '../admin/data/load.ts';
import { createTable } from '../admin/local-service/local-table.ts';
import { startDynamoDb } from '../local/dynamodb-local.ts';
import { depsOver } from '../proof/simulation/environment.ts';

export type BenchService = Awaited<ReturnType<typeof startBenchService>>;

export const eventOf = ({ path }: ListedOperation, appKey: string, body: object) => ({
  path,
  headers: { 'Content-Type': 'application/json' },
  queryStringParameters: { app_key: appKey },
  requestContext: { requestId: 'bench' },
  body: JSON.stringify(body),
});

/** Long enough that even on a busy machine merges move all their alerts and pages have their whole live status. */
const PATIENT = { ...TIME_LIMITS, callMs: 600_000, inventoryMs: 60_000, liveStatusMs: 60_000, movesMs: 600_000 };

/** The handlers of the operations over a table. */
export function benchHandlers(table: Table, timeLimits: TimeLimits = PATIENT) {
  let aheadMs = 0;
  const deps: Deps = { ...depsOver(table, { now: () => Date.now() + aheadMs }), timeLimits };
  const handlers = createHandlers(deps);

  /** Calls an operation. @returns its answer, whatever the status */
  async function send(operation: ListedOperation, appKey: string, body: object) {
    const event = eventOf(operation, appKey, body) as unknown as APIGatewayProxyEvent;
    return handlers[operationIdOf(operation.name)](event, {} as Context);
  }

  return {
    deps,
    /** Sets the clock forward, so that a new window of the rate limit begins and cached keys and records expire. */
    stepClock(byMs: number): void {
      aheadMs += byMs;
    },
    send,
    /** Calls an operation. @throws unless it answers 200 */
    async call(operation: ListedOperation, appKey: string, body: object): Promise<void> {
      const { statusCode, body: text } = await send(operation, appKey, body);
      if (statusCode !== 200) throw new Error(`${operation.name}: ${statusCode} ${text}`);
    },
  };
}

/** @param endpoint of the DynamoDB to use; absent: one that it starts */
export async function startBenchService(lines: Iterable<string>, endpoint = process.env.DYNAMODB_ENDPOINT) {
  const dynamoDb = await startDynamoDb({ endpoint });
  const name = `bench-${randomBytes(4).toString('hex')}`;
  await createTable(dynamoDb.endpoint, name, { stream: false });
  const timeouts = { connectionTimeout: 5_000, requestTimeout: 10_000 };
  const table = connectTable({ name, endpoint: dynamoDb.endpoint, timeouts });
  await loadData(table, 'bench', lines, { nowMs: Date.now() });
  return {
    endpoint: dynamoDb.endpoint,
    table,
    ...benchHandlers(table),
    async stop(): Promise<void> {
      table.client.destroy();
      await dynamoDb.stop();
    },
  };
}
