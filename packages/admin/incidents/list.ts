/** An account's incidents and merges, as lists for operators. */

import type { Table } from '../../../lib/dynamodb/client.ts';
import { collections, keys, parseKey } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { queryAll, queryPage, queryRows } from '../../../lib/dynamodb/query.ts';
import type { IncidentRow } from '../../../lib/dynamodb/rows.ts';
import { type FeedEntryWithAlerts, feedOf, readFeed } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

/** @returns in the order of their ids */
export async function listIncidents(table: Table, account: Int64) {
  const rows = await queryRows(table, collections.incidents(account));
  const alerts = await countAlerts(table, account, Number.POSITIVE_INFINITY);
  const incidents = rows.map(({ incident_id, title, owner_id }) => ({
    incident_id,
    title,
    ...(owner_id !== undefined && { owner_id }),
    alerts: alerts?.get(incident_id) ?? 0,
    /** Number of entries of its feed. */
    entries: 0,
  }));
  await forEach(incidents, async (incident) => {
    const feed = collections.feed(account, incident.incident_id);
    for await (const row of queryAll(table, feed, { attributes: ['pk', 'sk'] }))
      if (parseKey(row)?.kind === 'feedEntry') incident.entries += 1;
  });
  return incidents;
}

/** How many alerts each incident of an account has, by its id; undefined: the account has more than `most`. */
export async function countAlerts(table: Table, account: Int64, most: number) {
  const counts = new Map<string, number>();
  let all = 0;
  await forEach(collections.alertShards(account), async (shard) => {
    for await (const { incident_id } of queryAll(table, shard, { attributes: ['incident_id'] })) {
      all += 1;
      if (all > most) return;
      if (incident_id !== undefined) counts.set(incident_id, (counts.get(incident_id) ?? 0) + 1);
    }
  });
  return all > most ? undefined : counts;
}

/**
 * The merges of an account and their undos, in their order.
 * @param fromMs Unix milliseconds: those committed earlier are omitted
 */
export async function listMerges(table: Table, account: Int64, fromMs: number): Promise<FeedEntryWithAlerts[]> {
  const merges: FeedEntryWithAlerts[] = [];
  const incidents = await queryRows(table, collections.incidents(account), { attributes: ['sk'] });
  await forEach(incidents, async ({ sk: incidentId }) => {
    const { sk: from } = keys.feedEntry(account, incidentId, Math.max(0, Math.floor(fromMs)));
    merges.push(...feedOf(await queryRows(table, collections.feed(account, incidentId), { from })).items);
  });
  return merges.sort((one, other) => one.entry.sequence - other.entry.sequence);
}

/**
 * The feeds of the newest incidents (ObjectIDs begin with their time), the latest entries first.
 * @param before an incident's id: those with lower ids; undefined: the newest
 * @param also further incidents to look into
 * @returns `next`: the `before` for the following ones; absent when none are left
 */
export async function listLatestMerges(
  table: Table,
  account: Int64,
  { incidents: limit, before, also = [] }: { incidents: number; before?: string | undefined; also?: readonly string[] },
): Promise<{ incidents: ReadonlyMap<string, IncidentRow>; items: FeedEntryWithAlerts[]; next: string | undefined }> {
  const page = await queryPage(table, collections.incidents(account), { limit, after: before, descending: true });
  const incidents = new Map(page.rows.map((row) => [row.sk, row]));
  const items: FeedEntryWithAlerts[] = [];
  await forEach(new Set([...incidents.keys(), ...also]), async (id) => {
    items.push(...(await readFeed(table, account, id)));
  });
  return { incidents, items: items.sort((one, other) => other.entry.sequence - one.entry.sequence), next: page.next };
}
