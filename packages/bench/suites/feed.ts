/** Reports of hosts through the feed's function, against conditional writes of the same rows by hand; and the function behind its queue. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import { splitEndpoint } from '../../../lib/dynamodb/client.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { getRow } from '../../../lib/dynamodb/row.ts';
import { createIngestRecords } from '../../../lib/ingest/ingest.ts';
import { chunksOf } from '../../../lib/shared/chunks.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { startFeedQueue } from '../feed-queue.ts';
import { accountLines, hostName } from '../fleet-data.ts';
import type { Add } from '../report.ts';
import { createTimes, inTurns, type Times } from '../timings.ts';

const HOSTS = 2_000;
const TURNS = 6;
/** Messages of a batch, each with one report, as the stack's event source has it. */
const BATCH = 100;
const ACCOUNT = 1;
/** Account of the rows that are written by hand. */
const OTHER = 2;

const reportOf = (host: number, at_ms: number, node_count: number) => ({
  kind: 'host_status',
  account_id: ACCOUNT,
  host_id: hostName(host),
  node_count,
  edge_count: 18,
  authoritative: true,
  graph_available: true,
  snapshot_truncated: false,
  snapshot_degraded: false,
  at_ms,
});

function createIngest({ deps }: BenchService) {
  const ingest = createIngestRecords(deps, {
    refuse: async ([refusal]) => {
      if (refusal) throw new Error(`a report is refused: ${refusal.reason}`);
    },
    delay: async () => undefined,
  });
  return (event: SQSEvent) => ingest(event, { getRemainingTimeInMillis: () => 60_000 });
}
type Ingest = ReturnType<typeof createIngest>;

/** @returns the reports a second of the feed */
async function againstByHand(service: BenchService, ingest: Ingest, add: Add): Promise<number> {
  const { url, credentials } = splitEndpoint(service.endpoint);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: url, region: 'local', credentials }));
  let atMs = Date.now() - 1_000_000;
  const newReports = () => {
    atMs += 1_000;
    return Array.from({ length: HOSTS }, (_, host) => reportOf(host, atMs, 12));
  };

  async function byFeed(): Promise<void> {
    for (const batch of chunksOf(newReports(), BATCH)) {
      const Records = batch.map((report) => ({
        messageId: randomUUID(),
        receiptHandle: 'receipt',
        body: JSON.stringify(report),
        attributes: { SentTimestamp: String(atMs), ApproximateReceiveCount: '1' },
      }));
      const { batchItemFailures } = await ingest({ Records } as unknown as SQSEvent);
      if (batchItemFailures.length > 0) throw new Error('the feed did not take every report');
    }
  }

  /** What a careful user would write: only a later report replaces a row, and as many writes are concurrent as in the feed. */
  const byHand = () =>
    forEach(newReports(), async (report) => {
      const { kind, account_id, host_id, ...fields } = JSON.parse(JSON.stringify(report));
      const command = new PutCommand({
        TableName: service.table.name,
        Item: { ...keys.hostStatus(OTHER, host_id), ...fields, received_at_ms: atMs },
        ConditionExpression: 'attribute_not_exists(pk) OR at_ms < :at',
        ExpressionAttributeValues: { ':at': atMs },
      });
      await client.send(command);
    });

  // Both warm up, and create their rows.
  await inTurns(1, [byFeed, byHand]);
  const [feed, hand] = [createTimes(), createTimes()];
  await inTurns(TURNS, [() => feed.time(byFeed), () => hand.time(byHand)]);
  client.destroy();
  const rateOf = (times: Times) => HOSTS / (times.mean() / 1_000);
  const name = 'conditional PutItems by the document client';
  add({
    name: 'reports by the feed',
    value: rateOf(feed),
    unit: 'reports/s',
    baseline: { name, value: rateOf(hand) },
    target: { least: 1.2 },
  });
  add({
    name: 'CPU of a report',
    value: feed.meanCpu() / HOSTS,
    unit: 'ms',
    baseline: { name, value: hand.meanCpu() / HOSTS },
    target: { most: 0.6 },
  });
  return rateOf(feed);
}

/** Seconds for which the age of reports is measured, and for which nine tenths of the calls are throttled. */
const SECONDS = { age: 10, throttled: 60 };

async function behindQueue({ table }: BenchService, ingest: Ingest, rate: number, add: Add): Promise<void> {
  /** The share of calls that are throttled. */
  let throttled = 0;
  table.client.middlewareStack.add(
    (next) => (args) => {
      if (Math.random() < throttled)
        throw new ProvisionedThroughputExceededException({ message: 'throttled', $metadata: {} });
      return next(args);
    },
    // Each attempt may be throttled, as by DynamoDB.
    { step: 'finalizeRequest', priority: 'low' },
  );
  const began = Date.now();
  /** Reports of all hosts in turn. `node_count` is the number of the report. */
  const reports = (count: number) =>
    Array.from({ length: Math.floor(count) }, (_, n) => reportOf(n % HOSTS, began + n, n));
  const feed = startFeedQueue(ingest);
  const empty = startFeedQueue(async () => ({ batchItemFailures: [] }));
  try {
    const load = reports((rate / 2) * SECONDS.age);
    const [age, least] = [await feed.send(load, rate / 2), await empty.send(load, rate / 2)];
    add({
      name: 'age of a report when it is written, at half load, p95',
      value: age.percentile(95),
      unit: 'ms',
      baseline: { name: 'a function that does nothing', value: least.percentile(95) },
    });
    // Throttled, the feed can write about a tenth of `rate`. This load is more, so a backlog builds up.
    const overload = reports((rate / 5) * SECONDS.throttled);
    throttled = 0.9;
    const sent = feed.send(overload, rate / 5);
    await sleep(SECONDS.throttled * 1_000);
    throttled = 0;
    await sent;
    let latest = 0;
    for (const { host_id, node_count } of overload.slice(-HOSTS)) {
      const row = await getRow(table, keys.hostStatus(ACCOUNT, host_id));
      if (Number((row as { node_count?: unknown } | undefined)?.node_count) === node_count) latest += 1;
    }
    add({
      name: `hosts with their latest report after ${SECONDS.throttled} s at a tenth of DynamoDB`,
      value: latest,
      unit: 'hosts',
      baseline: { name: 'those that reported', value: Math.min(HOSTS, overload.length) },
      target: { least: 1 },
    });
  } finally {
    await Promise.all([feed.stop(), empty.stop()]);
  }
}

export async function run(add: Add): Promise<void> {
  const service = await startBenchService(accountLines(ACCOUNT, 'bench-key-of-the-feed'.padEnd(32, '-')));
  const ingest = createIngest(service);
  try {
    await behindQueue(service, ingest, await againstByHand(service, ingest, add), add);
  } finally {
    await service.stop();
  }
}
