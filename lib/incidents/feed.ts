import type { Int64 } from '../json.ts';
import type { Row } from '../table/batch-get.ts';
import { type Key, keys } from '../table/keys.ts';

export interface IncidentRow {
  incident_id: string;
  title: string;
  owner_id?: Int64;
  last_change?: IncidentChange;
  /** Sequence of the account's latest entry when the row was loaded: earlier ones do not apply to it. */
  loaded_after?: number;
}

/** The entry that last changed an incident, and the previous values of what it changed. */
export interface IncidentChange {
  sequence: number;
  old_title?: string;
  /** null: it had none. */
  old_owner_id?: Int64 | null;
}

export interface AlertRow {
  alert_id: string;
  title: string;
  /** Absent: in no incident. */
  incident_id?: string;
  /** Sequence of the feed entry that moved it last. */
  moved_sequence?: number;
  /** The incident that this entry took it from; absent: none. */
  moved_from?: string;
  /** Sequence of the small entry that last found it already in its incident. */
  stayed_sequence?: number;
  /** Sequence of the account's latest entry when the row was loaded: earlier ones do not apply to it. */
  loaded_after?: number;
}

/** One alert's move from an incident to another; undefined: no incident. Ids in lower case. */
export interface Move {
  alertId: string;
  from: string | undefined;
  to: string | undefined;
}

/** What a merge or its undo did: an entry of the incident's feed. */
export interface FeedEntry {
  kind: 'merge' | 'merge_undone';
  incident_id: string;
  /** Place in the order of all merges of the account; also the sort key. */
  sequence: number;
  /** Random: distinguishes a merge's entry from another's with the same key. */
  merge_id: string;
  /** Unix milliseconds. */
  at_ms: number;
  /** The key that called, or the operator. */
  by: string;
  request_id: string;
  comment?: string;
  old_title?: string;
  new_title?: string;
  old_owner_id?: Int64;
  new_owner_id?: Int64;
  /** Of an undo: the sequence of the undone merge. */
  undone_sequence?: number;
  /** Committed before its alerts are moved: separate rows list them, and where they came from. */
  large?: true;
  /** Of a large entry: how many alerts it takes. */
  alerts?: number;
}

/** Alerts that moved by the other incident (from which, or back to which), and those that stayed. */
export interface MovedAlerts {
  moved: Record<string, string[]>;
  stayed: string[];
}

/** A row of a large entry: what happened to `count` alerts of its list. */
export interface MovesRow extends MovedAlerts {
  count: number;
}

/** A stretch of the list of a large entry. */
export interface Range {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

const NO_INCIDENT = 'none';
const ID_BYTES = 12;
/** 12 bytes an id: keeps a row below DynamoDB's 400 KB. */
const IDS_IN_A_ROW = 30_000;

/** The row of an entry whose alerts are moved in the transaction that writes it. */
export function smallEntryRow(account: Int64, entry: FeedEntry, moves: Move[], stayed: string[]): Key & Row {
  return {
    ...keys.feedEntry(account, entry.incident_id, entry.sequence),
    ...entry,
    ...movedAlerts(entry.kind, moves, stayed),
  };
}

/** The rows that commit a large entry: itself, then which alerts it takes. */
export function largeEntryRows(account: Int64, entry: FeedEntry, alertIds: readonly string[]): (Key & Row)[] {
  const { incident_id: incidentId, sequence } = entry;
  const rows: (Key & Row)[] = [
    { ...keys.feedEntry(account, incidentId, sequence), ...entry, large: true, alerts: alertIds.length },
  ];
  for (let index = 0; index < alertIds.length; index += IDS_IN_A_ROW)
    rows.push({
      ...keys.feedAlerts(account, incidentId, sequence, index / IDS_IN_A_ROW),
      alert_ids: Buffer.from(alertIds.slice(index, index + IDS_IN_A_ROW).join(''), 'hex'),
    });
  return rows;
}

/** The row that records the moves of a stretch of a large entry's list. */
export function movesRow(
  account: Int64,
  { kind, incident_id: incidentId, sequence }: FeedEntry,
  { start, end }: Range,
  moves: readonly Move[],
  stayed: readonly string[],
): Key & Row {
  return {
    ...keys.feedMoves(account, incidentId, sequence, start),
    count: end - start,
    ...movedAlerts(kind, moves, stayed),
  };
}

function movedAlerts(kind: FeedEntry['kind'], moves: readonly Move[], stayed: readonly string[]): MovedAlerts {
  const moved: MovedAlerts['moved'] = {};
  for (const { alertId, from, to } of moves) {
    const other = (kind === 'merge' ? from : to) ?? NO_INCIDENT;
    moved[other] ??= [];
    moved[other].push(alertId);
  }
  return { moved, stayed: [...stayed] };
}

/** The moves and the alerts that stayed, by an entry's rows; each once, even if in several rows. */
export function readMovedAlerts(
  { kind, incident_id: own }: Pick<FeedEntry, 'kind' | 'incident_id'>,
  rows: readonly MovedAlerts[],
): { moves: Move[]; stayed: string[] } {
  const moves = new Map<string, Move>();
  const stayed = new Set<string>();
  for (const row of rows) {
    for (const alertId of row.stayed) stayed.add(alertId);
    for (const [other, alertIds] of Object.entries(row.moved)) {
      const incident = other === NO_INCIDENT ? undefined : other;
      const [from, to] = kind === 'merge' ? [incident, own] : [own, incident];
      for (const alertId of alertIds) moves.set(alertId, { alertId, from, to });
    }
  }
  return { moves: [...moves.values()], stayed: [...stayed] };
}

/** The alert ids that rows of a large entry's list hold, in their order. */
export function readAlertList(rows: readonly Row[]): string[] {
  return rows.flatMap(({ alert_ids }) => {
    const text = Buffer.from(alert_ids as Uint8Array).toString('hex');
    const digits = 2 * ID_BYTES;
    return Array.from({ length: text.length / digits }, (_, index) => text.slice(index * digits, (index + 1) * digits));
  });
}

/** What an incident notes of an entry that changes it. */
export function changeOf({ sequence, new_title, old_title, new_owner_id, old_owner_id }: FeedEntry): IncidentChange {
  return {
    sequence,
    ...(new_title !== undefined && { old_title: old_title ?? '' }),
    ...(new_owner_id !== undefined && { old_owner_id: old_owner_id ?? null }),
  };
}

/** The parts of `whole` that no range covers; ranges may overlap. */
export function uncovered(whole: Range, ranges: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let reached = whole.start;
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    if (start >= whole.end) break;
    if (start > reached) gaps.push({ start: reached, end: start });
    reached = Math.max(reached, end);
  }
  if (reached < whole.end) gaps.push({ start: reached, end: whole.end });
  return gaps;
}
