/** How the feed does: what waits, what was refused and why, what was given up. */
import type { Message } from '@aws-sdk/client-sqs';
import { parseJson } from '../../../lib/shared/json.ts';
import type { Feed, FeedQueue } from './queues.ts';

/** As long as a look at the queue takes. */
const HOLD_SECONDS = 5;
const PERIOD_SECONDS = 300;

/** A line that was refused, as the feed tells it. */
export interface RefusedRecord {
  readonly reason: string;
  readonly message_id: string;
  readonly line: string;
  /** When its message was sent. */
  readonly sent_at_ms: number;
}

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

/** The records that were refused, up to a number of them; they stay in their queue. */
export async function readRefused(feed: Feed, limit: number): Promise<RefusedRecord[]> {
  const found: RefusedRecord[] = [];
  for await (const messages of feed.receive('refused', HOLD_SECONDS)) {
    found.push(...messages.map(refusedOf));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

export function refusedOf(message: Message): RefusedRecord {
  const { Body = '' } = message;
  const fields = parseJson(Body) as Partial<RefusedRecord>;
  return {
    reason: String(fields.reason),
    message_id: String(fields.message_id),
    line: String(fields.line ?? ''),
    sent_at_ms: Number(fields.sent_at_ms ?? message.Attributes?.SentTimestamp),
  };
}
