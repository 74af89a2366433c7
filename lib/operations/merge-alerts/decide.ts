/** Decides the entry of a merge by what was read. Reads nothing itself. */

import type { Deps } from '../../deps.ts';
import type { IncidentRow } from '../../model/incident.ts';
import type { Int64 } from '../../shared/json.ts';
import type { EntryWithMoves, Move } from './entry.ts';
import type { LogHead } from './log-head.ts';
import { type Assignments, latestEntryOf } from './move.ts';
import type { Idempotency, MergeRequest } from './request.ts';
import type { Targets } from './targets.ts';

/** A merge or undo that is ready to be committed. */
export interface PreparedEntry extends EntryWithMoves {
  account: Int64;
  /** The rows of its alerts, as read. A small commit is conditional on them. */
  rows: Assignments;
  /** As read. */
  incident: IncidentRow;
  head: LogHead;
  idempotency?: Idempotency | undefined;
}

/**
 * How long after its arrival, by API Gateway's clock, a merge is made at the latest: more than a call takes. The records of that time do not
 * replace the title and owner that it gives. A function's clock may be ahead by more, and would hide the records of as long.
 */
const MAX_SINCE_ARRIVAL_MS = 60_000;

export function decide(
  request: MergeRequest,
  { targets, pending }: { targets: Targets; pending: readonly EntryWithMoves[] },
  { now, newId }: Pick<Deps, 'now' | 'newId'>,
): PreparedEntry {
  const { account, incidentId, comment, title, owner, idempotency } = request;
  const { incident, alerts: rows, head, headBefore } = targets;
  const atMs = Math.min(now(), request.arrivedMs + MAX_SINCE_ARRIVAL_MS);
  const entry: PreparedEntry['entry'] = {
    kind: 'merge',
    incident_id: incidentId,
    sequence: nextSequence(atMs, head, rows, incident),
    merge_id: newId(),
    at_ms: atMs,
    by: request.by,
    request_id: request.requestId,
    ...(headBefore && { large: true, read_since: { last: headBefore.last, entries: headBefore.entries } }),
    ...(comment !== undefined && { comment }),
    ...(title !== undefined && { old_title: incident.title, new_title: title }),
    ...(owner !== undefined && { new_owner_id: owner }),
    ...(owner !== undefined && incident.owner_id !== undefined && { old_owner_id: incident.owner_id }),
  };
  const moves = movesOf(request, resolve(rows, pending));
  return { account, entry, moves, rows, incident, head, idempotency };
}

/** The alerts come from where they are at the commit. Those of a large merge may have left meanwhile, which finishing corrects. */
function movesOf({ alertIds, incidentId }: MergeRequest, resolved: Assignments): Move[] {
  return alertIds.map((alertId) => {
    const { incident_id: from, moved_sequence } = resolved.get(alertId) ?? {};
    return { alertId, from, to: incidentId, ...(moved_sequence !== undefined && { takenBefore: true as const }) };
  });
}

/**
 * Where alerts are when these entries count, which their rows need not show yet (invariant *resolve*).
 * @param entries oldest first
 */
export function resolve(rows: Assignments, entries: readonly EntryWithMoves[]): Assignments {
  const resolved = new Map(rows);
  for (const { entry, moves } of entries)
    for (const { alertId, to } of moves) {
      const row = resolved.get(alertId);
      if (!row || latestEntryOf(row) >= entry.sequence) continue;
      const { incident_id: _left, ...rest } = row;
      resolved.set(alertId, { ...rest, ...(to !== undefined && { incident_id: to }), moved_sequence: entry.sequence });
    }
  return resolved;
}

/** The sequence of a new entry: the clock in milliseconds, but higher than every sequence that the rows record (invariant *sequence*). */
export function nextSequence(nowMs: number, head: LogHead, rows: Assignments, incident: IncidentRow): number {
  let highest = Math.max(head.last, incident.title_by ?? 0, incident.owner_by ?? 0);
  for (const row of rows.values()) highest = Math.max(highest, latestEntryOf(row));
  return Math.max(nowMs, highest + 1);
}
