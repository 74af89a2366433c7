/** Incidents, their feeds and alerts as they are stored. */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Row } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { collections, type Key, keys, parseKey } from '../table/keys.ts';
import { queryAll } from '../table/query-all.ts';
import {
  type AlertRow,
  type FeedEntry,
  type IncidentRow,
  type Move,
  type MovedAlerts,
  type MovesRow,
  type Range,
  readAlertList,
  readMovedAlerts,
  uncovered,
} from './feed.ts';

/** A feed entry with all its alerts. */
export interface FeedItem {
  entry: FeedEntry;
  /** All alerts that it takes, in the order of its list. */
  alertIds: string[];
  moves: Move[];
  stayed: string[];
  /** Some of its alerts are not moved yet. */
  pending: boolean;
}

async function readRow<RowType>(table: Table, key: Key): Promise<RowType | undefined> {
  const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }));
  if (!Item) return undefined;
  const { pk: _pk, sk: _sk, ...row } = Item;
  return row as RowType;
}

export const readIncident = (table: Table, account: Int64, id: string) =>
  readRow<IncidentRow>(table, keys.incident(account, id));

export const readAlert = (table: Table, account: Int64, id: string) =>
  readRow<AlertRow>(table, keys.alert(account, id));

/** An incident's feed, oldest first. */
export async function readFeed(table: Table, account: Int64, incidentId: string): Promise<FeedItem[]> {
  return feedOf(await Array.fromAsync(queryAll(table, collections.feed(account, incidentId)))).items;
}

/** The entries in a feed's rows, in their order, and rows whose entry is missing. */
export function feedOf(rows: readonly (Key & Row)[]): { items: FeedItem[]; orphans: (Key & Row)[] } {
  const rowsOf = Map.groupBy(rows, (row) => Number(parseKey(row)?.parts[1]));
  const items: FeedItem[] = [];
  const orphans: (Key & Row)[] = [];
  for (const some of rowsOf.values()) {
    const item = itemOf(some);
    if (item) items.push(item);
    else orphans.push(...some);
  }
  return { items, orphans };
}

/** One entry of an incident's feed; undefined when there is none. */
export async function readEntry(
  table: Table,
  account: Int64,
  incidentId: string,
  sequence: number,
  signal?: AbortSignal,
): Promise<FeedItem | undefined> {
  const { pk, sk } = keys.feedEntry(account, incidentId, sequence);
  const rows: (Key & Row)[] = [];
  for await (const row of queryAll(table, pk, { prefix: sk, signal })) rows.push(row);
  return itemOf(rows);
}

/** An entry from all its rows; undefined when the entry itself is not among them. */
function itemOf(rows: readonly (Key & Row)[]): FeedItem | undefined {
  const ofKind = (kind: string) => rows.filter((row) => parseKey(row)?.kind === kind);
  const [row] = ofKind('feedEntry');
  if (!row) return undefined;
  const { pk: _pk, sk: _sk, moved, stayed, ...entry } = row as unknown as Key & FeedEntry & MovedAlerts;
  if (!entry.large) {
    const alerts = readMovedAlerts(entry, [{ moved, stayed }]);
    return {
      entry,
      alertIds: [...alerts.moves.map(({ alertId }) => alertId), ...alerts.stayed],
      ...alerts,
      pending: false,
    };
  }
  const movesRows = ofKind('feedMoves');
  return {
    entry,
    alertIds: readAlertList(ofKind('feedAlerts')),
    ...readMovedAlerts(entry, movesRows as unknown as MovesRow[]),
    pending: uncovered({ start: 0, end: entry.alerts ?? 0 }, movesRows.map(rangeOf)).length > 0,
  };
}

function rangeOf(row: Key & Row): Range {
  const start = Number(parseKey(row)?.parts[2]);
  return { start, end: start + Number(row.count) };
}

/** A large entry and its alerts: the immutable part. */
export interface LargeEntry {
  readonly account: Int64;
  readonly entry: FeedEntry;
  readonly alertIds: readonly string[];
}

/** @returns undefined when there is no such entry, or it is not large */
export async function readLargeEntry(
  table: Table,
  account: Int64,
  { incidentId, sequence }: { incidentId: string; sequence: number },
  signal?: AbortSignal,
): Promise<LargeEntry | undefined> {
  const { pk, sk } = keys.feedEntry(account, incidentId, sequence);
  const rows: (Key & Row)[] = [];
  for await (const row of queryAll(table, pk, { prefix: sk, signal })) {
    if (parseKey(row)?.kind === 'feedMoves') break;
    rows.push(row);
  }
  const item = itemOf(rows);
  return item?.entry.large ? { account, entry: item.entry, alertIds: item.alertIds } : undefined;
}

/** The stretches of a large entry's list whose alerts are moved. */
export async function readMovedRanges(
  table: Table,
  { account, entry }: LargeEntry,
  signal?: AbortSignal,
): Promise<Range[]> {
  const { pk, sk } = keys.feedMoves(account, entry.incident_id, entry.sequence, 0);
  const ranges: Range[] = [];
  const prefix = sk.slice(0, sk.lastIndexOf('#') + 1);
  for await (const row of queryAll(table, pk, { prefix, signal, attributes: ['pk', 'sk', 'count'] }))
    ranges.push(rangeOf(row));
  return ranges;
}
