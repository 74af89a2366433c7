import { ChangeMessageVisibilityBatchCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { chunksOf, forEach } from '../shared/concurrency.ts';
import { createSqsClient, MAX_BATCH, MAX_BATCH_BYTES, messageBatches, messageText } from '../shared/sqs.ts';

/** A message of the queue of refused records. */
export interface Refusal {
  reason: string;
  /** Id of the message that contained the record. */
  message_id: string;
  sent_at_ms: number;
  /** The record's line in the message, from 1; absent if the whole message is refused. */
  line?: number;
  /** The record as received. */
  record: string;
  /** Present if only the beginnings of `reason` and `record` are sent, since the whole would be too large for a message. */
  cut?: true;
}

/** When a failed message is received again. */
export interface Delay {
  receiptHandle: string;
  seconds: number;
}

/** What ingest-records does with its queues. */
export interface Queues {
  /** Sends refused records to their queue. */
  refuse(refusals: readonly Refusal[]): Promise<void>;
  /** Sets when failed messages of the ingest queue are received again. */
  delay(delays: readonly Delay[]): Promise<void>;
}

/**
 * Maximum characters of `reason` and `record` if both are cut: the beginning is enough to find a record at its source. A character takes
 * at most six bytes in JSON.
 */
const MAX_CUT_LENGTH = MAX_BATCH_BYTES / 12 - 1_000;

/** Connects to the queues. Both methods throw if a call fails, and `refuse` also if SQS does not accept all messages. */
export function connectQueues(feedUrl: string, refusedUrl: string): Queues {
  const isLocal = refusedUrl.startsWith('http:');
  const client = createSqsClient(isLocal ? { endpoint: new URL(refusedUrl).origin, region: 'local' } : {});

  return {
    async refuse(refusals) {
      // Concurrently, since a batch of messages can have a hundred thousand refused lines.
      await forEach(messageBatches(refusals.map(bodyOf)), async (Entries) => {
        const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: refusedUrl, Entries }));
        if (Failed.length > 0) throw new Error(`SQS did not take refused records: ${Failed[0]?.Code}`);
      });
    },
    async delay(delays) {
      for (const batch of chunksOf(delays, MAX_BATCH)) {
        const Entries = batch.map(({ receiptHandle: ReceiptHandle, seconds: VisibilityTimeout }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout,
        }));
        await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: feedUrl, Entries }));
      }
    },
  };
}

function bodyOf(refusal: Refusal): string {
  const body = messageText(refusal);
  if (Buffer.byteLength(body) <= MAX_BATCH_BYTES) return body;
  const [reason, record] = [refusal.reason, refusal.record].map((text) => text.slice(0, MAX_CUT_LENGTH));
  return messageText({ ...refusal, reason, record, cut: true });
}
