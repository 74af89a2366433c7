/** A consistent snapshot of an account's incidents and alerts, read while merges go on. */

import { resolve } from '../../../lib/operations/merge-alerts/decide.ts';
import { readEntries, readLog } from '../../../lib/operations/merge-alerts/entry.ts';
import { changesOf } from '../../../lib/operations/merge-alerts/incident.ts';
import { readLogHead } from '../../../lib/operations/merge-alerts/log-head.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { partitions, type Stored, shardsOf } from '../../../lib/table/keys.ts';
import { queryAll, queryRows } from '../../../lib/table/read.ts';

/** All incidents and alerts as they are after the latest merge that was committed when the last of them was read. */
export async function readSnapshot(
  table: Table,
  account: Int64,
): Promise<{ incidents: Stored<'incident'>[]; alerts: Stored<'alert'>[] }> {
  const headBefore = await readLogHead(table, account);
  const entries = await readEntries(table, account, headBefore.pending);
  const incidents = await queryRows(table, partitions.incident(account));
  const alerts: Stored<'alert'>[] = [];
  for (const shard of shardsOf(partitions.alert, account))
    for await (const alert of queryAll(table, shard)) alerts.push(alert);
  entries.push(...(await readLog(table, account, headBefore, await readLogHead(table, account))));

  const incidentOf = new Map(incidents.map((incident) => [incident.incident_id, incident]));
  for (const { entry } of entries) {
    const incident = incidentOf.get(entry.incident_id);
    if (!incident) continue;
    const { sequence, new_title, new_owner_id, ...rest } = entry;
    const later = {
      ...((incident.title_by ?? 0) < sequence && new_title !== undefined && { new_title }),
      ...((incident.owner_by ?? 0) < sequence && new_owner_id !== undefined && { new_owner_id }),
    };
    Object.assign(incident, changesOf({ ...rest, sequence, ...later }, incident));
  }
  const resolved = resolve(new Map(alerts.map((alert) => [alert.alert_id, alert])), entries);
  return { incidents, alerts: [...resolved.values()] as Stored<'alert'>[] };
}
