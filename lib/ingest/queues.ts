/** The ingest queue and the queue of refused records. */
import { ChangeMessageVisibilityBatchCommand } from '@aws-sdk/client-sqs';
import { optionsOf } from '../aws/http-handler.ts';
import { createSqsClient, MAX_BATCH, type QueueMessage, sendMessages } from '../aws/sqs.ts';
import { ApiError } from '../http/errors.ts';
import { batchesOf, chunksOf, forEach } from '../shared/concurrency.ts';
import type { Log } from '../shared/log.ts';
import { messageOfRefusedCall, type RefusedCall, type Sender } from './refusals.ts';

/** What ingest-records does with its queues. */
export interface Queues {
  /** Sends refusals to their queue. @returns for each, in the same order, whether the queue took it */
  refuse(refusals: readonly QueueMessage[], signal: AbortSignal): Promise<boolean[]>;
  /** Sets when failed messages of the ingest queue are received again. Throws if a call fails. */
  delay(delays: readonly { receiptHandle: string; seconds: number }[], signal: AbortSignal): Promise<void>;
}

/** On a laptop a queue's address is HTTP. */
const clientFor = (url: string) =>
  createSqsClient(url.startsWith('http:') ? { endpoint: new URL(url).origin, region: 'local' } : {});

export function connectQueues(ingestUrl: string, refusedUrl: string): Queues {
  const client = clientFor(refusedUrl);
  return {
    refuse: (refusals, signal) => sendMessages(client, refusedUrl, refusals, signal),
    delay: (delays, signal) =>
      forEach(chunksOf(delays, MAX_BATCH), (batch) => {
        const Entries = batch.map(({ receiptHandle: ReceiptHandle, seconds: VisibilityTimeout }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout,
        }));
        return client.send(
          new ChangeMessageVisibilityBatchCommand({ QueueUrl: ingestUrl, Entries }),
          optionsOf(signal),
        );
      }),
  };
}

/** Maximum number of records of a message of the ingest queue. */
export const MAX_RECORDS = 1_000;

/**
 * The ingest queue, and the queue of refused records, for operations. A line holds no character that SQS refuses. Both methods throw
 * `ServiceUnavailable` if SQS does not take all of it.
 */
export interface IngestQueue {
  send(lines: readonly string[], sender: Sender): Promise<void>;
  /** Keeps it where an operator sees it, in one message. A redrive makes no record of it, whatever it says. */
  refuse(call: RefusedCall, sender: Sender): Promise<void>;
}

/** Maximum bytes of a message: 16 KiB below SQS's limit, so that it fits into the queue of refused records, with a reason. */
export const MAX_MESSAGE_BYTES = (1024 - 16) * 1024;
const RETRY_SECONDS = '1';

/** The bodies of as few messages as hold these lines. */
export const messagesOf = (lines: readonly string[]): string[] =>
  batchesOf(lines, (line) => Buffer.byteLength(line) + 1, { maxItems: MAX_RECORDS, maxSize: MAX_MESSAGE_BYTES }).map(
    (batch) => batch.join('\n'),
  );

export function connectIngestQueue({ log }: { log: Log }, ingestUrl: string, refusedUrl: string): IngestQueue {
  const client = clientFor(ingestUrl);

  async function sendAll(url: string, messages: QueueMessage[], { requestId, signal }: Sender): Promise<void> {
    const taken = await sendMessages(client, url, messages, signal);
    if (taken.every(Boolean)) return;
    log.warn('the feed did not take records', { request_id: requestId });
    throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': RETRY_SECONDS });
  }

  return {
    send(lines, sender) {
      const MessageGroupId = String(sender.accountId);
      const messages = messagesOf(lines).map((MessageBody) => ({ MessageBody, MessageGroupId }));
      return sendAll(ingestUrl, messages, sender);
    },
    refuse: (call, sender) => sendAll(refusedUrl, [messageOfRefusedCall(call, sender)], sender),
  };
}
