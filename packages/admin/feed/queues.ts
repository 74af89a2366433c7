/** The feed's queues, of a deployed stack or of `npm start`, through SQS's client. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import { chunksOf } from '../../../lib/shared/chunks.ts';
import type { FeedMessage } from './messages.ts';
import type { Metrics } from './metrics.ts';

/** The outputs of a stack that have the URLs of the feed's queues. */
export const FEED_OUTPUTS = {
  feed: 'FeedUrl',
  refused: 'FeedRefusedUrl',
  deadLetters: 'FeedDeadLettersUrl',
} as const;
export type FeedQueue = keyof typeof FEED_OUTPUTS;

/** Messages of {@link messagesOf} in one call: so many fit into 256 KB, the limit of a batch until 2025. */
const BATCH = 4;
const LOOK_EVERY_MS = 250;
const MAX_SETTLING_MS = 30_000;
/** SQS's maximum for one call. */
const MAX_BATCH = 10;
const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;

/** Approximate number of visible and in-flight messages of a queue. */
export async function countMessages(client: SQSClient, QueueUrl: string) {
  const { GetQueueAttributesCommand } = await import('@aws-sdk/client-sqs');
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...COUNTS] });
  const { Attributes = {} } = await client.send(command);
  const [waiting, underWay] = COUNTS.map((name) => Number(Attributes[name] ?? 0)) as [number, number];
  return { waiting, underWay };
}

export type Feed = ReturnType<typeof createFeed>;

/**
 * @param client is asked when it is needed: loading it takes a while
 * @param metrics what CloudWatch has of the queue; nothing where there is no CloudWatch
 */
export function createFeed(
  urls: Readonly<Record<FeedQueue, string>>,
  client: () => Promise<SQSClient>,
  metrics: (nowMs: number) => Promise<Metrics>,
) {
  const sqs = () => import('@aws-sdk/client-sqs');

  async function send(messages: readonly FeedMessage[]): Promise<void> {
    const { SendMessageBatchCommand } = await sqs();
    for (const batch of chunksOf(messages, BATCH)) {
      const Entries = batch.map(({ body, group }, index) => ({
        ...{ Id: String(index), MessageBody: body },
        ...(group !== undefined && { MessageGroupId: group }),
      }));
      const { Failed = [] } = await (await client()).send(
        new SendMessageBatchCommand({ QueueUrl: urls.feed, Entries }),
      );
      if (Failed[0]) throw new Error(`SQS does not take a message: ${Failed[0].Code}: ${Failed[0].Message}`);
    }
  }

  const count = async (queue: FeedQueue) => countMessages(await client(), urls[queue]);

  return {
    send,
    metrics,
    count,
    /** Waits for the feed to be empty, for a limited time, since others may keep sending. */
    async settled(signal: AbortSignal): Promise<void> {
      for (let left = MAX_SETTLING_MS; left > 0; left -= LOOK_EVERY_MS) {
        const { waiting, underWay } = await count('feed');
        if (waiting + underWay === 0) return;
        await sleep(LOOK_EVERY_MS, undefined, { signal });
      }
    },
    /**
     * Reads messages, ten at once, until there are no more; nobody else receives them meanwhile.
     * @param holdSeconds until the queue has them again, unless they are removed
     */
    async *receive(queue: FeedQueue, holdSeconds: number): AsyncGenerator<Message[]> {
      const { ReceiveMessageCommand } = await sqs();
      for (;;) {
        const { Messages = [] } = await (await client()).send(
          new ReceiveMessageCommand({
            QueueUrl: urls[queue],
            MaxNumberOfMessages: MAX_BATCH,
            VisibilityTimeout: holdSeconds,
            WaitTimeSeconds: 1, // otherwise SQS asks only some of its servers
            AttributeNames: ['All'],
          }),
        );
        if (Messages.length === 0) return;
        yield Messages;
      }
    },
    /** Returns messages to their queue, where they can be received at once. */
    async release(queue: FeedQueue, messages: readonly Message[]): Promise<void> {
      const { ChangeMessageVisibilityBatchCommand } = await sqs();
      for (const some of chunksOf(messages, MAX_BATCH)) {
        const Entries = some.map(({ ReceiptHandle }, index) => ({
          ...{ Id: String(index), ReceiptHandle, VisibilityTimeout: 0 },
        }));
        await (await client()).send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: urls[queue], Entries }));
      }
    },
    async remove(queue: FeedQueue, { ReceiptHandle }: Message): Promise<void> {
      const { DeleteMessageCommand } = await sqs();
      await (await client()).send(new DeleteMessageCommand({ QueueUrl: urls[queue], ReceiptHandle }));
    },
  };
}
