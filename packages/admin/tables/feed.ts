/** How operators see the feed's queues, and what was refused. */
import type { QueueCounts } from '../ingest/queues.ts';
import type { Refusal } from '../ingest/refusal.ts';
import type { Listing } from '../text/table.ts';

export const queueRows = ({ ingest, refused }: QueueCounts) => [
  { queue: 'feed', ...ingest },
  { queue: 'refused records', ...refused },
];

export const QUEUES: Listing<ReturnType<typeof queueRows>[number]> = {
  title: 'Messages',
  columns: [
    { title: 'queue', of: 'queue' },
    { title: 'waiting', of: 'waiting', as: 'count' },
    { title: 'under way', of: 'underWay', as: 'count' },
  ],
  none: '',
};

export const REFUSED: Listing<Refusal> = {
  title: 'Refused records',
  columns: [
    { title: 'sent', of: 'sent_at_ms', as: 'time' },
    { title: 'reason', of: 'reason' },
    { title: 'message', of: 'message_id' },
    { title: 'line', of: 'line' },
    { title: 'record', of: 'record' },
  ],
  none: 'There are none.',
};
