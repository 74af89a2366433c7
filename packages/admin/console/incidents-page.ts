/** The pages of incidents, an incident and an alert: their merges, who made them, and the commands that undo them. */

import { readLogHead } from '../../../lib/operations/merge-alerts/log-head.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import type { IncidentRow } from '../../../lib/table/rows.ts';
import {
  countAlerts,
  effectsOf,
  type ListedMerge,
  listHistory,
  listLatestMerges,
  readAlert,
  readIncident,
} from '../incidents/list.ts';
import { countText } from '../text/printable.ts';
import {
  badge,
  copyable,
  facts,
  type Html,
  href,
  html,
  link,
  moreLink,
  section,
  type Titled,
  tableOf,
  when,
} from './html.ts';
import { command, NotFound, nameCallers, type View } from './view.ts';

/** Incidents whose histories a page reads, merges that it lists, and alert ids that it lists for each merge. */
const INCIDENTS_READ = 100;
const MERGES_LISTED = 50;
const IDS_SHOWN = 100;
/** Alerts that a page counts unless the reader asks for all. Each takes some 150 bytes to read. */
const ALERTS_COUNTED = 20_000;

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
    return link(href([accountId, 'incident', incidentId]), title || incidentId);
  };

  function mergeOf(item: ListedMerge): Html {
    const { entry, alertIds, pending } = item;
    const { kind, incident_id, sequence, undone_sequence } = entry;
    const isMerge = kind === 'merge';
    const shown = alertIds.slice(0, IDS_SHOWN);
    return html`<li id="${sequence}">
<p class="top"><strong>${isMerge ? 'Merge' : `Undo of ${undone_sequence}`} ${incident_id !== pageIncident && html`into ${incidentLink(incident_id)}`}
${pending && badge('pending')} ${isUndone(item) && badge('undone')}</strong> <span>${when(entry.at_ms, nowMs)}</span></p>
<ul>${effectsOf(item, ownerOf).map(({ text, incident }) => html`<li>${text} ${incident && incidentLink(incident)}</li>`)}</ul>
${facts([
  ['by', callerOf(entry.by)],
  ['request', copyable(entry.request_id)],
  ['undo', isMerge && !isUndone(item) && command(view, `merge undo ${incident_id} ${sequence} --account ${accountId}`)],
])}
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

async function readMerges(view: View, { before, also = [] }: { before?: string | undefined; also?: string[] }) {
  const options = { incidents: INCIDENTS_READ, before, extraIncidents: also };
  const { incidents, items: all, next } = await listLatestMerges(view.table, view.account.account_id, options);
  const isWhole = next === undefined && before === undefined;
  const scope = isWhole
    ? undefined
    : `This page covers only the merges into ${countText(incidents.size, 'incident')}, in descending order of id.`;
  return { all, incidents, next, scope, ...(await mergeRenderers(view, all, incidents)) };
}

export async function incidentsPage(view: View): Promise<Html> {
  const { account, query, table } = view;
  const accountId = account.account_id;
  const [{ all, incidents, next, scope, incidentLink, ownerOf, merges }, { last, pending = [] }, alerts] =
    await Promise.all([
      readMerges(view, { before: query.before }),
      readLogHead(table, accountId),
      countAlerts(table, accountId, query.count === 'all' ? Number.POSITIVE_INFINITY : ALERTS_COUNTED),
    ]);
  const isLastShown = last === 0 || all[0]?.entry.sequence === last;
  const entries = Map.groupBy(all, ({ entry }) => entry.incident_id);
  const rows = [...incidents].map(([incidentId, { owner_id: owner }]) => [
    incidentLink(incidentId),
    owner !== undefined && ownerOf(owner),
    alerts ? (alerts.get(incidentId) ?? 0) : '',
    entries.get(incidentId)?.length ?? 0,
  ]);
  const count = link(href([accountId, 'incidents'], { ...query, count: 'all' }), 'Count the alerts of each incident');
  return html`
${pending.length > 0 && html`<p>${link(href([accountId, 'health']), `${countText(pending.length, 'merge')} pending`)}</p>`}
${scope && html`<p>${scope} ${!isLastShown && html`<strong>The account's last merge, ${last}, is in none of them.</strong>`}</p>`}
<div class="columns">
${section('Latest merges', merges(all.slice(0, MERGES_LISTED), 'Nothing was merged.'))}
${section('All incidents', html`${tableOf({ head: ['incident', 'owner', 'alerts', 'merges'], rows, none: 'The account has no incidents.' })}${!alerts && html`<p>${count}</p>`}`)}
</div>
${moreLink(next && href([accountId, 'incidents'], { before: next }), 'Further incidents')}`;
}

export async function incidentPage(view: View, incidentId: string): Promise<Titled> {
  const { table, account } = view;
  const accountId = account.account_id;
  const [incident, all] = await Promise.all([
    readIncident(table, accountId, incidentId),
    listHistory(table, accountId, incidentId),
  ]);
  if (!incident) throw new NotFound(`Account ${accountId} has no incident ${incidentId}.`);
  const { ownerOf, merges } = await mergeRenderers(view, all, new Map([[incidentId, incident]]), incidentId);
  const { title, owner_id: owner } = incident;
  const body = html`
<section>
${facts([
  ['id', copyable(incidentId)],
  ['owner', owner === undefined ? 'none' : ownerOf(owner)],
])}
</section>
${section('Merges, latest first', merges(all.toReversed(), 'Nothing was merged into this incident.'))}`;
  return { title: title || incidentId, body };
}

export async function alertPage(view: View, alertId: string): Promise<Titled> {
  const { account_id: accountId } = view.account;
  const alert = await readAlert(view.table, accountId, alertId);
  if (!alert) throw new NotFound(`Account ${accountId} has no alert ${alertId}.`);
  const { incident_id: incident, moved_from: previous, title } = alert;
  const also = [incident, previous].filter((id) => id !== undefined);
  const { all, scope, incidentLink, merges } = await readMerges(view, { also });
  const ofAlert = all.filter(({ alertIds }) => alertIds.includes(alertId));
  const body = html`
<section>
${facts([
  ['id', copyable(alertId)],
  ['incident', incident === undefined ? 'none' : incidentLink(incident)],
])}
</section>
${scope && html`<p>${scope} It also covers the incidents that the alert was in last.</p>`}
${section('History', merges(ofAlert, 'No merge mentions this alert.'))}`;
  return { title: title || alertId, body };
}
