/** Compares hosts' reports through the feed's function with conditional writes of the same rows by hand, alternately. */
import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { CONCURRENCY } from '../../../lib/dynamodb/pool.ts';
import { createIngestRecords } from '../../../lib/ingest/ingest.ts';
import { type BenchService, startBenchService } from '../bench-service.ts';
import { cpuClock } from '../compare.ts';
import { startFeedQueue } from '../feed-queue.ts';
import { accountLines } from '../fleet-data.ts';
import type { NewFigure } from '../report.ts';

const HOSTS = 2_000;
const TURNS = 6;
/** Messages of a batch, each with one report, as the stack's event source has it. */
const BATCH = 100;
const ACCOUNT = 1;

const reportOf = (host: number, at_ms: number) => ({
  kind: 'host_status',
  account_id: ACCOUNT,
  host_id: `host-${String(host).padStart(5, '0')}`,
  node_count: 12,
  edge_count: 18,
  authoritative: true,
  graph_available: true,
  snapshot_truncated: false,
  snapshot_degraded: false,
  at_ms,
});

export async function run(add: (figure: NewFigure) => void): Promise<void> {
  const service = await startBenchService(accountLines(ACCOUNT, 'bench-key-of-the-feed'.padEnd(32, '-')));
  const refused: unknown[] = [];
  const ingest = createIngestRecords(service.deps, {
    refuse: async (refusals) => void refused.push(...refusals),
    delay: async () => undefined,
  });
  const context = { getRemainingTimeInMillis: () => 60_000 };
  const hosts = Array.from({ length: HOSTS }, (_, host) => host);

  async function byFeed(atMs: number): Promise<void> {
    for (let from = 0; from < HOSTS; from += BATCH) {
      const Records = hosts.slice(from, from + BATCH).map((host) => ({
        messageId: randomUUID(),
        receiptHandle: 'receipt',
        body: JSON.stringify(reportOf(host, atMs)),
        attributes: { SentTimestamp: String(atMs), ApproximateReceiveCount: '1' },
      }));
      const { batchItemFailures } = await ingest({ Records } as unknown as SQSEvent, context);
      if (batchItemFailures.length + refused.length > 0) throw new Error('the feed did not take every report');
    }
  }

  /**
   * What a careful user would write: conditional writes, so that only a later report replaces a row; as many at a time as the feed makes.
   */
  async function byHand(atMs: number): Promise<void> {
    let next = 0;
    const worker = async () => {
      while (next < HOSTS) {
        const { kind, account_id, host_id, ...fields } = JSON.parse(JSON.stringify(reportOf(next, atMs)));
        next += 1;
        await service.byHand.send(
          new PutCommand({
            TableName: service.table.name,
            Item: { ...keys.hostStatus(2, host_id), ...fields, received_at_ms: atMs },
            ConditionExpression: 'attribute_not_exists(pk) OR at_ms < :at',
            ExpressionAttributeValues: { ':at': atMs },
          }),
        );
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  }

  const nothing = () => ({ wallMs: 0, cpuMs: 0 });
  const spent = { byFeed: nothing(), byHand: nothing() };
  try {
    const began = Date.now() - (TURNS + 2) * 1_000;
    for (let turn = -1; turn < TURNS; turn += 1) {
      // The first turn warms up and creates the rows.
      if (turn === 0) Object.assign(spent, { byFeed: nothing(), byHand: nothing() });
      const tasks = { byFeed, byHand };
      for (const name of turn % 2 === 0 ? (['byFeed', 'byHand'] as const) : (['byHand', 'byFeed'] as const)) {
        const [wall, cpu] = [performance.now(), cpuClock()];
        await tasks[name](began + (turn + 1) * 1_000);
        spent[name].wallMs += performance.now() - wall;
        spent[name].cpuMs += cpuClock() - cpu;
      }
    }
    const reports = HOSTS * TURNS;
    const rate = ({ wallMs }: { wallMs: number }) => reports / (wallMs / 1_000);
    const cpu = ({ cpuMs }: { cpuMs: number }) => cpuMs / reports;
    const baseline = 'conditional PutItems by the document client';
    add({
      name: 'reports by the feed',
      value: rate(spent.byFeed),
      unit: 'reports/s',
      baseline: { name: baseline, value: rate(spent.byHand) },
      target: { least: 1.2 },
    });
    add({
      name: 'CPU of a report',
      value: cpu(spent.byFeed),
      unit: 'ms',
      baseline: { name: baseline, value: cpu(spent.byHand) },
      target: { most: 0.6 },
    });
    await behindQueue(service, rate(spent.byFeed), add);
  } finally {
    await service.stop();
  }
}

/** Seconds for which the age of reports is measured, and for which nine tenths of the calls are throttled. */
const SECONDS = { age: 10, throttled: 60 };

async function behindQueue(service: BenchService, rate: number, add: (figure: NewFigure) => void): Promise<void> {
  const began = Date.now();
  const reportAt = (host: number, n: number) => ({ ...reportOf(host, began + n), node_count: n });
  const feed = startFeedQueue(service, ACCOUNT, reportAt);
  try {
    const ages = await feed.run(rate / 2, SECONDS.age, HOSTS);
    add({
      name: 'age of a report when it is visible, at half load, p95',
      value: ages[Math.floor(ages.length * 0.95)] ?? Number.NaN,
      unit: 'ms',
    });
    // Throttled, the feed can write about a tenth of `rate`. This load is more, so a backlog builds up.
    feed.throttle(0.9);
    const ending = setTimeout(() => feed.throttle(0), SECONDS.throttled * 1_000);
    const throttledRate = rate / 5;
    await feed.run(throttledRate, SECONDS.throttled, HOSTS);
    clearTimeout(ending);
    add({
      name: `hosts without their latest report after ${SECONDS.throttled} s at a tenth of DynamoDB`,
      value: await feed.wrong(Math.floor(throttledRate * SECONDS.throttled), HOSTS),
      unit: 'hosts',
      target: { most: 0 },
    });
  } finally {
    await feed.stop();
  }
}
