/** A function behind a queue of reports, as in the stack. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createQueues } from '../local/queues.ts';
import { createTimes, type Times } from './timings.ts';

const QUEUE = 'Feed';
/** As the stack delivers messages: RECORDS of infra/queues.ts, and the default of `feedConcurrency`. */
const SOURCE = { batchSize: 100, windowSeconds: 1, concurrency: 10, reportsFailures: true } as const;
/** Time until a failed message is delivered again. The function sets it by a call of SQS, which is not simulated here. */
const RETRY_SECONDS = 10;

export function startFeedQueue(ingest: (event: SQSEvent) => Promise<SQSBatchResponse>) {
  const queues = createQueues([{ name: QUEUE, attributes: { VisibilityTimeout: RETRY_SECONDS } }]);
  let ages = createTimes();
  queues.feed(
    { queue: QUEUE, functionName: 'ingest-records', ...SOURCE },
    {
      async invoke(event) {
        const result = await ingest(event as SQSEvent);
        const failed = new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        for (const { messageId, attributes } of (event as SQSEvent).Records)
          if (!failed.has(messageId)) ages.add(Date.now() - Number(attributes.SentTimestamp));
        return result;
      },
    },
  );
  return {
    /** Sends reports at a rate per second, and waits until all have been written. @returns their ages when they were written */
    async send(reports: Iterable<object>, rate: number): Promise<Times> {
      ages = createTimes();
      const began = performance.now();
      let sent = 0;
      for (const report of reports) {
        const waitMs = began + (sent * 1_000) / rate - performance.now();
        if (waitMs > 20) await sleep(waitMs);
        queues.send(QUEUE, JSON.stringify(report));
        sent += 1;
      }
      while (queues.count(QUEUE) > 0) await sleep(50);
      return ages;
    },
    stop: queues.stop,
  };
}
