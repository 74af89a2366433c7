/** The feed's queues, of a deployed stack or of `npm start`. */

import { type Message, SQS } from '@aws-sdk/client-sqs';
import { LOCAL_CREDENTIALS, MAX_BATCH } from '../../../lib/aws/sqs.ts';
import { chunksOf } from '../../../lib/shared/concurrency.ts';
import { clientConfig } from '../aws/client-config.ts';
import { isLoopback } from '../local-service/loopback.ts';

/** Names of the stack outputs that contain the URLs of the feed's queues. */
export const QUEUE_OUTPUTS = {
  ingest: 'FeedUrl',
  refused: 'FeedRefusedUrl',
} as const;
export type QueueName = keyof typeof QUEUE_OUTPUTS;

/** Seconds for which {@link IngestQueues.peekRefused} hides messages: longer than reading a queue takes. */
const PEEK_SECONDS = 30;
/** Seconds for which {@link IngestQueues.dropRefused} hides messages: it ends when it meets one again. */
const DROP_SECONDS = 300;
const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;

export type IngestQueues = ReturnType<typeof createIngest>;

/**
 * The feed, if the outputs have the URLs of all its queues.
 * @param region of the queues on AWS
 */
export function connectIngestQueues(
  outputs: ReadonlyMap<string, string>,
  region: string | undefined,
): { ingestQueues?: IngestQueues } {
  const [ingest, refused] = Object.values(QUEUE_OUTPUTS).map((name) => outputs.get(name));
  return ingest && refused ? { ingestQueues: createIngest({ ingest, refused }, region) } : {};
}

function createIngest(urls: Readonly<Record<QueueName, string>>, region: string | undefined) {
  const { hostname, origin } = new URL(urls.ingest);
  const isLocal = isLoopback(hostname);
  // `npm start` checks no credentials, but the client needs some.
  const local = { endpoint: origin, region: 'local', credentials: LOCAL_CREDENTIALS };
  const sqs = new SQS(isLocal ? local : clientConfig(region));

  /** Makes received messages visible again. */
  async function show(QueueUrl: string, messages: readonly Message[]): Promise<void> {
    for (const batch of chunksOf(messages, MAX_BATCH)) {
      const Entries = batch.map(({ ReceiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout: 0,
      }));
      await sqs.changeMessageVisibilityBatch({ QueueUrl, Entries });
    }
  }

  return {
    count: (queue: QueueName) => countMessages(sqs, urls[queue]),
    /**
     * Deletes messages from the queue of refused records.
     * @param isDropped gets the body and the group of a message
     * @returns how many were deleted
     */
    async dropRefused(isDropped: (body: string, group: string | undefined) => boolean, signal: AbortSignal) {
      const QueueUrl = urls.refused;
      const left = new Map<string, Message>();
      let dropped = 0;
      try {
        for (;;) {
          signal.throwIfAborted();
          const { Messages = [] } = await sqs.receiveMessage({
            QueueUrl,
            MaxNumberOfMessages: MAX_BATCH,
            VisibilityTimeout: DROP_SECONDS,
            MessageSystemAttributeNames: ['MessageGroupId'],
            WaitTimeSeconds: 1, // otherwise SQS asks only some of its servers
          });
          const { true: unwanted = [], false: others = [] } = Object.groupBy(
            Messages,
            ({ Body = '', Attributes }) => `${isDropped(Body, Attributes?.MessageGroupId)}` as const,
          );
          if (unwanted.length === 0 && others.every(({ MessageId = '' }) => left.has(MessageId))) return dropped;
          for (const message of others) left.set(message.MessageId ?? '', message);
          if (unwanted.length === 0) continue;
          const Entries = unwanted.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
          const { Failed = [] } = await sqs.deleteMessageBatch({ QueueUrl, Entries });
          if (Failed.length > 0) throw new Error(`SQS did not delete ${Failed.length} messages (${Failed[0]?.Code})`);
          dropped += unwanted.length;
        }
      } finally {
        await show(QueueUrl, [...left.values()]);
      }
    },
    /** Reads up to `limit` refusals, and returns them to their queue. */
    async peekRefused(limit: number): Promise<Refusal[]> {
      const QueueUrl = urls.refused;
      const found: Message[] = [];
      while (found.length < limit) {
        const { Messages = [] } = await sqs.receiveMessage({
          QueueUrl,
          MaxNumberOfMessages: MAX_BATCH,
          VisibilityTimeout: PEEK_SECONDS,
          MessageSystemAttributeNames: ['SentTimestamp', 'DeadLetterQueueSourceArn'],
          MessageAttributeNames: ['All'],
          WaitTimeSeconds: 1, // otherwise SQS asks only some of its servers
        });
        if (Messages.length === 0) break;
        found.push(...Messages);
      }
      await show(QueueUrl, found);
      return found.slice(0, limit).map(refusalOf);
    },
  };
}

/** What the queue of refused records has: a line of a message, or a message that was refused as a whole or failed for too long. */
interface Refusal {
  reason: string;
  message_id: string;
  sent_at_ms: number;
  line?: number;
  /** The beginning of the line or message. */
  record: string;
}

function refusalOf({ Body = '', MessageId = '', Attributes = {}, MessageAttributes = {} }: Message): Refusal {
  const textOf = (name: string) => MessageAttributes[name]?.StringValue;
  const [reason, line, record] = [textOf('reason'), textOf('line'), Body.slice(0, MAX_SHOWN)];
  // SQS moved the message, whose attributes are of its sender.
  const isGivenUp = reason === undefined || Attributes.DeadLetterQueueSourceArn !== undefined;
  if (isGivenUp)
    return { reason: GIVEN_UP, message_id: MessageId, sent_at_ms: Number(Attributes.SentTimestamp), record };
  return {
    reason,
    message_id: textOf('message_id') ?? MessageId,
    sent_at_ms: Number(textOf('sent_at_ms')) || Number(Attributes.SentTimestamp),
    ...(line !== undefined && { line: Number(line) }),
    record,
  };
}
const GIVEN_UP = 'failed for too long';
/** Maximum characters of a record that are shown. */
const MAX_SHOWN = 1_000;

/** Approximate number of visible and in-flight messages of a queue. */
export async function countMessages(sqs: SQS, QueueUrl: string) {
  const { Attributes = {} } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: [...COUNTS] });
  const [waiting, underWay] = COUNTS.map((name) => Number(Attributes[name] ?? 0)) as [number, number];
  return { waiting, underWay };
}
