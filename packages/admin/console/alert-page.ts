/** The page of an alert: its state and content, and the merges that it was part of. */
import { isOpenAlert } from '../../../lib/model/alert.ts';
import { itemOf, readAlert } from '../incidents/alerts.ts';
import { alertColumns } from '../tables/alerts.ts';
import { type Cell, fieldsOf } from '../text/table.ts';
import { html, section, type Titled } from './html.ts';
import { readMerges } from './incidents-page.ts';
import { facts } from './table.ts';
import { NotFound, type View } from './view.ts';

const HTTP_URL = /^https?:\/\/\S+$/i;

/** An annotation, as a link if it is an address. */
const linked = ([name, text]: [string, string]): [string, Cell] => [name, HTTP_URL.test(text) ? { url: text } : text];

export async function alertPage(view: View, alertId: string): Promise<Titled> {
  const { account_id: accountId } = view.account;
  const row = await readAlert(view.table, accountId, alertId);
  if (!row) throw new NotFound(`Account ${accountId} has no alert ${alertId}.`);
  const alert = await itemOf(view.table, accountId, row);
  const { title, labels, annotations = {} } = alert;
  const also = [row.incident_id, row.moved_from].filter((id) => id !== undefined);
  const { all, scope, merges } = await readMerges(view, also);
  const ofAlert = all.filter(({ alertIds }) => alertIds.includes(row.alert_id));
  const others = { ...alert, labels: {}, annotations: {} };
  const isOpen = isOpenAlert(row);
  /** The heading shows the account, and the status of an open alert its severity. */
  const repeated = ['account id', 'alert status', isOpen && 'alert severity'];
  const shown = fieldsOf(alertColumns(others), others).fields.filter(([name]) => !repeated.includes(name));
  const close = isOpen ? [['close', { command: `alert close ${alert.alert_id} --account ${accountId}` }] as const] : [];
  const body = html`
<section>
${facts(view, { fields: [...shown, ...close] })}
</section>
${Object.keys(labels).length > 0 && section('Labels', facts(view, { fields: Object.entries(labels) }))}
${Object.keys(annotations).length > 0 && section('Annotations', facts(view, { fields: Object.entries(annotations).map(linked) }))}
${scope && html`<p>${scope} It also covers the incidents that the alert was in last.</p>`}
${section('History', merges(ofAlert, 'No merge mentions this alert.'))}`;
  return { title: title || alert.alert_id, body };
}
