/** The state of the feed: how many messages wait, and how many were refused. */
import type { Feed, FeedQueue } from './queues.ts';

export type FeedCounts = Readonly<Record<FeedQueue, { waiting: number; underWay: number }>>;

export async function readFeedStatus(feed: Feed): Promise<FeedCounts> {
  const [waiting, refused] = await Promise.all([feed.count('feed'), feed.count('refused')]);
  return { feed: waiting, refused };
}

export const QUEUE_NAMES: Readonly<Record<FeedQueue, string>> = {
  feed: 'feed',
  refused: 'refused records',
};
