/** The page of the feed: waiting messages, and refused records with the reasons. */
import { QUEUES, queueRows, REFUSED } from '../tables/feed.ts';
import { type Html, html } from './html.ts';
import { listing } from './table.ts';
import type { View } from './view.ts';

const REFUSED_SHOWN = 50;

export async function feedPage(view: Omit<View, 'account'>): Promise<Html> {
  const { ingestQueues } = view;
  if (!ingestQueues) return html`<p>Unknown: the console finds the feed only with npm start or --stack.</p>`;
  try {
    const queues = await ingestQueues.counts();
    const refused = queues.refused.waiting > 0 ? await ingestQueues.peekRefused(REFUSED_SHOWN) : [];
    const shown = html`<p>The first ${refused.length} of about ${queues.refused.waiting.toLocaleString('en')}.</p>`;
    return html`
${listing(view, QUEUES, queueRows(queues))}
${listing(view, REFUSED, refused, refused.length < queues.refused.waiting ? shown : undefined)}`;
  } catch (error) {
    const { name, message } = error as Error;
    return html`<p>${`The queues cannot be read: ${name}: ${message}`}</p>`;
  }
}
