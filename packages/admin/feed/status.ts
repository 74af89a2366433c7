/** The state of the feed: waiting messages, refused records with the reasons, and messages that were given up. */
import type { Message } from '@aws-sdk/client-sqs';
import type { Refusal } from '../../../lib/ingest/queues.ts';
import { parseJson } from '../../../lib/shared/json.ts';
import type { Metrics } from './metrics.ts';
import type { Feed, FeedQueue } from './queues.ts';

/** Longer than reading a queue takes. */
const HOLD_SECONDS = 30;

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
  const known = (value: number | undefined, unit: string) =>
    value === undefined ? 'unknown: CloudWatch has it, for a deployed stack' : `${Number(value.toFixed(2))} ${unit}`;
  return [
    ['rate, of the last five minutes', known(rate, 'messages a second')],
    ['oldest message', known(oldestSeconds, 'seconds')],
  ];
}

/** Messages of a queue, up to a number of them; they stay in it. */
export async function look(feed: Feed, queue: FeedQueue, most: number): Promise<Message[]> {
  const found = await take(feed, queue, most, HOLD_SECONDS);
  await feed.release(queue, found);
  return found.slice(0, most);
}

/** Receives messages until there are `most` or a few more, which nobody else receives for so many seconds. */
export async function take(feed: Feed, queue: FeedQueue, most: number, holdSeconds: number): Promise<Message[]> {
  const taken: Message[] = [];
  for await (const messages of feed.receive(queue, holdSeconds)) {
    taken.push(...messages);
    if (taken.length >= most) break;
  }
  return taken;
}

/** The content of a message in the queue of refused records. */
export const refusalOf = ({ Body = '' }: Message): Refusal => parseJson(Body) as Refusal;
