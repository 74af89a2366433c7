/** The page of the feed: waiting messages, refused records with the reasons, and dead letters. */
import { metricsText, QUEUE_NAMES, readFeedStatus } from '../feed/feed-status.ts';
import { refusalOf } from '../feed/messages.ts';
import { facts, type Html, html, section, tableOf, when } from './html.ts';
import { command, type View } from './view.ts';

const REFUSED_SHOWN = 50;

export async function feedPage(view: Omit<View, 'account'>): Promise<Html> {
  const feed = view.feed?.();
  if (!feed) return html`<p>Unknown: the console finds the feed only with npm start or --stack.</p>`;
  try {
    const { queues, ...metrics } = await readFeedStatus(feed, view.nowMs);
    const refused = queues.refused.waiting > 0 ? (await feed.peek('refused', REFUSED_SHOWN)).map(refusalOf) : [];
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
    const shown = `The first ${refused.length} of about ${queues.refused.waiting}. Send them again: `;
    const replay = html`<p>${shown}${command(view, 'feed replay --from refused')}</p>`;
    const replayDead = html`<p>They failed for too long. Send them again: ${command(view, 'feed replay --from dead-letters')}</p>`;
    return html`
${section('Messages', [messages, Object.keys(metrics).length > 0 && facts(metricsText(metrics))])}
${section('Refused records', records, refused.length > 0 ? replay : undefined)}
${queues.deadLetters.waiting > 0 && section('Dead letters', replayDead)}`;
  } catch (error) {
    const { name, message } = error as Error;
    return html`<p>${`The queues cannot be read: ${name}: ${message}`}</p>`;
  }
}
