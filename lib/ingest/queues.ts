import { ChangeMessageVisibilityBatchCommand, type MessageAttributeValue } from '@aws-sdk/client-sqs';
import { chunksOf, forEach } from '../shared/concurrency.ts';
import { createSqsClient, MAX_BATCH, type QueueMessage, sendMessages, sqsText } from '../shared/sqs.ts';
import { optionsOf } from '../table/client.ts';
import type { Origin } from './order.ts';

/** What ingest-records does with its queues. */
export interface Queues {
  /** Sends refusals to their queue. @returns for each, in the same order, whether the queue took it */
  refuse(refusals: readonly QueueMessage[], signal: AbortSignal): Promise<boolean[]>;
  /** Sets when failed messages of the ingest queue are received again. Throws if a call fails. */
  delay(delays: readonly { receiptHandle: string; seconds: number }[], signal: AbortSignal): Promise<void>;
}

export function connectQueues(feedUrl: string, refusedUrl: string): Queues {
  const isLocal = refusedUrl.startsWith('http:');
  const client = createSqsClient(isLocal ? { endpoint: new URL(refusedUrl).origin, region: 'local' } : {});
  return {
    refuse: (refusals, signal) => sendMessages(client, refusedUrl, refusals, signal),
    delay: (delays, signal) =>
      forEach(chunksOf(delays, MAX_BATCH), (batch) => {
        const Entries = batch.map(({ receiptHandle: ReceiptHandle, seconds: VisibilityTimeout }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout,
        }));
        return client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: feedUrl, Entries }), optionsOf(signal));
      }),
  };
}

/** Maximum number of records of a message of the ingest queue. */
export const MAX_RECORDS = 1_000;

/** The message that a refused text is from. */
export type MessageOrigin = Omit<Origin, 'line'> & { readonly group: string | undefined };

/** Maximum bytes of a reason. With it, the largest message of the ingest queue stays below SQS's limit. */
const MAX_REASON_BYTES = 4_096;

/**
 * The message for the queue of refused records. Its body is the text as it came, so that SQS's redrive sends that again.
 * @param text a line of a message, or a whole message
 * @param origin without a line if the whole message is refused
 */
export function refusalOf(
  text: string,
  reason: string,
  { messageId, sentMs, group, line }: MessageOrigin & { line?: number },
): QueueMessage {
  const shown = sqsText(reason);
  const { read } = new TextEncoder().encodeInto(shown, new Uint8Array(MAX_REASON_BYTES));
  const attribute = (DataType: string, value: string | number): MessageAttributeValue => ({
    DataType,
    StringValue: String(value),
  });
  return {
    MessageBody: text,
    MessageGroupId: group,
    MessageAttributes: {
      reason: attribute('String', shown.slice(0, read)),
      message_id: attribute('String', messageId),
      sent_at_ms: attribute('Number', sentMs),
      ...(line !== undefined && { line: attribute('Number', line) }),
    },
  };
}
