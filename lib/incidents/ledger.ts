import type { Int64 } from '../json.ts';
import { batchGet, type Row, rowName } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { type AlertRow, type FeedEntry, type Move, partKeys, readAlerts } from './feed.ts';

/**
 * One row an account that puts its merges in order. `last` is the stamp of the latest merge, `last_large` that of the
 * latest one too large for one transaction; an attribute `p<stamp>` names the incident of each merge whose moves are not
 * done yet. Every commit is conditional on it, so the order of the stamps is the order of the commits.
 */
export interface Ledger {
  last: number | undefined;
  lastLarge: number | undefined;
  pending: { stamp: number; incidentId: string }[];
}

const PENDING = /^p(\d+)$/;

/** Attribute of the ledger that marks a merge as pending. */
export const pendingAttribute = (stamp: number) => `p${stamp}`;

export function readLedger(row: Row | undefined): Ledger {
  const pending = Object.entries(row ?? {}).flatMap(([name, incidentId]) => {
    const stamp = PENDING.exec(name)?.[1];
    return stamp === undefined ? [] : [{ stamp: Number(stamp), incidentId: String(incidentId) }];
  });
  return {
    last: row?.last as number | undefined,
    lastLarge: row?.last_large as number | undefined,
    pending: pending.sort((one, other) => one.stamp - other.stamp),
  };
}

/** A merge that is committed and not yet moved, with what it moves. */
export interface PendingMerge {
  entry: FeedEntry;
  moves: Move[];
}

/** Reads a feed entry with all its parts; undefined when there is none. */
export async function readEntry(
  table: Table,
  account: Int64,
  incidentId: string,
  stamp: number,
  signal?: AbortSignal,
): Promise<PendingMerge | undefined> {
  const key = keys.feedEntry(account, incidentId, stamp);
  const row = (await batchGet(table, [key], signal)).get(rowName(key));
  if (!row) return undefined;
  const entry = row as unknown as FeedEntry;
  const parts = await batchGet(table, partKeys(account, entry), signal);
  return { entry, moves: readAlerts(entry, [row, ...parts.values()]).moves };
}

/** Where an alert is, once all that is committed has happened. */
export interface Whereabouts {
  incidentId: string | undefined;
  stamp: number | undefined;
}

/**
 * Where each alert is for a merge that commits now: as stored, unless a pending merge with a later stamp is about to move
 * it. Without that a feed would tell where an alert came from by a row that an earlier merge has not reached yet.
 */
export function effectiveWhereabouts(pending: readonly PendingMerge[]): (alert: AlertRow) => Whereabouts {
  const movesOf = new Map<string, Whereabouts[]>();
  for (const { entry, moves } of pending)
    for (const { alertId, to } of moves)
      movesOf.set(alertId, [...(movesOf.get(alertId) ?? []), { incidentId: to, stamp: entry.stamp }]);
  return ({ alert_id, incident_id, moved_stamp }) => {
    let now: Whereabouts = { incidentId: incident_id, stamp: moved_stamp };
    for (const move of movesOf.get(alert_id) ?? []) if ((move.stamp ?? 0) > (now.stamp ?? 0)) now = move;
    return now;
  };
}
