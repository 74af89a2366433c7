/**
 * An account's incidents and alerts as one picture. They are read row by row while merges go on, and the moves of a large
 * merge follow its commit, so what was read may hold half of a merge: each merge that shows is applied to all of it.
 */
import type { Int64 } from '../json.ts';
import type { Row } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { collections, type Key } from '../table/keys.ts';
import { queryAll } from '../table/query-all.ts';
import type { AlertRow, FeedEntry, IncidentRow } from './feed.ts';
import { readLedger } from './ledger.ts';
import { decideFor } from './move.ts';
import type { Decide } from './placement.ts';
import { type FeedItem, readEntry } from './read.ts';

type Stored<RowType> = Key & Row & RowType;

export interface Snapshot {
  incidents: Stored<IncidentRow>[];
  alerts: Stored<AlertRow>[];
}

/**
 * Reads all incidents and alerts of an account. Merges that were committed before the reading began are in the result whole,
 * those that are committed meanwhile whole or not at all.
 */
export async function readSnapshot(table: Table, account: Int64): Promise<Snapshot> {
  const before = await readLedger(table, account);
  // Incidents first: an alert that is read later shows every merge that they show.
  const incidents = await readAll<IncidentRow>(table, [collections.incidents(account)]);
  const alerts = await readAll<AlertRow>(table, collections.alertShards(account));

  const entries = new Map<number, FeedItem>();
  for (const { sequence, incidentId } of before.pending ?? []) {
    const item = await readEntry(table, account, incidentId, sequence);
    if (item) entries.set(sequence, item);
  }
  for (const { incident_id: to, moved_from: from, moved_sequence: sequence = 0 } of alerts) {
    if (sequence <= (before.last ?? 0) || entries.has(sequence)) continue;
    // A merge is in the feed of the incident that took the alert, its undoing in that of the incident that gave it back.
    for (const incidentId of [to, from]) {
      if (incidentId === undefined) continue;
      const item = await readEntry(table, account, incidentId, sequence);
      if (item) entries.set(sequence, item);
    }
  }
  const alertOf = new Map(alerts.map((alert) => [alert.alert_id, alert]));
  const incidentOf = new Map(incidents.map((incident) => [incident.incident_id, incident]));
  for (const { entry, alertIds } of [...entries.values()].sort(
    (one, other) => one.entry.sequence - other.entry.sequence,
  )) {
    const decide = await decideFor(table, { account, entry });
    for (const alert of alertIds.flatMap((id) => alertOf.get(id) ?? [])) moveWith(entry, decide, alert);
    const incident = incidentOf.get(entry.incident_id);
    if (incident && entry.sequence > (before.last ?? 0)) changeWith(entry, incident);
  }
  return { incidents, alerts };
}

/** Moves an alert as its entry does, or did already. */
function moveWith({ sequence }: FeedEntry, decide: Decide, alert: AlertRow): void {
  if ((alert.moved_sequence ?? 0) >= sequence) return;
  const verdict = decide(alert.alert_id, alert);
  if (typeof verdict === 'string') return;
  if (verdict.to === undefined) delete alert.incident_id;
  else alert.incident_id = verdict.to;
  alert.moved_sequence = sequence;
}

function changeWith({ new_title: title, new_owner_id: owner }: FeedEntry, incident: IncidentRow): void {
  if (title !== undefined) incident.title = title;
  if (owner !== undefined) incident.owner_id = owner;
}

async function readAll<RowType>(table: Table, partitions: readonly string[]): Promise<Stored<RowType>[]> {
  const rows: Stored<RowType>[] = [];
  for (const partition of partitions)
    for await (const row of queryAll(table, partition)) rows.push(row as Stored<RowType>);
  return rows;
}
