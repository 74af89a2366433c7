/** The feed's queues, of a deployed stack or of `npm start`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { type Message, SQS } from '@aws-sdk/client-sqs';
import { chunksOf } from '../../../lib/shared/chunks.ts';
import { LOCAL_CREDENTIALS, MAX_BATCH } from '../../../lib/shared/sqs.ts';
import { clientConfig } from '../aws/client-config.ts';
import { isLoopback } from '../local-service/loopback.ts';
import type { FeedMessage } from './messages.ts';

/** Names of the stack outputs that contain the URLs of the feed's queues. */
export const FEED_OUTPUTS = {
  feed: 'FeedUrl',
  refused: 'FeedRefusedUrl',
  deadLetters: 'FeedDeadLettersUrl',
} as const;
export type FeedQueue = keyof typeof FEED_OUTPUTS;

/** Messages of {@link messagesOf} in one call: four fit into 256 KB, which was the limit of a batch until 2025. */
const MESSAGES_IN_BATCH = 4;
const POLL_MS = 250;
const MAX_WAIT_MS = 30_000;
/** Seconds for which {@link Feed.peek} hides messages: longer than reading a queue takes. */
const PEEK_SECONDS = 30;
const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
const PERIOD_SECONDS = 300;

export interface Metrics {
  /** Messages a second; absent: not known. */
  readonly rate?: number;
  /** Maximum age of the oldest message. */
  readonly oldestSeconds?: number;
}

export type Feed = ReturnType<typeof createFeed>;

/**
 * The feed, if the outputs have the URLs of all its queues.
 * @param region of the queues on AWS
 */
export function connectFeed(outputs: ReadonlyMap<string, string>, region: string | undefined): { feed?: Feed } {
  const [feed, refused, deadLetters] = Object.values(FEED_OUTPUTS).map((name) => outputs.get(name));
  return feed && refused && deadLetters ? { feed: createFeed({ feed, refused, deadLetters }, region) } : {};
}

function createFeed(urls: Readonly<Record<FeedQueue, string>>, region: string | undefined) {
  const { hostname, origin } = new URL(urls.feed);
  const isLocal = isLoopback(hostname);
  // `npm start` checks no credentials, but the client needs some.
  const local = { endpoint: origin, region: 'local', credentials: LOCAL_CREDENTIALS };
  const sqs = new SQS(isLocal ? local : clientConfig(region));
  const count = (queue: FeedQueue) => countMessages(sqs, urls[queue]);

  /**
   * Receives messages until there are `limit` or a few more, or none is left.
   * @param holdSeconds time until others can receive them, unless they are removed
   */
  async function take(queue: FeedQueue, limit: number, holdSeconds: number): Promise<Message[]> {
    const taken: Message[] = [];
    while (taken.length < limit) {
      const { Messages = [] } = await sqs.receiveMessage({
        QueueUrl: urls[queue],
        MaxNumberOfMessages: MAX_BATCH,
        VisibilityTimeout: holdSeconds,
        WaitTimeSeconds: 1, // otherwise SQS asks only some of its servers
        AttributeNames: ['All'],
      });
      if (Messages.length === 0) break;
      taken.push(...Messages);
    }
    return taken;
  }

  return {
    count,
    take,
    /** CloudWatch's metrics of the last five minutes; empty for `npm start`, which has no CloudWatch. */
    metrics: async (nowMs: number): Promise<Metrics> => (isLocal ? {} : readMetrics(urls.feed, region, nowMs)),
    async send(messages: readonly FeedMessage[]): Promise<void> {
      for (const batch of chunksOf(messages, MESSAGES_IN_BATCH)) {
        const Entries = batch.map(({ body, group }, index) => ({
          Id: String(index),
          MessageBody: body,
          ...(group !== undefined && { MessageGroupId: group }),
        }));
        const { Failed = [] } = await sqs.sendMessageBatch({ QueueUrl: urls.feed, Entries });
        if (Failed[0]) throw new Error(`SQS does not take a message: ${Failed[0].Code}: ${Failed[0].Message}`);
      }
    },
    /** Waits until the feed is empty, but only for a limited time, since others may keep sending. */
    async waitUntilEmpty(signal: AbortSignal): Promise<void> {
      for (let leftMs = MAX_WAIT_MS; leftMs > 0; leftMs -= POLL_MS) {
        const { waiting, underWay } = await count('feed');
        if (waiting + underWay === 0) return;
        await sleep(POLL_MS, undefined, { signal });
      }
    },
    /** Reads up to `limit` messages, and returns them to their queue. */
    async peek(queue: FeedQueue, limit: number): Promise<Message[]> {
      const found = await take(queue, limit, PEEK_SECONDS);
      for (const batch of chunksOf(found, MAX_BATCH)) {
        const Entries = batch.map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout: 0,
        }));
        await sqs.changeMessageVisibilityBatch({ QueueUrl: urls[queue], Entries });
      }
      return found.slice(0, limit);
    },
    async remove(queue: FeedQueue, { ReceiptHandle }: Message): Promise<void> {
      await sqs.deleteMessage({ QueueUrl: urls[queue], ReceiptHandle });
    },
  };
}

/** Approximate number of visible and in-flight messages of a queue. */
export async function countMessages(sqs: SQS, QueueUrl: string) {
  const { Attributes = {} } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: [...COUNTS] });
  const [waiting, underWay] = COUNTS.map((name) => Number(Attributes[name] ?? 0)) as [number, number];
  return { waiting, underWay };
}

/** Reads a queue's metrics of the last five minutes from CloudWatch. */
export async function readMetrics(queueUrl: string, region: string | undefined, nowMs: number): Promise<Metrics> {
  const Dimensions = [{ Name: 'QueueName', Value: new URL(queueUrl).pathname.split('/').at(-1) }];
  const query = (Id: string, MetricName: string, Stat: string) => ({
    Id,
    MetricStat: { Metric: { Namespace: 'AWS/SQS', MetricName, Dimensions }, Period: PERIOD_SECONDS, Stat },
  });
  const { MetricDataResults = [] } = await new CloudWatch(clientConfig(region)).getMetricData({
    StartTime: new Date(nowMs - 2 * PERIOD_SECONDS * 1_000),
    EndTime: new Date(nowMs),
    ScanBy: 'TimestampDescending',
    MetricDataQueries: [
      query('sent', 'NumberOfMessagesSent', 'Sum'),
      query('age', 'ApproximateAgeOfOldestMessage', 'Maximum'),
    ],
  });
  const [sent, age] = ['sent', 'age'].map((id) => MetricDataResults.find((result) => result.Id === id)?.Values?.[0]);
  return {
    ...(sent !== undefined && { rate: sent / PERIOD_SECONDS }),
    ...(age !== undefined && { oldestSeconds: age }),
  };
}
