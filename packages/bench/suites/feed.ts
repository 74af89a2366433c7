/** Reports of hosts through the feed's function, against the document client; and while DynamoDB throttles. */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import { Endpoint } from '../../../lib/dynamodb/client.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { createIngestRecords } from '../../../lib/ingest/ingest.ts';
import { chunksOf } from '../../../lib/shared/chunks.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { accountLines, hostName } from '../data.ts';
import type { AddFigure } from '../report.ts';
import { throttledFeed } from '../throttled-feed.ts';
import { createTimes, inTurns, type Times } from '../timings.ts';

const HOSTS = 2_000;
const TURNS = 6;
/** Messages of a batch, as in the stack's event source mapping. Each has one report. */
const BATCH = 100;
const ACCOUNT = 1;
/** The account of the rows that the document client writes. */
const BASELINE_ACCOUNT = 2;

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
async function compareWithDocumentClient(service: BenchService, ingest: Ingest, add: AddFigure): Promise<number> {
  const { url, credentials } = new Endpoint(service.endpoint);
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

  /** What a careful user would write: only a later report replaces a row. As many writes are concurrent as in the feed. */
  const byDocumentClient = () =>
    forEach(newReports(), async (report) => {
      const { kind, account_id, host_id, ...fields } = JSON.parse(JSON.stringify(report));
      const command = new PutCommand({
        TableName: service.table.name,
        Item: { ...keys.hostStatus(BASELINE_ACCOUNT, host_id), ...fields, received_at_ms: atMs },
        ConditionExpression: 'attribute_not_exists(pk) OR at_ms < :at',
        ExpressionAttributeValues: { ':at': atMs },
      });
      await client.send(command);
    });

  // Both warm up, and create their rows.
  await inTurns(1, [byFeed, byDocumentClient]);
  const [feed, baseline] = [createTimes(), createTimes()];
  await inTurns(TURNS, [() => feed.time(byFeed), () => baseline.time(byDocumentClient)]);
  client.destroy();
  const rateOf = (times: Times) => HOSTS / (times.mean() / 1_000);
  const name = 'conditional PutItems by the document client';
  add({
    name: 'reports by the feed',
    value: rateOf(feed),
    unit: 'reports/s',
    baseline: { name, value: rateOf(baseline) },
    target: { least: 1.2 },
  });
  add({
    name: 'CPU of a report',
    value: feed.meanCpu() / HOSTS,
    unit: 'ms',
    baseline: { name, value: baseline.meanCpu() / HOSTS },
    target: { most: 0.6 },
  });
  return rateOf(feed);
}

export async function run(add: AddFigure): Promise<void> {
  const service = await startBenchService(accountLines(ACCOUNT, 'bench-key-of-the-feed'.padEnd(32, '-')));
  const ingest = createIngest(service);
  try {
    const rate = await compareWithDocumentClient(service, ingest, add);
    const began = Date.now();
    const reports = { hosts: HOSTS, reportOf: (n: number) => reportOf(n % HOSTS, began + n, n) };
    await throttledFeed(service.table, ingest, rate, reports, add);
  } finally {
    await service.stop();
  }
}
