/** The page of alerts: the open ones, those that have ended, or those that started in an hour. */
import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import { countOpenAlerts } from '../incidents/alert-counts.ts';
import { type AlertFilter, listAlerts } from '../incidents/alerts.ts';
import { alertListing } from '../tables/alerts.ts';
import { alertChart, clockText } from './alert-chart.ts';
import { type Html, href, html, moreLink } from './html.ts';
import { listing } from './table.ts';
import { command, type View } from './view.ts';

const ALERTS_LISTED = 50;
const HOUR_S = 3_600;
const DAY_S = 86_400;
/** Days of which ended alerts are listed. */
const DAYS = [1, 7, 31];

export async function alertsPage(view: View): Promise<Html> {
  const { table, account, query } = view;
  const id = account.account_id;
  const { filter, title, kept } = chosenBy(view);
  const { severity } = filter;
  const [{ items, next }, counts, chart] = await Promise.all([
    listAlerts(table, id, filter, { limit: ALERTS_LISTED, after: query.after }),
    countOpenAlerts(table, id),
    alertChart(view),
  ]);
  const to = (change: View['query']) => href([id, 'alerts'], change);
  const chip = (isOn: boolean, address: string, text: string, className = '') =>
    html`<a class="chip ${className}" href="${address}"${isOn && html` aria-current="true"`}>${text}</a> `;
  const severityChip = (name: Severity, text: string) =>
    chip(name === severity, to({ ...kept, severity: name === severity ? undefined : name }), text, name.toLowerCase());
  const isOpen = kept.state === undefined && kept.hour === undefined;
  const openChips = counts
    .filter(({ count }) => count > 0)
    .map(({ severity: name, count, isMore }) =>
      severityChip(name, `${count.toLocaleString('en')}${isMore ? '+' : ''} ${name}`),
    );
  const isEnded = kept.state === 'ended';
  const dayChips = DAYS.map((days) =>
    chip(kept.days === String(days), to({ ...kept, days: String(days) }), days === 1 ? 'last day' : `${days} days`),
  );
  return html`
<p class="headline">${isOpen ? html`<strong>Open</strong> ${openChips}` : html`<a href="${to({})}">Open</a>`}
${isEnded ? html`<strong>Ended</strong> ${dayChips}` : html`<a href="${to({ state: 'ended' })}">Ended</a>`}
${!isOpen && SEVERITIES.map((name) => severityChip(name, name))}</p>
${listing(view, alertListing(title, severity), items)}
${moreLink(next && to({ ...kept, severity, after: next }), 'Next alerts')}
${chart}
${commandSection(view, kept, severity)}`;
}

/** What the query of the address chooses. `kept`: the part of it that links keep */
function chosenBy({ query, nowMs }: View): { filter: AlertFilter; title: string; kept: View['query'] } {
  const severity = SEVERITIES.find((each) => each === query.severity);
  const hour = Number(query.hour);
  if (Number.isSafeInteger(hour) && hour >= 0 && hour < 10 ** 10) {
    const [from, end] = [hour, hour + HOUR_S];
    const title = `Alerts that started from ${clockText(from * 1_000)} to ${clockText(end * 1_000)} UTC`;
    return { filter: { severity, span: { from, to: end } }, title, kept: { hour: String(hour) } };
  }
  if (query.state !== 'ended') return { filter: { severity }, title: 'Open alerts', kept: {} };
  const days = DAYS.find((each) => String(each) === query.days) ?? 1;
  const now = Math.floor(nowMs / 1_000) + 1;
  const span = { from: now - days * DAY_S, to: now };
  const filter = { severity, span, isActive: false };
  return { filter, title: 'Ended alerts', kept: { state: 'ended', days: String(days) } };
}

/** The command lists no single hour. */
const commandSection = (view: View, { hour, days }: View['query'], severity: Severity | undefined) => {
  if (hour !== undefined) return html``;
  const options = [
    `--account=${view.account.account_id}`,
    ...(severity ? [`--severity=${severity}`] : []),
    ...(days === undefined ? [] : ['--ended', `--since=${days}d`]),
  ];
  return html`<section><details><summary>Command for these alerts</summary><p>${command(view, 'alert list', { options })}</p></details></section>`;
};
