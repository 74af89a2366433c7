/** The pages of incidents and of an incident: their alerts and merges, who made them, and the commands that undo them. */

import { isOpenAlert } from '../../../lib/model/alert.ts';
import type { IncidentRow } from '../../../lib/model/incident.ts';
import { readLogHead } from '../../../lib/operations/merge-alerts/log-head.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import { readAlertItems } from '../incidents/alerts.ts';
import {
  ALERTS_READ,
  alertsOfIncident,
  countAlerts,
  effectsOf,
  type ListedMerge,
  listHistory,
  listLatestMerges,
  listRecentMerges,
  readIncident,
  timesOf,
} from '../incidents/list.ts';
import { ALERTS } from '../tables/alerts.ts';
import { INCIDENTS } from '../tables/merges.ts';
import { countText } from '../text/printable.ts';
import { tableOf } from '../text/table.ts';
import {
  badge,
  beginningOf,
  folded,
  type Html,
  href,
  html,
  link,
  moreLink,
  section,
  type Titled,
  when,
} from './html.ts';
import { facts, tableHtml } from './table.ts';
import { NotFound, nameCallers, type View } from './view.ts';

/** Incidents whose histories a page reads, merges that it lists, and alert ids that it lists for each merge. */
const INCIDENTS_READ = 100;
const MERGES_LISTED = 50;
const ALERTS_LISTED = 50;
const IDS_SHOWN = 100;

type Incidents = ReadonlyMap<string, IncidentRow>;

/**
 * Reads the names that merges mention.
 * @param incidents incidents that are already read, for their titles
 * @param pageIncident the incident that the page is about
 * @returns functions that show the merges with these names
 */
async function mergeRenderers(view: View, all: readonly ListedMerge[], incidents: Incidents, pageIncident?: string) {
  const { account, nowMs } = view;
  const accountId = account.account_id;
  const otherTitles = await readOtherTitles(view, all, incidents);
  const owners = [...incidents.values()].map(({ owner_id }) => owner_id);
  const changedOwners = all.flatMap(({ entry }) => [entry.old_owner_id, entry.new_owner_id]);
  const [callerOf, ownerOf] = await Promise.all([nameCallers(view), nameMembers(view, [...owners, ...changedOwners])]);
  const undone = new Set(all.map(({ entry }) => `${entry.incident_id} ${entry.undone_sequence}`));
  const isUndone = ({ entry }: ListedMerge) => undone.has(`${entry.incident_id} ${entry.sequence}`);
  const incidentLink = (incidentId: string) => {
    const title = incidents.get(incidentId)?.title || otherTitles.get(incidentId);
    return link(href([accountId, 'incident', incidentId]), beginningOf(title || incidentId));
  };

  function mergeOf(item: ListedMerge): Html {
    const { entry, alertIds, pending } = item;
    const { kind, incident_id, sequence, undone_sequence } = entry;
    const isMerge = kind === 'merge';
    const shown = alertIds.slice(0, IDS_SHOWN);
    return html`<li id="${sequence}">
<p class="top"><strong>${isMerge ? 'Merge' : `Undo of ${undone_sequence}`} ${incident_id !== pageIncident && html`into ${incidentLink(incident_id)}`}
${pending && badge('pending')} ${isUndone(item) && badge('undone')}</strong> <span>${when(entry.at_ms, nowMs)}</span></p>
<ul>${effectsOf(item, ownerOf).map(({ text, incident }) => html`<li>${folded(text)} ${incident && incidentLink(incident)}</li>`)}</ul>
${facts(view, {
  fields: [
    ['by', callerOf(entry.by)],
    ['request', { copy: entry.request_id }],
    ['undo', isMerge && !isUndone(item) && { command: `merge undo ${incident_id} ${sequence} --account ${accountId}` }],
  ],
})}
<details><summary>${countText(alertIds.length, 'alert')}, entry ${sequence}</summary>
<ul>${shown.map((alertId) => html`<li>${link(href([accountId, 'alert', alertId]), alertId)}</li>`)}
${alertIds.length > shown.length && html`<li>and ${alertIds.length - shown.length} more</li>`}</ul></details>
</li>`;
  }
  const merges = (items: readonly ListedMerge[], none: string) =>
    items.length === 0 ? html`<p>${none}</p>` : html`<ol class="merges">${items.map(mergeOf)}</ol>`;
  return { incidentLink, ownerOf, merges };
}

/** The titles of other incidents that merges mention. */
async function readOtherTitles({ table, account }: View, all: readonly ListedMerge[], incidents: Incidents) {
  const mentioned = new Set(
    all.flatMap(({ entry, moves }) => [entry.incident_id, ...moves.flatMap((move) => [move.from, move.to])]),
  );
  const unknown = [...mentioned].filter((id): id is string => id !== undefined && !incidents.has(id));
  const wanted = unknown.slice(0, INCIDENTS_READ).map((id) => [id, keys.incident(account.account_id, id)] as const);
  const { rows } = await batchGet(
    table,
    wanted.map(([, key]) => key),
    { attributes: ['title'], consistent: false },
  );
  return new Map(wanted.map(([id, key]) => [id, rows.of(key)?.title]));
}

/** @returns a function that gives the name of a member, or `member` and the id if there is no such member */
async function nameMembers({ table, account }: View, ids: readonly (Int64 | undefined)[]) {
  const wanted = [...new Set(ids.filter((id) => id !== undefined))];
  const { rows } = await batchGet(
    table,
    wanted.map((id) => keys.member(account.account_id, id)),
    { consistent: false },
  );
  return (id: Int64) => rows.of(keys.member(account.account_id, id))?.name ?? `member ${id}`;
}

/** The merges into the newest incidents and into some others, with functions that show them. */
export async function readMerges(view: View, also: readonly string[]) {
  const options = { incidents: INCIDENTS_READ, extraIncidents: also };
  const { incidents, items: all, next } = await listLatestMerges(view.table, view.account.account_id, options);
  const scope =
    next === undefined
      ? undefined
      : `This page covers only the merges into ${countText(incidents.size, 'incident')}, in descending order of id.`;
  return { all, scope, ...(await mergeRenderers(view, all, incidents)) };
}

const alertsRead = ({ query }: View) => (query.read === 'all' ? Number.POSITIVE_INFINITY : ALERTS_READ);

export async function incidentsPage(view: View): Promise<Html> {
  const { account, query, table } = view;
  const accountId = account.account_id;
  const [{ incidents, items: all, next }, latest, { pending = [] }, alerts] = await Promise.all([
    listLatestMerges(table, accountId, { incidents: INCIDENTS_READ, before: query.before }),
    listRecentMerges(table, accountId, MERGES_LISTED),
    readLogHead(table, accountId),
    countAlerts(table, accountId, alertsRead(view)),
  ]);
  const { ownerOf, merges } = await mergeRenderers(view, latest, incidents);
  const entries = Map.groupBy(all, ({ entry }) => entry.incident_id);
  const isWhole = next === undefined && query.before === undefined;
  const scope = isWhole ? '' : `${countText(incidents.size, 'incident')}, in descending order of id.`;
  const rows = [...incidents].map(([incident_id, row]) => ({
    incident_id,
    title: row.title,
    changed_ms: timesOf(row).changed_ms,
    ...(row.owner_id !== undefined && { owner: ownerOf(row.owner_id) }),
    ...(alerts && { alerts: alerts.get(incident_id) ?? 0 }),
    entries: entries.get(incident_id)?.length ?? 0,
  }));
  const count = link(href([accountId, 'incidents'], { ...query, read: 'all' }), 'Count the alerts of each incident');
  return html`
${pending.length > 0 && html`<p>${link(href([accountId, 'health']), `${countText(pending.length, 'merge')} pending`)}</p>`}
<div class="columns wide">
${section('Latest merges', merges(latest, 'Nothing was merged.'))}
${section('Incidents', html`${scope && html`<p>${scope}</p>`}${tableHtml(view, tableOf(INCIDENTS, rows))}${!alerts && html`<p>${count}</p>`}`)}
</div>
${moreLink(next && href([accountId, 'incidents'], { before: next }), 'Further incidents')}`;
}

export async function incidentPage(view: View, incidentId: string): Promise<Titled> {
  const { table, account } = view;
  const accountId = account.account_id;
  const [incident, all, alerts] = await Promise.all([
    readIncident(table, accountId, incidentId),
    listHistory(table, accountId, incidentId),
    alertsSection(view, incidentId),
  ]);
  if (!incident) throw new NotFound(`Account ${accountId} has no incident ${incidentId}.`);
  const { ownerOf, merges } = await mergeRenderers(view, all, new Map([[incidentId, incident]]), incidentId);
  const { title, owner_id: owner } = incident;
  const { created_ms, changed_ms } = timesOf(incident);
  const body = html`
<section>
${facts(view, {
  fields: [
    ['id', { copy: incidentId }],
    // The heading has only its beginning.
    ['title', title !== beginningOf(title) && title],
    ['owner', owner === undefined ? 'none' : ownerOf(owner)],
    ['created', timeCell(created_ms)],
    ['last changed', timeCell(changed_ms)],
  ],
})}
</section>
${alerts}
${section('Merges, latest first', merges(all.toReversed(), 'Nothing was merged into this incident.'))}`;
  return { title: title || incidentId, body };
}

const timeCell = (atMs: number | undefined) => atMs !== undefined && { atMs };

/** The alerts that are in an incident now, the latest start first. */
async function alertsSection(view: View, incidentId: string): Promise<Html> {
  const { table, account, query } = view;
  const accountId = account.account_id;
  const to = (change: View['query']) => href([accountId, 'incident', incidentId], { ...query, ...change });
  const all = await alertsOfIncident(table, accountId, incidentId, alertsRead(view));
  if (!all) {
    const note = `The account has more than ${countText(ALERTS_READ, 'alert')}.`;
    return section('Alerts', html`<p>${note} ${link(to({ read: 'all' }), 'Read all of them')}</p>`);
  }
  const from = Math.max(0, Math.trunc(Number(query.from)) || 0);
  const reached = from + ALERTS_LISTED;
  const listed = all.slice(from, reached).map(({ alert_id }) => alert_id);
  const open = all.filter(isOpenAlert).length;
  const note = all.length > 0 && html`<p>${countText(all.length, 'alert')}, ${open.toLocaleString('en')} open</p>`;
  const items = await readAlertItems(table, accountId, listed);
  const rows = tableHtml(
    view,
    tableOf(
      { ...ALERTS, none: 'No alert is in this incident.' },
      items.map(({ incident: _thisOne, ...alert }) => alert),
    ),
  );
  const more = moreLink(reached < all.length ? to({ from: String(reached) }) : undefined, 'Next alerts');
  return section('Alerts', html`${note}${rows}${more}`);
}
