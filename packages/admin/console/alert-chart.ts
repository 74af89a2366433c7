/** The picture of the alerts that started in each hour of the last day. */
import type { Int64 } from '../../../lib/shared/json.ts';
import { type HourOfStarts, hoursOfStarts, type IndexedSeverity } from '../incidents/alert-counts.ts';
import { countText, timeText } from '../text/printable.ts';
import { type Column, type Listing, tableOf } from '../text/table.ts';
import { type Html, href, html, section } from './html.ts';
import { tableHtml } from './table.ts';
import type { View } from './view.ts';

/** Height of the lowest bar, as a part of the highest: it stays visible. */
const LOWEST = 0.08;

/** Such as `08:00`, of Unix milliseconds. */
export const clockText = (atMs: number) => timeText(atMs).slice(11, 16);
const queryOf = ({ fromMs }: HourOfStarts) => ({ hour: String(fromMs / 1_000) });

/**
 * A row of bars for each severity, with the same scale, so that nobody needs colours to read it. Screen readers and the keyboard
 * get the same as a table.
 */
export async function alertChart(view: View): Promise<Html> {
  const { table, account, nowMs } = view;
  const { hours, severities, isMore } = await hoursOfStarts(table, account.account_id, nowMs);
  if (severities.length === 0) return section('Last day', html`<p>No alert has started in the last day.</p>`);
  const most = Math.max(...hours.flatMap(({ counts }) => severities.map((severity) => counts[severity])));
  const rows = severities.map((severity) => lane(account.account_id, hours, severity, most));
  const [first, last] = [hours[0], hours.at(-1)].map((hour) => clockText(hour?.fromMs ?? nowMs));
  const note = `Alerts that started in each hour. The highest bar is ${most.toLocaleString('en')}.${isMore ? ' There are more than are counted: the earliest are missing.' : ''}`;
  return section(
    'Last day',
    html`${rows}
<p class="hours"><span>${first}</span> <span>${last} UTC</span></p>
<details><summary>As a table</summary>${tableHtml(view, tableOf(listingOf(severities), hours.filter(({ total }) => total > 0).toReversed()))}</details>`,
    html`<p>${note}</p>`,
  );
}

function lane(account: Int64, hours: readonly HourOfStarts[], severity: IndexedSeverity, most: number): Html {
  const bars = hours.map((hour, index) => {
    const count = hour.counts[severity];
    if (count === 0) return html``;
    const height = Math.max(LOWEST, count / most);
    const address = href([account, 'alerts'], { ...queryOf(hour), ...(severity !== 'None' && { severity }) });
    return html`<a href="${address}" tabindex="-1"><title>${clockText(hour.fromMs)}: ${count} ${severity}</title><rect class="hit" x="${index}" width="1" height="1"/><rect x="${index + 0.1}" y="${1 - height}" width="0.8" height="${height}"/></a>`;
  });
  const total = hours.reduce((sum, { counts }) => sum + counts[severity], 0);
  return html`<div class="lane ${severity.toLowerCase()}"><span>${severity === 'None' ? 'No severity' : severity} <small>${countText(total, 'alert')}</small></span>
<svg viewBox="0 0 ${hours.length} 1" preserveAspectRatio="none" aria-hidden="true">${bars}</svg></div>`;
}

const listingOf = (severities: readonly IndexedSeverity[]): Listing<HourOfStarts> => ({
  columns: [
    {
      title: 'hour',
      of: (hour) => ({ text: `${timeText(hour.fromMs).slice(0, 16)} UTC`, path: ['alerts'], query: queryOf(hour) }),
    },
    ...severities.map(
      (severity): Column<HourOfStarts> => ({
        title: severity === 'None' ? 'no severity' : severity,
        of: ({ counts }) => counts[severity],
      }),
    ),
  ],
  none: '',
});
