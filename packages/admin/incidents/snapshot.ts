/**
 * A consistent snapshot of an account's incidents and alerts. Rows are read one by one while merges go on, and a
 * large merge moves its alerts after its commit, so the rows may show only a part of a merge. The rest of each such
 * merge is then applied to the snapshot.
 */
import type { Table } from '../../../lib/dynamodb/client.ts';
import { collections, type Stored } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { queryAll, queryRows } from '../../../lib/dynamodb/query.ts';
import type { AlertRow, FeedEntry, IncidentRow } from '../../../lib/dynamodb/rows.ts';
import { type Decide, latestEntryOf } from '../../../lib/operations/merge-alerts/assignment.ts';
import type { EntryId } from '../../../lib/operations/merge-alerts/feed.ts';
import { readMergeOrder } from '../../../lib/operations/merge-alerts/merge-order.ts';
import { decideFor } from '../../../lib/operations/merge-alerts/move.ts';
import { type FeedEntryWithAlerts, readCompleteEntry } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

/**
 * Reads all incidents and alerts of an account. A merge that was committed before the start is included in full, one
 * that is committed meanwhile in full or not at all.
 */
export async function readSnapshot(table: Table, account: Int64) {
  const order = await readMergeOrder(table, account);
  // Incidents before alerts: then the alerts show every merge that the incidents show.
  const incidents = await queryRows(table, collections.incidents(account));
  const alerts: Stored<'alert'>[] = [];
  for (const shard of collections.alertShards(account))
    for await (const alert of queryAll(table, shard)) alerts.push(alert);

  /** Entries that may be pending, or have been committed meanwhile. */
  const entryIds = new Map<string, EntryId>();
  const add = (entryId: EntryId) => entryIds.set(`${entryId.incidentId} ${entryId.sequence}`, entryId);
  for (const entryId of order.pending ?? []) add(entryId);
  // A merge that was committed between the two reads above may have changed only a title or owner so far.
  for (const { incident_id: incidentId, last_change: change } of incidents)
    if (change && change.sequence > order.last) add({ incidentId, sequence: change.sequence });
  // A merge has its entry in the feed of the incident that it moves alerts to, an undo in the feed of the incident that it
  // moves them from.
  for (const { incident_id: to, moved_from: from, moved_sequence: sequence } of alerts)
    for (const incidentId of [to, from])
      if (sequence !== undefined && sequence > order.last && incidentId !== undefined) add({ incidentId, sequence });
  const entries: FeedEntryWithAlerts[] = [];
  await forEach(entryIds.values(), async (entryId) => {
    const item = await readCompleteEntry(table, account, entryId);
    if (item) entries.push(item);
  });
  const alertOf = new Map(alerts.map((alert) => [alert.alert_id, alert]));
  const incidentOf = new Map(incidents.map((incident) => [incident.incident_id, incident]));
  for (const { entry, alertIds } of entries.sort((a, b) => a.entry.sequence - b.entry.sequence)) {
    const decide = await decideFor(table, { account, entry });
    for (const alert of alertIds.flatMap((id) => alertOf.get(id) ?? [])) applyToAlert(entry, decide, alert);
    const incident = incidentOf.get(entry.incident_id);
    if (incident) applyToIncident(entry, incident);
  }
  return { incidents, alerts };
}

/** Applies an entry to an alert, unless it is already applied. */
function applyToAlert({ sequence }: FeedEntry, decide: Decide, alert: AlertRow): void {
  if (latestEntryOf(alert) >= sequence) return;
  const verdict = decide(alert.alert_id, alert);
  if (!verdict) return;
  if (verdict.to === undefined) delete alert.incident_id;
  else alert.incident_id = verdict.to;
  alert.moved_sequence = sequence;
}

/** Applies an entry to an incident, unless it or a later one is already applied. */
function applyToIncident({ sequence, new_title: title, new_owner_id: owner }: FeedEntry, incident: IncidentRow): void {
  if (Math.max(incident.last_change?.sequence ?? 0, incident.loaded_after ?? 0) >= sequence) return;
  if (title !== undefined) incident.title = title;
  if (owner !== undefined) incident.owner_id = owner;
}
