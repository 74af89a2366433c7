import type { Int64 } from '../json.ts';
import type { Row } from '../table/batch-get.ts';
import { type Key, keys } from '../table/keys.ts';

export interface IncidentRow {
  incident_id: string;
  title: string;
  owner_id?: Int64;
}

export interface AlertRow {
  alert_id: string;
  title: string;
  /** Absent: in no incident. */
  incident_id?: string;
  /** Stamp of the merge that moved it last: only a later one may move it again. */
  moved_stamp?: number;
}

/** One alert's way from an incident to another; undefined: no incident. Ids in lower case. */
export interface Move {
  alertId: string;
  from: string | undefined;
  to: string | undefined;
}

/** What a merge or its undoing did, as the incident's feed tells it. */
export interface FeedEntry {
  kind: 'merge' | 'merge_undone';
  incident_id: string;
  /** Place in the order of all merges of the account; also the sort key. */
  stamp: number;
  /** Random: tells a merge's own entry from another's in the same place. */
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
  /** Of an undoing: the stamp of the merge that it undid. */
  undone_stamp?: number;
  /** Rows that hold further alerts of this entry. */
  parts: number;
  /** The alerts' moves are not all done yet. */
  pending?: true;
}

/** Alerts of an entry: those that moved by the other incident (from which, or back to which), and those that stayed. */
interface EntryAlerts {
  moved: Record<string, string[]>;
  stayed: string[];
}

const NO_INCIDENT = 'none';
/** Keeps a row below DynamoDB's 400 KB also when every alert comes from an incident of its own. */
const ALERTS_IN_A_ROW = 4_000;

/** The rows of a feed entry: the entry with as many alerts as fit, and parts for the rest. */
export function feedRows(
  account: Int64,
  entry: Omit<FeedEntry, 'parts'>,
  moves: Move[],
  stayed: string[],
): (Key & Row)[] {
  const all = [...moves, ...stayed];
  const pieces: (typeof all)[] = [];
  for (let at = 0; at === 0 || at < all.length; at += ALERTS_IN_A_ROW) pieces.push(all.slice(at, at + ALERTS_IN_A_ROW));
  return pieces.map((piece, part) => ({
    ...(part === 0
      ? keys.feedEntry(account, entry.incident_id, entry.stamp)
      : keys.feedEntryPart(account, entry.incident_id, entry.stamp, part)),
    ...(part === 0 && { ...entry, parts: pieces.length - 1 }),
    ...alertsOf(entry.kind, piece),
  }));
}

function alertsOf(kind: FeedEntry['kind'], alerts: (Move | string)[]): EntryAlerts {
  const moved: EntryAlerts['moved'] = {};
  const stayed: string[] = [];
  for (const alert of alerts) {
    if (typeof alert === 'string') {
      stayed.push(alert);
      continue;
    }
    const other = (kind === 'merge' ? alert.from : alert.to) ?? NO_INCIDENT;
    moved[other] ??= [];
    moved[other].push(alert.alertId);
  }
  return { moved, stayed };
}

/** The keys of an entry's parts. */
export function partKeys(account: Int64, entry: FeedEntry): Key[] {
  return Array.from({ length: entry.parts }, (_, part) =>
    keys.feedEntryPart(account, entry.incident_id, entry.stamp, part + 1),
  );
}

/** The moves that the rows of an entry (itself and its parts) tell of, and the alerts that stayed. */
export function readAlerts(entry: FeedEntry, rows: readonly Row[]): { moves: Move[]; stayed: string[] } {
  const moves: Move[] = [];
  const stayed: string[] = [];
  for (const row of rows as unknown as EntryAlerts[]) {
    stayed.push(...row.stayed);
    for (const [other, alertIds] of Object.entries(row.moved)) {
      const incident = other === NO_INCIDENT ? undefined : other;
      const [from, to] = entry.kind === 'merge' ? [incident, entry.incident_id] : [entry.incident_id, incident];
      moves.push(...alertIds.map((alertId) => ({ alertId, from, to })));
    }
  }
  return { moves, stayed };
}
