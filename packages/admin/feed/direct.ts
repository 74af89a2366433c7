/** A feed for a table whose queues are unknown: it writes records to the table as the feed's function does. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSEvent } from 'aws-lambda';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { createIngestRecords } from '../../../lib/ingest/ingest.ts';
import { SILENT } from '../silent.ts';
import type { FeedMessage } from './messages.ts';

const TIMEOUT_MS = 60_000;
const RETRY_MS = 1_000;

/** @throws Error if a record is refused */
export function createDirectFeed(table: Table, now: () => number) {
  const ingest = createIngestRecords(
    { table, ...SILENT },
    {
      refuse: async ([refusal]) => {
        if (refusal) throw new Error(`a record is refused: ${refusal.reason}`);
      },
      delay: async () => {},
    },
  );
  return {
    async send(messages: readonly FeedMessage[]): Promise<void> {
      const attributes = { SentTimestamp: String(now()), ApproximateReceiveCount: '1' };
      let unwritten = messages.map(({ body }) => ({ messageId: randomUUID(), receiptHandle: '', body, attributes }));
      for (;;) {
        const event = { Records: unwritten } as unknown as SQSEvent; // the other fields of a message are not read
        const { batchItemFailures } = await ingest(event, { getRemainingTimeInMillis: () => TIMEOUT_MS });
        const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        unwritten = unwritten.filter(({ messageId }) => failed.has(messageId));
        if (unwritten.length === 0) return;
        await sleep(RETRY_MS, undefined, table.signal && { signal: table.signal });
      }
    },
  };
}
