/** The incidents and merges of an account, and what a merge did, for operators. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import { collections, keys, parseKey } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { queryAll, queryPage, queryRows } from '../../../lib/dynamodb/query.ts';
import type { IncidentRow } from '../../../lib/dynamodb/rows.ts';
import { type FeedEntryWithAlerts, feedOf, readFeed } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { countText } from '../text/printable.ts';

/** All incidents, in the order of their ids, with the numbers of their alerts and feed entries. */
export async function listIncidents(table: Table, account: Int64) {
  const rows = await queryRows(table, collections.incidents(account));
  const alerts = await countAlerts(table, account, Number.POSITIVE_INFINITY);
  const incidents = rows.map(({ incident_id, title, owner_id }) => ({
    incident_id,
    title,
    ...(owner_id !== undefined && { owner_id }),
    alerts: alerts?.get(incident_id) ?? 0,
    entries: 0,
  }));
  await forEach(incidents, async (incident) => {
    const feed = collections.feed(account, incident.incident_id);
    for await (const row of queryAll(table, feed, { attributes: ['pk', 'sk'] }))
      if (parseKey(row)?.kind === 'feedEntry') incident.entries += 1;
  });
  return incidents;
}

/** The number of alerts of each incident, by its id; undefined: the account has more than `limit` alerts. */
export async function countAlerts(table: Table, account: Int64, limit: number) {
  const counts = new Map<string, number>();
  let total = 0;
  await forEach(collections.alertShards(account), async (shard) => {
    for await (const { incident_id } of queryAll(table, shard, { attributes: ['incident_id'] })) {
      total += 1;
      if (total > limit) return;
      if (incident_id !== undefined) counts.set(incident_id, (counts.get(incident_id) ?? 0) + 1);
    }
  });
  return total > limit ? undefined : counts;
}

/**
 * The merges of an account and their undos, by ascending sequence.
 * @param fromMs Unix milliseconds: entries committed earlier are omitted
 */
export async function listMerges(table: Table, account: Int64, fromMs: number): Promise<FeedEntryWithAlerts[]> {
  const merges: FeedEntryWithAlerts[] = [];
  const incidents = await queryRows(table, collections.incidents(account), { attributes: ['sk'] });
  await forEach(incidents, async ({ sk: incidentId }) => {
    const { sk: from } = keys.feedEntry(account, incidentId, Math.max(0, Math.floor(fromMs)));
    merges.push(...feedOf(await queryRows(table, collections.feed(account, incidentId), { from })).entries);
  });
  return merges.sort((a, b) => a.entry.sequence - b.entry.sequence);
}

/**
 * The merges into the newest incidents, the latest merge first. ObjectIDs begin with a time, so the newest have the
 * highest ids.
 * @param before id of an incident: reads those with lower ids; undefined: from the newest
 * @param extraIncidents ids of further incidents whose merges are read
 * @returns `next`: the value of `before` for the next call; undefined after the last incident
 */
export async function listLatestMerges(
  table: Table,
  account: Int64,
  {
    incidents: limit,
    before,
    extraIncidents = [],
  }: { incidents: number; before?: string | undefined; extraIncidents?: readonly string[] },
): Promise<{ incidents: ReadonlyMap<string, IncidentRow>; items: FeedEntryWithAlerts[]; next: string | undefined }> {
  const page = await queryPage(table, collections.incidents(account), { limit, after: before, descending: true });
  const incidents = new Map(page.rows.map((row) => [row.sk, row]));
  const items: FeedEntryWithAlerts[] = [];
  await forEach(new Set([...incidents.keys(), ...extraIncidents]), async (id) => {
    items.push(...(await readFeed(table, account, id)));
  });
  return { incidents, items: items.sort((a, b) => b.entry.sequence - a.entry.sequence), next: page.next };
}

/**
 * The effects of a feed entry, one by one.
 * @param ownerOf gives the name of a member
 * @returns for each a text, and the id of the incident to show after it, if there is one
 */
export function effectsOf({ entry, moves, stayed }: FeedEntryWithAlerts, ownerOf: (id: Int64) => string = String) {
  const isMerge = entry.kind === 'merge';
  const { old_owner_id, new_owner_id } = entry;
  const byOtherIncident = Map.groupBy(moves, ({ from, to }) => (isMerge ? from : to));
  const effects: { text: string; incident?: string }[] = [...byOtherIncident].map(([incident, { length }]) => {
    const text = `${countText(length, 'alert')} ${isMerge ? 'from' : 'back to'}`;
    return incident ? { text, incident } : { text: `${text} no incident` };
  });
  if (stayed.length > 0) effects.push({ text: `${countText(stayed.length, 'alert')} already there` });
  if (entry.new_title !== undefined) effects.push({ text: `title: ${entry.old_title} → ${entry.new_title}` });
  if (new_owner_id !== undefined) {
    const before = old_owner_id === undefined ? 'none' : ownerOf(old_owner_id);
    effects.push({ text: `owner: ${before} → ${ownerOf(new_owner_id)}` });
  }
  if (entry.comment !== undefined) effects.push({ text: `comment: ${entry.comment}` });
  return effects;
}
