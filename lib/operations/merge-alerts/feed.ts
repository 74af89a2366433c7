import { keys, type Stored } from '../../dynamodb/keys.ts';
import type { AlertListRow, FeedEntry, IncidentChange, MovedAlerts } from '../../dynamodb/rows.ts';
import { chunksOf } from '../../shared/chunks.ts';
import type { Int64 } from '../../shared/json.ts';

/** One alert's move from an incident to another; undefined: no incident. Ids in lower case. */
export interface Move {
  alertId: string;
  from: string | undefined;
  to: string | undefined;
}

/** Identifies a feed entry within its account. */
export interface EntryId {
  readonly incidentId: string;
  readonly sequence: number;
}

/** A slice of the alert list of a large entry, by index. */
export interface ListSlice {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** Stored in place of an incident's id. */
const NO_INCIDENT = 'none';
const ID_BYTES = 12;
/** At 12 bytes an id, a row stays below DynamoDB's 400 KB. */
const IDS_IN_A_ROW = 30_000;

/** The row of a small entry, with its moves. */
export function smallEntryRow(
  account: Int64,
  entry: FeedEntry,
  moves: readonly Move[],
  stayed: readonly Move[],
): Stored<'feedEntry'> {
  return {
    ...keys.feedEntry(account, entry.incident_id, entry.sequence),
    ...entry,
    ...movedAlerts(entry.kind, moves, stayed),
  };
}

/** The rows of a large entry: the entry itself, then the list of its alerts. */
export function largeEntryRows(
  account: Int64,
  entry: FeedEntry,
  alertIds: readonly string[],
): Stored<'feedEntry' | 'feedAlerts'>[] {
  const { incident_id: incidentId, sequence } = entry;
  return [
    { ...keys.feedEntry(account, incidentId, sequence), ...entry, large: true, alerts: alertIds.length },
    ...chunksOf(alertIds, IDS_IN_A_ROW).map((ids, part) => ({
      ...keys.feedAlerts(account, incidentId, sequence, part),
      alert_ids: Buffer.from(ids.join(''), 'hex'),
    })),
  ];
}

/** The part numbers of the rows that hold a list of this many alerts. */
export const listParts = (alerts = 0) => Array.from({ length: Math.ceil(alerts / IDS_IN_A_ROW) }, (_, part) => part);

/** The row that records the moves of a slice of a large entry's list. */
export function movesRow(
  account: Int64,
  { kind, incident_id: incidentId, sequence }: FeedEntry,
  { start, end }: ListSlice,
  moves: readonly Move[],
  stayed: readonly Move[],
): Stored<'feedMoves'> {
  return {
    ...keys.feedMoves(account, incidentId, sequence, start),
    count: end - start,
    ...movedAlerts(kind, moves, stayed),
  };
}

function movedAlerts(kind: FeedEntry['kind'], moves: readonly Move[], stayed: readonly Move[]): MovedAlerts {
  const byOtherIncident = Map.groupBy(moves, ({ from, to }) => (kind === 'merge' ? from : to) ?? NO_INCIDENT);
  const moved = [...byOtherIncident].map(([otherIncident, group]) => [
    otherIncident,
    group.map(({ alertId }) => alertId),
  ]);
  return { moved: Object.fromEntries(moved), stayed: stayed.map(({ alertId }) => alertId) };
}

/** Collects moves and no-ops from an entry's rows. An alert that is in several rows counts once. */
export function decodeMoves(
  { kind, incident_id: ownIncident }: Pick<FeedEntry, 'kind' | 'incident_id'>,
  rows: readonly MovedAlerts[],
): { moves: Move[]; stayed: string[] } {
  const moves = new Map<string, Move>();
  const stayed = new Set<string>();
  for (const row of rows) {
    for (const alertId of row.stayed) stayed.add(alertId);
    for (const [key, alertIds] of Object.entries(row.moved)) {
      const otherIncident = key === NO_INCIDENT ? undefined : key;
      const [from, to] = kind === 'merge' ? [otherIncident, ownIncident] : [ownIncident, otherIncident];
      for (const alertId of alertIds) moves.set(alertId, { alertId, from, to });
    }
  }
  return { moves: [...moves.values()], stayed: [...stayed] };
}

/** The alert ids in the rows of a large entry's list, in its order. */
export function decodeAlertList(rows: readonly AlertListRow[]): string[] {
  return rows.flatMap(({ alert_ids }) => {
    const text = Buffer.from(alert_ids).toString('hex');
    const digits = 2 * ID_BYTES;
    return Array.from({ length: text.length / digits }, (_, index) => text.slice(index * digits, (index + 1) * digits));
  });
}

/** The `last_change` of an incident: the entry that changes it, the values before, and the previous change. */
export function changeOf(
  { sequence, new_title, old_title, new_owner_id, old_owner_id }: FeedEntry,
  previous?: Pick<IncidentChange, 'sequence'>,
): IncidentChange {
  return {
    sequence,
    ...(previous && { previous_sequence: previous.sequence }),
    ...(new_title !== undefined && { old_title: old_title ?? '' }),
    ...(new_owner_id !== undefined && { old_owner_id: old_owner_id ?? null }),
  };
}

/** The parts of `whole` that no slice covers. Slices may overlap. */
export function gapsIn(whole: ListSlice, slices: readonly ListSlice[]): ListSlice[] {
  const gaps: ListSlice[] = [];
  let reached = whole.start;
  for (const { start, end } of slices.toSorted((a, b) => a.start - b.start)) {
    if (start >= whole.end) break;
    if (start > reached) gaps.push({ start: reached, end: start });
    reached = Math.max(reached, end);
  }
  if (reached < whole.end) gaps.push({ start: reached, end: whole.end });
  return gaps;
}
