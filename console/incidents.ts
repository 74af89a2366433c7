/** Merges, incidents and alerts: what was done, by whom, and how it is undone. */
import { listAppKeys } from '../lib/accounts/accounts.ts';
import { listLatestMerges } from '../lib/incidents/list.ts';
import { lastOf, readMergeOrder } from '../lib/incidents/merge-order.ts';
import { type FeedItem, readAlert, readFeed, readIncident } from '../lib/incidents/read.ts';
import { keys } from '../lib/table/keys.ts';
import { getRow } from '../lib/table/row.ts';
import { command, count, facts, further, type Html, href, html, link, section, type Table, when } from './html.ts';
import { NotFound, type View } from './view.ts';

/** Incidents whose feeds a page reads, merges that it lists, and ids of alerts that it shows of each. */
const INCIDENTS_READ = 100;
const MERGES_LISTED = 50;
const IDS_SHOWN = 100;

/** Shows callers as an operator knows them: by the end of their key, and its note. */
async function readNames({ table, account }: View): Promise<(by: string) => string> {
  const names = new Map(
    (await listAppKeys(table, account)).map(({ app_key_id, last_digits, note }) => [
      app_key_id,
      `key ${app_key_id} (…${last_digits}${note ? `, ${note}` : ''})`,
    ]),
  );
  return (by) => names.get(by) ?? (by.startsWith('operator ') ? by : `key ${by}`);
}

/** What a list of merges shows beside them. */
interface Told {
  /** All entries that were read. */
  all: readonly FeedItem[];
  nameOf(by: string): string;
  incidentOf(id: string): Html;
}

const isUndone = ({ entry }: FeedItem, { all }: Pick<Told, 'all'>) =>
  all.some(({ entry: other }) => other.undone_sequence === entry.sequence && other.incident_id === entry.incident_id);

function whatOf(item: FeedItem, told: Pick<Told, 'all'>): string {
  const { kind, undone_sequence } = item.entry;
  const what = kind === 'merge' ? 'merge' : `undo of ${undone_sequence}`;
  return `${what}, ${item.pending ? 'pending' : 'done'}${isUndone(item, told) ? ', undone since' : ''}`;
}

function undo(view: View, item: FeedItem, told: Pick<Told, 'all'>): Html {
  const { kind, incident_id, sequence } = item.entry;
  if (kind !== 'merge' || isUndone(item, told)) return html`nothing to undo`;
  return command(view.commandLine(`merge undo ${incident_id} ${sequence} --account ${view.account.account_id}`));
}

const mergeTable = (view: View, items: readonly FeedItem[], told: Told, none: string): Table => ({
  head: ['when', 'incident', 'what', 'alerts', 'by', 'request', 'how to undo it'],
  rows: items.map((item) => [
    when(item.entry.at_ms, view.nowMs),
    told.incidentOf(item.entry.incident_id),
    whatOf(item, told),
    `${item.moves.length} moved, ${item.stayed.length} already there`,
    told.nameOf(item.entry.by),
    item.entry.request_id,
    undo(view, item, told),
  ]),
  none,
});

async function readMerges(view: View, options: { before?: string | undefined; also?: readonly string[] }) {
  const { table, account } = view;
  const [nameOf, latest] = await Promise.all([
    readNames(view),
    listLatestMerges(table, account.account_id, { incidents: INCIDENTS_READ, ...options }),
  ]);
  const { incidents, items: all, next } = latest;
  const incidentOf = (id: string) => link(href([account.account_id, 'incident', id]), incidents.get(id)?.title || id);
  const isWhole = next === undefined && options.before === undefined;
  const read = `the feeds of ${isWhole ? 'all ' : ''}${count(incidents.size, 'incident')}${isWhole ? '' : ' of more, by their ids'}: ${view.cost()}`;
  return { told: { all, nameOf, incidentOf }, incidents, next, read };
}

export async function mergesPage(view: View): Promise<Html> {
  const { table, account, query } = view;
  const id = account.account_id;
  const { told, incidents, next, read } = await readMerges(view, { before: query.before });
  const last = lastOf(await readMergeOrder(table, id));
  const isLastShown = last === 0 || told.all[0]?.entry.sequence === last;
  const rows = [...incidents].map(([one, { title, owner_id }]) => {
    const entries = told.all.filter(({ entry }) => entry.incident_id === one);
    return [link(href([id, 'incident', one]), one), title, owner_id ?? 'none', entries.length];
  });
  return html`
<p>Looked into ${read}.
${!isLastShown && html`<strong>The account's last merge, ${last}, is in none of them.</strong>`}</p>
${section('Latest merges', mergeTable(view, told.all.slice(0, MERGES_LISTED), told, 'Nothing was merged.'))}
${section('Incidents', { head: ['incident', 'title', 'owner', 'entries'], rows, none: 'The account has no incidents.' })}
${further(next && href([id, 'merges'], { before: next }), 'Further incidents')}`;
}

export async function incidentPage(view: View, incidentId: string): Promise<Html> {
  const { table, account } = view;
  const id = account.account_id;
  const [incident, all, nameOf] = await Promise.all([
    readIncident(table, id, incidentId),
    readFeed(table, id, incidentId),
    readNames(view),
  ]);
  if (!incident) throw new NotFound(`Account ${id} has no incident ${incidentId}.`);
  const { title, owner_id: owner } = incident;
  const member = owner === undefined ? undefined : await getRow(table, keys.member(id, owner));
  const incidentOf = (one: string) => link(href([id, 'incident', one]), one);
  return html`
${facts([
  ['id', incidentId],
  ['title', title],
  ['owner', [owner ?? 'none', member ? ` (${member.name})` : '']],
])}
<h2>Feed, the last entry first</h2>
${all.length === 0 && html`<p>It is empty: nothing was merged into this incident.</p>`}
<ol class="timeline" reversed>${all.toReversed().map((item) => timelineEntry(view, item, { all, nameOf, incidentOf }))}</ol>`;
}

function timelineEntry(view: View, item: FeedItem, told: Told): Html {
  const { entry, moves, stayed, alertIds } = item;
  const isMerge = entry.kind === 'merge';
  const groups = Map.groupBy(moves, ({ from, to }) => (isMerge ? from : to));
  const shown = alertIds.slice(0, IDS_SHOWN);
  return html`<li>
<p><strong>${whatOf(item, told)}</strong>: ${when(entry.at_ms, view.nowMs)}</p>
<p>By ${told.nameOf(entry.by)}, request ${entry.request_id}, entry ${entry.sequence}.</p>
<ul>${[...groups].map(
    ([other, { length }]) =>
      html`<li>${count(length, 'alert')} ${isMerge ? 'from' : 'back to'} ${other ? told.incidentOf(other) : 'no incident'}</li>`,
  )}
${stayed.length > 0 && html`<li>${count(stayed.length, 'alert')} already there</li>`}
${entry.new_title !== undefined && html`<li>title: ${entry.old_title} → ${entry.new_title}</li>`}
${entry.new_owner_id !== undefined && html`<li>owner: ${entry.old_owner_id ?? 'none'} → ${entry.new_owner_id}</li>`}
${entry.comment !== undefined && html`<li>comment: ${entry.comment}</li>`}</ul>
<details><summary>${count(alertIds.length, 'alert')}</summary>
<ul>${shown.map((one) => html`<li>${link(href([view.account.account_id, 'alert', one]), one)}</li>`)}
${alertIds.length > shown.length && html`<li>and ${alertIds.length - shown.length} more</li>`}</ul></details>
<p>How to undo it: ${undo(view, item, told)}</p>
</li>`;
}

export async function alertPage(view: View, alertId: string): Promise<Html> {
  const { account } = view;
  const alert = await readAlert(view.table, account.account_id, alertId);
  if (!alert) throw new NotFound(`Account ${account.account_id} has no alert ${alertId}.`);
  const { incident_id: incidentId, moved_from, title } = alert;
  const also = [incidentId, moved_from].filter((one) => one !== undefined);
  const { told, read } = await readMerges(view, { also });
  const own = told.all.filter(({ alertIds }) => alertIds.includes(alertId));
  return html`
${facts([
  ['id', alertId],
  ['title', title],
  ['incident', incidentId === undefined ? 'none' : told.incidentOf(incidentId)],
])}
<p>Looked into ${read}; and into those that the alert was in last.</p>
${section('History', mergeTable(view, own, told, 'No merge tells of this alert.'))}`;
}
