/** The state of the feed: how many messages wait, were refused or given up. */
import type { Feed, FeedQueue } from './queues.ts';

export type FeedCounts = Readonly<Record<FeedQueue, { waiting: number; underWay: number }>>;

export async function readFeedStatus(feed: Feed): Promise<FeedCounts> {
  const [waiting, refused, deadLetters] = await Promise.all([
    feed.count('feed'),
    feed.count('refused'),
    feed.count('deadLetters'),
  ]);
  return { feed: waiting, refused, deadLetters };
}

export const QUEUE_NAMES: Readonly<Record<FeedQueue, string>> = {
  feed: 'feed',
  refused: 'refused records',
  deadLetters: 'dead letters',
};
