/**
 * A consistent snapshot of an account's incidents and alerts. Rows are read one by one during merges, and the moves of a large
 * merge follow its commit, so the rows may show half of a merge: each visible merge is then applied in full.
 */

import type { Table } from '../../../lib/dynamodb/client.ts';
import { collections, type Stored } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { queryAll, queryRows } from '../../../lib/dynamodb/query.ts';
import type { AlertRow, FeedEntry, IncidentRow } from '../../../lib/dynamodb/rows.ts';
import { type Decide, latestEntryOf } from '../../../lib/operations/merge-alerts/assignment.ts';
import type { EntryId } from '../../../lib/operations/merge-alerts/feed.ts';
import { lowestNext, readMergeOrder } from '../../../lib/operations/merge-alerts/merge-order.ts';
import { decideFor } from '../../../lib/operations/merge-alerts/move.ts';
import { type FeedEntryWithAlerts, readEntryWithMoves } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

/**
 * Reads all incidents and alerts of an account. Merges committed before the start are included in full,
 * those committed meanwhile in full or not at all.
 */
export async function readSnapshot(table: Table, account: Int64) {
  const order = await readMergeOrder(table, account);
  const lowest = lowestNext(order);
  // Incidents first: an alert that is read later shows every merge that they show.
  const incidents = await queryRows(table, collections.incidents(account));
  const alerts: Stored<'alert'>[] = [];
  for (const shard of collections.alertShards(account))
    for await (const alert of queryAll(table, shard)) alerts.push(alert);

  /** Incidents whose feeds may hold entries committed meanwhile, or pending. */
  const places = new Map<string, EntryId>();
  const add = (place: EntryId) => places.set(`${place.incidentId} ${place.sequence}`, place);
  for (const one of order.pending ?? []) add(one);
  // A merge that was committed before the incidents were read, and is not listed above, may show only by its title or owner.
  for (const { incident_id: incidentId, last_change: change } of incidents)
    if (change && change.sequence >= lowest) add({ incidentId, sequence: change.sequence });
  // A merge is in the feed of the incident that took the alert, its undo in that of the incident that returned it.
  for (const { incident_id: to, moved_from: from, moved_sequence: sequence } of alerts)
    for (const incidentId of [to, from])
      if (sequence !== undefined && sequence >= lowest && incidentId !== undefined) add({ incidentId, sequence });
  const entries: FeedEntryWithAlerts[] = [];
  await forEach([...places.values()], async (place) => {
    const item = await readEntryWithMoves(table, account, place);
    if (item) entries.push(item);
  });
  const alertOf = new Map(alerts.map((alert) => [alert.alert_id, alert]));
  const incidentOf = new Map(incidents.map((incident) => [incident.incident_id, incident]));
  for (const { entry, alertIds } of entries.sort((one, other) => one.entry.sequence - other.entry.sequence)) {
    const decide = await decideFor(table, { account, entry });
    for (const alert of alertIds.flatMap((id) => alertOf.get(id) ?? [])) moveWith(entry, decide, alert);
    const incident = incidentOf.get(entry.incident_id);
    if (incident) changeWith(entry, incident);
  }
  return { incidents, alerts };
}

/** Applies an entry's move to an alert, if not yet applied. */
function moveWith({ sequence }: FeedEntry, decide: Decide, alert: AlertRow): void {
  if (latestEntryOf(alert) >= sequence) return;
  const verdict = decide(alert.alert_id, alert);
  if (!verdict) return;
  if (verdict.to === undefined) delete alert.incident_id;
  else alert.incident_id = verdict.to;
  alert.moved_sequence = sequence;
}

/** Applies an entry's change to an incident, unless it or a later one is applied. */
function changeWith({ sequence, new_title: title, new_owner_id: owner }: FeedEntry, incident: IncidentRow): void {
  if (Math.max(incident.last_change?.sequence ?? 0, incident.loaded_after ?? 0) >= sequence) return;
  if (title !== undefined) incident.title = title;
  if (owner !== undefined) incident.owner_id = owner;
}
