/** The feed's function behind a queue, as in the stack, while DynamoDB throttles its calls. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { getRow } from '../../lib/dynamodb/row.ts';
import { createQueues } from '../local/queues.ts';
import type { AddFigure } from './report.ts';

const QUEUE = 'Feed';
/** As the stack delivers messages: BATCH of infra/ingest-queues.ts, and the default of `feedConcurrency`. */
const SOURCE = { batchSize: 100, windowSeconds: 1, concurrency: 10, reportsFailures: true } as const;
/** Time until a failed message is delivered again. The function sets it by a call to SQS, which is not simulated here. */
const RETRY_SECONDS = 10;
const SECONDS = 60;
/** The share of the calls that are throttled. */
const THROTTLED_SHARE = 0.9;

interface Report {
  account_id: number;
  host_id: string;
  /** Holds the number of the report, by which the latest one is recognized. */
  node_count: number;
}

/**
 * Sends reports at a fifth of the feed's rate, while nine tenths of its calls to DynamoDB are throttled, so that a backlog builds up.
 * @param rate the feed's reports a second without throttling
 * @param reportOf makes a report from its number; the hosts report in turn
 */
export async function throttledFeed(
  table: Table,
  ingest: (event: SQSEvent) => Promise<SQSBatchResponse>,
  rate: number,
  { hosts, reportOf }: { hosts: number; reportOf: (n: number) => Report },
  add: AddFigure,
): Promise<void> {
  let throttled = true;
  table.client.middlewareStack.add(
    (next) => (args) => {
      if (throttled && Math.random() < THROTTLED_SHARE)
        throw new ProvisionedThroughputExceededException({ message: 'throttled', $metadata: {} });
      return next(args);
    },
    // Each attempt may be throttled, as by DynamoDB.
    { step: 'finalizeRequest', priority: 'low' },
  );
  const queues = createQueues([{ name: QUEUE, attributes: { VisibilityTimeout: RETRY_SECONDS } }]);
  const source = { queue: QUEUE, functionName: 'ingest-records', ...SOURCE };
  queues.connect(source, { invoke: (event) => ingest(event as SQSEvent) });
  const count = Math.floor((rate / 5) * SECONDS);
  const began = performance.now();
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, began + (n * SECONDS * 1_000) / count - performance.now()));
    queues.send(QUEUE, JSON.stringify(reportOf(n)));
  }
  throttled = false;
  while (queues.count(QUEUE) > 0) await sleep(50);
  await queues.stop();

  const latest = Array.from({ length: Math.min(hosts, count) }, (_, index) => reportOf(count - 1 - index));
  let current = 0;
  for (const { account_id, host_id, node_count } of latest) {
    const row = await getRow(table, keys.hostStatus(account_id, host_id));
    if (Number((row as { node_count?: unknown } | undefined)?.node_count) === node_count) current += 1;
  }
  add({
    name: `hosts with their latest report after ${SECONDS} s with a tenth of DynamoDB's throughput`,
    value: current,
    unit: 'hosts',
    baseline: { name: 'those that reported', value: latest.length },
    target: { least: 1 },
  });
}
