/** The page of open alerts, and the table in which pages show alerts. */

import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import type { AlertItem } from '../../../lib/operations/alert-schema.ts';
import { countOpenAlerts, listOpenAlerts } from '../incidents/alerts.ts';
import { badge, type Html, href, html, link, moreLink, section, tableOf, type Value, when } from './html.ts';
import { command, type View } from './view.ts';

const ALERTS_LISTED = 50;
/** Open alerts that are counted in each partition of the index, which has few for each severity. */
const COUNTED = 1_000;
/** Labels of an alert that a table shows. Its own page shows all. */
const LABELS_SHOWN = 4;

export async function alertsPage(view: View): Promise<Html> {
  const { table, account, query } = view;
  const id = account.account_id;
  const severity = SEVERITIES.find((each) => each === query.severity);
  const [{ items, next }, counts] = await Promise.all([
    listOpenAlerts(table, id, { severity, limit: ALERTS_LISTED, after: query.after }),
    countOpenAlerts(table, id, COUNTED),
  ]);
  const chips = counts
    .filter(({ count }) => count > 0)
    .map(({ severity: name, count, isMore }) => {
      const isOn = name === severity;
      const address = href([id, 'alerts'], { severity: isOn ? undefined : name });
      return html`<a class="chip ${severityClass(name)}" href="${address}"${isOn && html` aria-current="true"`}>${count.toLocaleString('en')}${isMore && '+'} ${name}</a> `;
    });
  const options = [`--account=${id}`, ...(severity ? [`--severity=${severity}`] : [])];
  return html`
<p class="headline"><strong>Open</strong> ${chips}</p>
${section('Open alerts', alertsTable(view, items, 'No alert is open. Only alerts with a key are open or ended.'))}
${moreLink(next && href([id, 'alerts'], { severity, after: next }), 'Next alerts')}
<section><details><summary>Command for these alerts</summary><p>${command(view, 'alert list', { options })}</p></details></section>`;
}

const severityClass = (severity: Severity) => severity.toLowerCase();

/** The status of an alert; undefined if it has none. */
export function statusBadge({ alert_severity, alert_status }: AlertItem): Html | undefined {
  if (alert_status === undefined) return undefined;
  if (alert_status === 'Ok') return badge('ended');
  return badge(severityClass(alert_status), alert_severity);
}

/** Alerts in rows. */
export const alertsTable = (view: View, alerts: readonly AlertItem[], none: string): Html =>
  tableOf({
    head: ['alert', 'status', 'labels', 'started', 'ended', 'incident'],
    rows: alerts.map((alert) => [
      link(href([view.account.account_id, 'alert', alert.alert_id]), alert.title || alert.alert_id),
      statusBadge(alert),
      labelsOf(alert),
      secondsOf(alert.start_time, view),
      secondsOf(alert.end_time, view),
      incidentOf(alert, view),
    ]),
    none,
  });

/** A time in Unix seconds; nothing for 0, which stands for none. */
export const secondsOf = (seconds: AlertItem['start_time'], { nowMs }: Pick<View, 'nowMs'>): Value =>
  Boolean(Number(seconds ?? 0)) && when(Number(seconds) * 1_000, nowMs);

export const incidentOf = ({ incident }: AlertItem, { account }: Pick<View, 'account'>): Value =>
  incident &&
  link(href([account.account_id, 'incident', incident.incident_id]), incident.title || incident.incident_id);

function labelsOf({ labels }: AlertItem): Value {
  const all = Object.entries(labels);
  const more = all.length > LABELS_SHOWN && `and ${all.length - LABELS_SHOWN} more`;
  if (all.length === 0) return undefined;
  return html`${all.slice(0, LABELS_SHOWN).map(([name, value]) => html`<code>${`${name}=${value}`}</code> `)}${more}`;
}
