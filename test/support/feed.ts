import { randomUUID } from 'node:crypto';
import type { SQSEvent } from 'aws-lambda';
import { createIngestRecords } from '../../lib/ingest/ingest.ts';
import type { Delay, Refusal } from '../../lib/ingest/queues.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import type { Table } from '../../lib/table/client.ts';
import { testDeps } from './service.ts';

type FeedDeps = Parameters<typeof createIngestRecords>[0];

/** The function ingest-records, with queues that keep what it sends. @param replacement used in place of the dependencies for tests */
export function feedOver(table: Table, now: () => number = Date.now, replacement?: FeedDeps) {
  const deps = testDeps(table);
  const refused: Refusal[] = [];
  const delays: Delay[] = [];
  const handler = createIngestRecords(replacement ?? deps, {
    refuse: async (refusals) => void refused.push(...refusals),
    delay: async (delayed) => void delays.push(...delayed),
  });
  /** @param remainingMs until the function's time-out */
  const deliver = (bodies: readonly string[], receives = 1, remainingMs = 60_000) =>
    handler(
      {
        Records: bodies.map((body) => ({
          messageId: randomUUID(),
          receiptHandle: `receipt of ${body.slice(0, 20)}`,
          body,
          attributes: { SentTimestamp: String(now()), ApproximateReceiveCount: String(receives) },
        })),
      } as unknown as SQSEvent,
      { getRemainingTimeInMillis: () => remainingMs },
    );
  return {
    refused,
    delays,
    deps,
    deliver,
    /** Delivers one message with these records. */
    send: (...records: object[]) => deliver([records.map((record) => stringifyJson(record)).join('\n')]),
  };
}
