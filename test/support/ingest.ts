import { randomUUID } from 'node:crypto';
import type { SQSEvent } from 'aws-lambda';
import type { QueueMessage } from '../../lib/aws/sqs.ts';
import { ApiError } from '../../lib/http/errors.ts';
import { createIngestRecords } from '../../lib/ingest/ingest.ts';
import { reasonOf } from '../../lib/ingest/problems.ts';
import type { IngestQueue } from '../../lib/ingest/queues.ts';
import type { IngestRecord } from '../../lib/ingest/records.ts';
import { recordOf } from '../../lib/ingest/records.ts';
import { messageOfRefusedCall } from '../../lib/ingest/refusals.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import type { RecordCounts } from '../../lib/shared/log.ts';
import type { Table } from '../../lib/table/client.ts';
import { testDeps } from './service.ts';

/** The record of a line. @param origin its message and its place there: by default the first */
export function recordFrom(fields: object, sentMs = Date.now(), origin = { messageId: 'm', line: 1 }): IngestRecord {
  const line = stringifyJson(fields);
  const found = recordOf(line, { sentMs, ...origin });
  if (!('record' in found)) throw new Error(`${reasonOf(found.problems)}: ${line}`);
  return found.record;
}

type IngestDeps = Parameters<typeof createIngestRecords>[0];

interface ShownRefusal {
  body: string;
  group?: string | undefined;
  reason?: string;
  message_id?: string;
  sent_at_ms?: string;
  line?: string;
}

/** A message of the queue of refused records: its body, its group, and the text of each attribute. */
const shownRefusal = ({ MessageBody, MessageGroupId, MessageAttributes = {} }: QueueMessage): ShownRefusal => ({
  body: MessageBody,
  group: MessageGroupId,
  ...Object.fromEntries(Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue])),
});

/** The queue of what is sent over HTTPS, which keeps what it gets. @param failing the function that fails */
export function keepingQueue(failing?: keyof IngestQueue) {
  const sent: string[] = [];
  const refused: ShownRefusal[] = [];
  const failIf = (name: keyof IngestQueue) => {
    if (name === failing) throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': '1' });
  };
  const ingestQueue: IngestQueue = {
    async send(lines) {
      failIf('send');
      sent.push(...lines);
    },
    async refuse(unread, sender) {
      failIf('refuse');
      refused.push(shownRefusal(messageOfRefusedCall(unread, sender)));
    },
  };
  return { sent, refused, ingestQueue };
}

/** The function ingest-records, with queues that keep what it sends. @param replacement used in place of the dependencies for tests */
export function ingestOver(table: Table, now: () => number = Date.now, replacement?: Partial<IngestDeps>) {
  const deps = testDeps(table, { now });
  const sum = (name: keyof RecordCounts) =>
    deps.metrics.recordCounts.reduce((total, counts) => total + counts[name], 0);
  const refused: ShownRefusal[] = [];
  const delays: { receiptHandle: string; seconds: number }[] = [];
  let isTaken = (_body: string) => true;
  const handler = createIngestRecords(
    { ...deps, ...replacement },
    {
      async refuse(refusals) {
        refused.push(...refusals.filter(({ MessageBody }) => isTaken(MessageBody)).map(shownRefusal));
        return refusals.map(({ MessageBody }) => isTaken(MessageBody));
      },
      delay: async (delayed) => void delays.push(...delayed),
    },
  );
  /** @param remainingMs until the function's time-out @param group that of the messages */
  const deliver = (bodies: readonly string[], receives = 1, remainingMs = 60_000, group: unknown = 'g') =>
    handler(
      {
        Records: bodies.map((body) => ({
          messageId: randomUUID(),
          receiptHandle: `receipt of ${body.slice(0, 20)}`,
          body,
          attributes: {
            SentTimestamp: String(now()),
            ApproximateReceiveCount: String(receives),
            MessageGroupId: String(group),
          },
        })),
      } as unknown as SQSEvent,
      { getRemainingTimeInMillis: () => remainingMs },
    );
  return {
    refused,
    delays,
    deps,
    /** What was counted so far. */
    counts: () => ({ records: sum('records'), late: sum('late'), refused: sum('refused'), failed: sum('failed') }),
    /** From now on, the queue of refused records takes only these bodies. */
    refuseOnly: (isAccepted: (body: string) => boolean) => {
      isTaken = isAccepted;
    },
    deliver,
    /** Delivers one message with these records. */
    send: (...records: object[]) => deliver([records.map((record) => stringifyJson(record)).join('\n')]),
  };
}
