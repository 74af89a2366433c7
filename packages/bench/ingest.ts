/** CPU time of reports of hosts that go through the feed's function, beside the same rows by the document client, each in a process of its own. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import { Endpoint } from '../../lib/aws/endpoint.ts';
import { createIngestRecords } from '../../lib/ingest/ingest.ts';
import { chunksOf, forEach } from '../../lib/shared/concurrency.ts';
import { connectTable } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import type { Figure } from './run.ts';
import { accountLines, benchHandlers, hostName, startBenchService, statusOf } from './service.ts';
import { inTurns, startTimer } from './timings.ts';

const HOSTS = 2_000;
const ROUNDS = 6;
/** Messages of a batch, as in the stack's event source mapping. Each has one report. */
const BATCH = 100;
/** The account of each side. */
const ACCOUNTS = { ingest: 1, documentClient: 2 };
type Side = keyof typeof ACCOUNTS;

const reportsOf = (account_id: number, at_ms: number) =>
  Array.from({ length: HOSTS }, (_, host) =>
    JSON.stringify({ kind: 'host_status', account_id, host_id: hostName(host), ...statusOf(at_ms), at_ms }),
  );

function createIngest(endpoint: string, name: string) {
  const { deps } = benchHandlers(connectTable({ endpoint, name }));
  const ingest = createIngestRecords(deps, {
    refuse: async ([refusal]) => {
      if (refusal) throw new Error(`a report is refused: ${refusal.MessageAttributes?.reason?.StringValue}`);
      return [];
    },
    delay: async () => undefined,
  });
  return async (reports: readonly string[], atMs: number) => {
    for (const batch of chunksOf(reports, BATCH)) {
      const Records = batch.map((body) => ({
        messageId: randomUUID(),
        receiptHandle: 'receipt',
        body,
        attributes: { SentTimestamp: String(atMs), ApproximateReceiveCount: '1' },
      }));
      const context = { getRemainingTimeInMillis: () => 60_000 };
      const { batchItemFailures } = await ingest({ Records } as unknown as SQSEvent, context);
      if (batchItemFailures.length > 0) throw new Error('the feed did not take every report');
    }
  };
}

/** What a careful user would write: only a later report replaces a row. As many writes are concurrent as in the feed. */
function createBaseline(endpoint: string, TableName: string) {
  const { url, credentials } = new Endpoint(endpoint);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: url, region: 'local', credentials }));
  return (reports: readonly string[], atMs: number) =>
    forEach(reports, async (report) => {
      const { kind, account_id, host_id, ...fields } = JSON.parse(report);
      const command = new PutCommand({
        TableName,
        Item: { ...keys.hostStatus(account_id, host_id), ...fields, received_at_ms: atMs },
        ConditionExpression: 'attribute_not_exists(pk) OR at_ms < :at',
        ExpressionAttributeValues: { ':at': atMs },
      });
      await client.send(command);
    });
}

/** The process of one side: writes a report of each host for each message, and answers with the CPU milliseconds. */
function serve([side, endpoint, table]: string[]): void {
  const write = (side === 'ingest' ? createIngest : createBaseline)(endpoint ?? '', table ?? '');
  process.on('message', async (atMs: number) => {
    const reports = reportsOf(ACCOUNTS[side as Side], atMs);
    const elapsed = startTimer();
    await write(reports, atMs);
    process.send?.(elapsed().cpuMs);
  });
}

export async function run(add: (figure: Figure) => void): Promise<void> {
  const lines = Object.values(ACCOUNTS).flatMap((account) =>
    accountLines(account, `bench-key-${account}`.padEnd(32, '-')),
  );
  await using resources = new AsyncDisposableStack();
  const service = resources.adopt(await startBenchService(lines), ({ stop }) => stop());
  const began = Date.now() - 1_000_000;
  const sideOf = (side: Side) => {
    const child = fork(import.meta.filename, [side, service.endpoint, service.table.name]);
    resources.defer(() => child.disconnect());
    const cpuMs: number[] = [];
    const round = async () => {
      child.send(began + 1_000 * cpuMs.length);
      cpuMs.push((await once(child, 'message'))[0]);
    };
    // The first round warms up, and creates the rows.
    const mean = () => cpuMs.slice(1).reduce((sum, ms) => sum + ms, 0) / (HOSTS * (cpuMs.length - 1));
    return { round, mean };
  };
  const [ingest, baseline] = [sideOf('ingest'), sideOf('documentClient')];
  await inTurns(1 + ROUNDS, [ingest.round, baseline.round]);
  add({
    name: 'CPU of a report',
    value: ingest.mean(),
    unit: 'ms',
    baseline: { name: 'conditional PutItems by the document client', value: baseline.mean() },
    most: 0.68,
  });
}

if (import.meta.main) serve(process.argv.slice(2));
