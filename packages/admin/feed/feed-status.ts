/** The state of the feed: how many messages wait, were refused or given up, and CloudWatch's metrics. */
import type { Feed, FeedQueue, Metrics } from './queues.ts';

export interface FeedStatus extends Metrics {
  readonly queues: Readonly<Record<FeedQueue, { waiting: number; underWay: number }>>;
}

export async function readFeedStatus(feed: Feed, nowMs: number): Promise<FeedStatus> {
  const [waiting, refused, deadLetters, metrics] = await Promise.all([
    feed.count('feed'),
    feed.count('refused'),
    feed.count('deadLetters'),
    feed.metrics(nowMs),
  ]);
  return { queues: { feed: waiting, refused, deadLetters }, ...metrics };
}

export const QUEUE_NAMES: Readonly<Record<FeedQueue, string>> = {
  feed: 'feed',
  refused: 'refused records',
  deadLetters: 'dead letters',
};

/** Names and values of CloudWatch's metrics. */
export function metricsText({ rate, oldestSeconds }: Metrics): [name: string, value: string][] {
  const withUnit = (value: number | undefined, unit: string) =>
    value === undefined
      ? 'unknown: only a deployed stack has it, in CloudWatch'
      : `${Number(value.toFixed(2))} ${unit}`;
  return [
    ['rate, of the last five minutes', withUnit(rate, 'messages a second')],
    ['oldest message', withUnit(oldestSeconds, 'seconds')],
  ];
}
