/** The page of an alert: its state and content, and the merges that it was part of. */
import { itemOf, readAlert } from '../incidents/alerts.ts';
import { incidentOf, secondsOf, statusBadge } from './alerts-page.ts';
import { copyable, facts, html, link, section, type Titled } from './html.ts';
import { readMerges } from './incidents-page.ts';
import { command, NotFound, type View } from './view.ts';

export async function alertPage(view: View, alertId: string): Promise<Titled> {
  const { account_id: accountId } = view.account;
  const row = await readAlert(view.table, accountId, alertId);
  if (!row) throw new NotFound(`Account ${accountId} has no alert ${alertId}.`);
  const alert = await itemOf(view.table, accountId, row);
  const { alert_key, title, description, labels, source_url } = alert;
  const also = [row.incident_id, row.moved_from].filter((id) => id !== undefined);
  const { all, scope, merges } = await readMerges(view, also);
  const ofAlert = all.filter(({ alertIds }) => alertIds.includes(row.alert_id));
  const isOpen = row.open_partition !== undefined;
  const body = html`
<section>
${facts([
  ['status', statusBadge(alert)],
  ['incident', incidentOf(alert, view) ?? 'none'],
  ['started', secondsOf(alert.start_time, view)],
  ['ended', secondsOf(alert.end_time, view)],
  ['last record', secondsOf(alert.last_time, view)],
  ['description', description],
  // Only these schemes are taken, and no other may become a link.
  ['source', /^https?:/i.test(source_url ?? '') && link(source_url ?? '', source_url)],
  ['id', copyable(alert.alert_id)],
  ['key', alert_key !== undefined && copyable(alert_key)],
  ['close', isOpen && command(view, `alert close ${alert.alert_id} --account ${accountId}`)],
])}
</section>
${Object.keys(labels).length > 0 && section('Labels', facts(Object.entries(labels)))}
${scope && html`<p>${scope} It also covers the incidents that the alert was in last.</p>`}
${section('History', merges(ofAlert, 'No merge mentions this alert.'))}`;
  return { title: title || alert.alert_id, body };
}
