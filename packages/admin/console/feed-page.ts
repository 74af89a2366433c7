/** The page of the feed: waiting messages, and refused records with the reasons. */
import { QUEUE_NAMES, readIngestStatus } from '../ingest/ingest-status.ts';
import { type Html, html, section, tableOf, when } from './html.ts';
import type { View } from './view.ts';

const REFUSED_SHOWN = 50;

export async function feedPage(view: Omit<View, 'account'>): Promise<Html> {
  const { ingestQueues } = view;
  if (!ingestQueues) return html`<p>Unknown: the console finds the feed only with npm start or --stack.</p>`;
  try {
    const queues = await readIngestStatus(ingestQueues);
    const refused = queues.refused.waiting > 0 ? await ingestQueues.peekRefused(REFUSED_SHOWN) : [];
    const counts = Object.entries(queues).map(([queue, { waiting, underWay }]) => [
      QUEUE_NAMES[queue as keyof typeof queues],
      waiting,
      underWay,
    ]);
    const messages = tableOf({ head: ['queue', 'waiting', 'under way'], rows: counts });
    const records = tableOf({
      head: ['sent', 'reason', 'record', 'message'],
      rows: refused.map(({ sent_at_ms, reason, record, message_id }) => [
        when(sent_at_ms, view.nowMs),
        reason,
        record,
        message_id,
      ]),
      none: 'There are none.',
    });
    const shown = html`<p>${`The first ${refused.length} of about ${queues.refused.waiting}.`}</p>`;
    return html`
${section('Messages', messages)}
${section('Refused records', records, refused.length > 0 ? shown : undefined)}`;
  } catch (error) {
    const { name, message } = error as Error;
    return html`<p>${`The queues cannot be read: ${name}: ${message}`}</p>`;
  }
}
