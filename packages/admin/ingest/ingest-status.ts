/** The state of the feed: how many messages wait, and how many were refused. */
import type { IngestQueues, QueueName } from './queues.ts';

export type IngestCounts = Readonly<Record<QueueName, { waiting: number; underWay: number }>>;

export async function readIngestStatus(ingestQueues: IngestQueues): Promise<IngestCounts> {
  const [waiting, refused] = await Promise.all([ingestQueues.count('ingest'), ingestQueues.count('refused')]);
  return { ingest: waiting, refused };
}

export const queueRows = ({ ingest, refused }: IngestCounts) => [
  { queue: 'feed', ...ingest },
  { queue: 'refused records', ...refused },
];
