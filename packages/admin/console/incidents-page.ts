/** Merges, incidents and alerts: what was done, by whom, and how it is undone. */

import { keys } from '../../../lib/dynamodb/keys.ts';
import { getRow } from '../../../lib/dynamodb/row.ts';
import type { IncidentRow } from '../../../lib/dynamodb/rows.ts';
import { readMergeOrder } from '../../../lib/operations/merge-alerts/merge-order.ts';
import {
  type FeedItem,
  readAlert,
  readFeed,
  readIncident,
} from '../../../lib/operations/merge-alerts/read-incidents.ts';
import { listAppKeys } from '../accounts/accounts.ts';
import { effectsOf } from '../incidents/effects.ts';
import { listLatestMerges } from '../incidents/list.ts';
import { countText } from '../text/count-text.ts';
import { facts, further, type Html, href, html, link, section, type Table, when } from './html.ts';
import { command, NotFound, type View } from './view.ts';

/** Incidents whose feeds a page reads, merges that it lists, and ids of alerts that it shows of each. */
const INCIDENTS_READ = 100;
const MERGES_LISTED = 50;
const IDS_SHOWN = 100;

/**
 * How merges are shown that were read together.
 * @param incidents that are named by their titles
 */
async function showing(view: View, all: readonly FeedItem[], incidents?: ReadonlyMap<string, IncidentRow>) {
  const { table, account, nowMs } = view;
  const id = account.account_id;
  const appKeys = new Map((await listAppKeys(table, account)).map((key) => [key.app_key_id, key]));
  const undone = new Set(all.map(({ entry }) => `${entry.incident_id} ${entry.undone_sequence}`));
  const isUndone = ({ entry }: FeedItem) => undone.has(`${entry.incident_id} ${entry.sequence}`);
  const incidentLink = (one: string) => link(href([id, 'incident', one]), incidents?.get(one)?.title || one);

  /** By the end of their key, and its note. */
  function callerOf({ entry: { by } }: FeedItem): string {
    const key = appKeys.get(by);
    if (key) return `key ${by} (…${key.last_digits}${key.note ? `, ${key.note}` : ''})`;
    return by.startsWith('operator ') ? by : `key ${by}`;
  }
  function whatOf(item: FeedItem): string {
    const { kind, undone_sequence } = item.entry;
    const what = kind === 'merge' ? 'merge' : `undo of ${undone_sequence}`;
    return `${what}, ${item.pending ? 'pending' : 'done'}${isUndone(item) ? ', undone since' : ''}`;
  }
  function undoOf(item: FeedItem): Html {
    const { kind, incident_id, sequence } = item.entry;
    if (kind !== 'merge' || isUndone(item)) return html`nothing to undo`;
    return command(view, `merge undo ${incident_id} ${sequence} --account ${id}`);
  }

  const tableOf = (items: readonly FeedItem[], none: string): Table => ({
    head: ['when', 'incident', 'what', 'alerts', 'by', 'request', 'how to undo it'],
    rows: items.map((item) => [
      when(item.entry.at_ms, nowMs),
      incidentLink(item.entry.incident_id),
      whatOf(item),
      `${item.moves.length} moved, ${item.stayed.length} already there`,
      callerOf(item),
      item.entry.request_id,
      undoOf(item),
    ]),
    none,
  });

  function timelineEntry(item: FeedItem): Html {
    const { entry, alertIds } = item;
    const shown = alertIds.slice(0, IDS_SHOWN);
    return html`<li>
<p><strong>${whatOf(item)}</strong>: ${when(entry.at_ms, nowMs)}</p>
<p>By ${callerOf(item)}, request ${entry.request_id}, entry ${entry.sequence}.</p>
<ul>${effectsOf(item).map(({ text, incident }) => html`<li>${text} ${incident && incidentLink(incident)}</li>`)}</ul>
<details><summary>${countText(alertIds.length, 'alert')}</summary>
<ul>${shown.map((one) => html`<li>${link(href([id, 'alert', one]), one)}</li>`)}
${alertIds.length > shown.length && html`<li>and ${alertIds.length - shown.length} more</li>`}</ul></details>
<p>How to undo it: ${undoOf(item)}</p>
</li>`;
  }
  return { incidentLink, tableOf, timelineEntry };
}

async function readMerges(view: View, { before, also = [] }: { before?: string | undefined; also?: string[] }) {
  const options = { incidents: INCIDENTS_READ, before, also };
  const { incidents, items: all, next } = await listLatestMerges(view.table, view.account.account_id, options);
  const isWhole = next === undefined && before === undefined;
  const shown = await showing(view, all, incidents);
  const read = `the feeds of ${isWhole ? 'all ' : ''}${countText(incidents.size, 'incident')}${isWhole ? '' : ' of more, by their ids'}: ${view.cost()}`;
  return { all, incidents, next, read, ...shown };
}

export async function mergesPage(view: View): Promise<Html> {
  const { account, query } = view;
  const id = account.account_id;
  const { all, incidents, next, read, tableOf } = await readMerges(view, { before: query.before });
  const { last } = await readMergeOrder(view.table, id);
  const isLastShown = last === 0 || all[0]?.entry.sequence === last;
  const entries = Map.groupBy(all, ({ entry }) => entry.incident_id);
  const rows = [...incidents].map(([one, { title, owner_id: owner = 'none' }]) => [
    link(href([id, 'incident', one]), one),
    title,
    owner,
    entries.get(one)?.length ?? 0,
  ]);
  return html`
<p>Read ${read}.
${!isLastShown && html`<strong>The account's last merge, ${last}, is in none of them.</strong>`}</p>
${section('Latest merges', tableOf(all.slice(0, MERGES_LISTED), 'Nothing was merged.'))}
${section('Incidents', { head: ['incident', 'title', 'owner', 'entries'], rows, none: 'The account has no incidents.' })}
${further(next && href([id, 'merges'], { before: next }), 'Further incidents')}`;
}

export async function incidentPage(view: View, incidentId: string): Promise<Html> {
  const { table, account } = view;
  const id = account.account_id;
  const [incident, all] = await Promise.all([readIncident(table, id, incidentId), readFeed(table, id, incidentId)]);
  if (!incident) throw new NotFound(`Account ${id} has no incident ${incidentId}.`);
  const { timelineEntry } = await showing(view, all);
  const { title, owner_id: owner } = incident;
  const member = owner === undefined ? undefined : await getRow(table, keys.member(id, owner));
  return html`
${facts([
  ['id', incidentId],
  ['title', title],
  ['owner', [owner ?? 'none', member && ` (${member.name})`]],
])}
<h2>Feed, latest entry first</h2>
${all.length === 0 && html`<p>It is empty: nothing was merged into this incident.</p>`}
<ol reversed>${all.toReversed().map(timelineEntry)}</ol>`;
}

export async function alertPage(view: View, alertId: string): Promise<Html> {
  const { account_id: id } = view.account;
  const alert = await readAlert(view.table, id, alertId);
  if (!alert) throw new NotFound(`Account ${id} has no alert ${alertId}.`);
  const { incident_id: incident, moved_from: before, title } = alert;
  const also = [incident, before].filter((one) => one !== undefined);
  const { all, read, incidentLink, tableOf } = await readMerges(view, { also });
  const own = all.filter(({ alertIds }) => alertIds.includes(alertId));
  return html`
${facts([
  ['id', alertId],
  ['title', title],
  ['incident', incident === undefined ? 'none' : incidentLink(incident)],
])}
<p>Read ${read}; and those of the incidents that the alert was in last.</p>
${section('History', tableOf(own, 'No merge mentions this alert.'))}`;
}
