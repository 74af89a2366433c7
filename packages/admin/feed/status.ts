/** How the feed does: what waits, what was refused and why, what was given up. */
import type { Message } from '@aws-sdk/client-sqs';
import type { Refusal } from '../../../lib/ingest/refused-queue.ts';
import { parseJson } from '../../../lib/shared/json.ts';
import type { Feed, FeedQueue } from './queues.ts';

/** Longer than a look at a queue takes. */
const HOLD_SECONDS = 30;
const PERIOD_SECONDS = 300;

export interface FeedStatus {
  readonly queues: Readonly<Record<FeedQueue, { waiting: number; underWay: number }>>;
  /** Messages a second, and the age of the oldest one in seconds; undefined: only CloudWatch tells. */
  readonly rate: number | undefined;
  readonly oldestSeconds: number | undefined;
}

export async function readFeedStatus(feed: Feed, metrics: (() => Promise<Metrics>) | undefined): Promise<FeedStatus> {
  const [waiting, refused, deadLetters, { rate, oldestSeconds } = {}] = await Promise.all([
    feed.count('feed'),
    feed.count('refused'),
    feed.count('deadLetters'),
    metrics?.(),
  ]);
  return { queues: { feed: waiting, refused, deadLetters }, rate, oldestSeconds };
}

type Metrics = Partial<Pick<FeedStatus, 'rate' | 'oldestSeconds'>>;

/** What CloudWatch has of the queue's last five minutes: the rate, and the age at its highest. */
export async function readMetrics(queueUrl: string, region: string | undefined, nowMs: number): Promise<Metrics> {
  const { CloudWatchClient, GetMetricDataCommand } = await import('@aws-sdk/client-cloudwatch');
  const client = new CloudWatchClient({ ...(region && { region }) });
  const Dimensions = [{ Name: 'QueueName', Value: new URL(queueUrl).pathname.split('/').at(-1) }];
  const query = (Id: string, MetricName: string, Stat: string) => ({
    Id,
    MetricStat: { Metric: { Namespace: 'AWS/SQS', MetricName, Dimensions }, Period: PERIOD_SECONDS, Stat },
  });
  const { MetricDataResults = [] } = await client.send(
    new GetMetricDataCommand({
      StartTime: new Date(nowMs - 2 * PERIOD_SECONDS * 1_000),
      EndTime: new Date(nowMs),
      ScanBy: 'TimestampDescending',
      MetricDataQueries: [
        query('sent', 'NumberOfMessagesSent', 'Sum'),
        query('age', 'ApproximateAgeOfOldestMessage', 'Maximum'),
      ],
    }),
  );
  const [sent, age] = ['sent', 'age'].map((id) => MetricDataResults.find((one) => one.Id === id)?.Values?.[0]);
  return {
    ...(sent !== undefined && { rate: sent / PERIOD_SECONDS }),
    ...(age !== undefined && { oldestSeconds: age }),
  };
}

/** Messages of a queue, up to a number of them; they stay in it. */
export async function look(feed: Feed, queue: FeedQueue, most: number): Promise<Message[]> {
  const found: Message[] = [];
  for await (const messages of feed.receive(queue, HOLD_SECONDS)) {
    found.push(...messages);
    if (found.length >= most) break;
  }
  await feed.release(queue, found);
  return found.slice(0, most);
}

/** What a message of the queue of refused records says. */
export const refusalOf = ({ Body = '' }: Message): Refusal => parseJson(Body) as Refusal;
