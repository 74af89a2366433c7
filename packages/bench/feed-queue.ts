/** The feed's function behind a queue, as in the stack: measures the age of reports when they become visible, also under throttling. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import { keys } from '../../lib/dynamodb/keys.ts';
import { getRow } from '../../lib/dynamodb/row.ts';
import { createIngestRecords } from '../../lib/ingest/ingest.ts';
import { createQueues } from '../local/queues.ts';
import type { BenchService } from './bench-service.ts';

const QUEUE = 'Feed';
/** As the stack delivers messages: RECORDS of infra/queues.ts, and the default of `feedConcurrency`. */
const SOURCE = { batchSize: 100, windowSeconds: 1, concurrency: 10, reportsFailures: true } as const;

/** Time until a failed message is delivered again. The function sets it by a call of SQS, which is not simulated here. */
const RETRY_SECONDS = 10;

export type Report = Readonly<Record<string, unknown>> & { host_id: string; at_ms: number };

/** @param reportOf a report of a host, with the number of the report as its `node_count` */
export function startFeedQueue(service: BenchService, account: number, reportOf: (host: number, n: number) => Report) {
  const table = service.connect();
  const queues = createQueues([{ name: QUEUE, attributes: { VisibilityTimeout: RETRY_SECONDS } }]);
  const ages: number[] = [];
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
  const ingest = createIngestRecords(
    { ...service.deps, table },
    {
      refuse: async ([refusal]) => {
        if (refusal) throw new Error(`a report is refused: ${refusal.reason}`);
      },
      delay: async () => undefined,
    },
  );
  const waiting = new Set<string>();
  queues.feed(
    { queue: QUEUE, functionName: 'ingest-records', ...SOURCE },
    {
      async invoke(event) {
        const { Records } = event as SQSEvent;
        const result = await ingest(event as SQSEvent, { getRemainingTimeInMillis: () => 60_000 });
        const failed = new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        for (const { messageId, attributes, body } of Records)
          if (!failed.has(messageId) && waiting.delete(body)) ages.push(Date.now() - Number(attributes.SentTimestamp));
        return result;
      },
    },
  );

  return {
    /** Sends at a rate for a while, to many hosts in turn, and waits until all are visible. @returns the ages, ascending */
    async run(rate: number, seconds: number, hosts: number): Promise<number[]> {
      ages.length = 0;
      const began = performance.now();
      const all = Math.floor(rate * seconds);
      for (let sent = 0; sent < all; await sleep(20))
        for (const due = Math.min(all, ((performance.now() - began) / 1_000) * rate); sent < due; sent += 1) {
          const body = JSON.stringify(reportOf(sent % hosts, sent));
          waiting.add(body);
          queues.send(QUEUE, body);
        }
      while (waiting.size > 0) await sleep(50);
      return ages.toSorted((one, other) => one - other);
    },
    throttle(share: number) {
      throttled = share;
    },
    /** Number of hosts whose row does not show their latest report. */
    async wrong(reports: number, hosts: number): Promise<number> {
      let count = 0;
      for (let host = 0; host < Math.min(hosts, reports); host += 1) {
        const latest = reports - 1 - ((reports - 1 - host) % hosts);
        const row = await getRow(service.table, keys.hostStatus(account, reportOf(host, 0).host_id));
        if (Number((row as { node_count?: unknown } | undefined)?.node_count) !== latest) count += 1;
      }
      return count;
    },
    async stop() {
      await queues.stop();
      table.client.destroy();
    },
  };
}
