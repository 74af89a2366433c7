/** Incidents, their feeds and alerts as they are stored. */

import { backoff, CONFLICT } from '../../dynamodb/backoff.ts';
import type { Table } from '../../dynamodb/client.ts';
import { collections, keys, ofKind, parseKey, type Stored } from '../../dynamodb/keys.ts';
import { queryAll, queryRows } from '../../dynamodb/query.ts';
import { getRow } from '../../dynamodb/row.ts';
import type { Int64 } from '../../shared/json.ts';
import type { FeedEntry } from '../incident-rows.ts';
import { type EntryPlace, type Move, type Range, readAlertList, readMovedAlerts, uncovered } from './feed.ts';

type FeedRow = Stored<'feedEntry' | 'feedAlerts' | 'feedMoves'>;

/** Of an entry whose rows are not all visible yet. */
const MOST_READS = 5;

/** A feed entry with all its alerts. */
export interface FeedItem {
  entry: FeedEntry;
  /** All alerts that it takes, in the order of its list. */
  alertIds: string[];
  moves: Move[];
  stayed: string[];
  /** Some of its alerts are not moved yet. */
  pending: boolean;
  /** Of these the first, as an index of its list. */
  unmovedFrom?: number;
}

export const readIncident = (table: Table, account: Int64, id: string) => getRow(table, keys.incident(account, id));

export const readAlert = (table: Table, account: Int64, id: string) => getRow(table, keys.alert(account, id));

/** An incident's feed, oldest first. */
export async function readFeed(table: Table, account: Int64, incidentId: string): Promise<FeedItem[]> {
  return feedOf(await queryRows(table, collections.feed(account, incidentId))).items;
}

/** The entries in a feed's rows, in their order, and rows whose entry is missing. */
export function feedOf(rows: readonly FeedRow[]): { items: FeedItem[]; orphans: FeedRow[] } {
  const rowsOf = Map.groupBy(rows, (row) => Number(parseKey(row)?.parts[1]));
  const items: FeedItem[] = [];
  const orphans: FeedRow[] = [];
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
  { incidentId, sequence }: EntryPlace,
): Promise<FeedItem | undefined> {
  const { sk } = keys.feedEntry(account, incidentId, sequence);
  return itemOf(await queryRows(table, collections.feed(account, incidentId), { prefix: sk }));
}

/**
 * An entry with its whole list: DynamoDB may show rows of one transaction one after the other, so what is missing is read again.
 * @returns undefined when some of it stays missing
 */
export async function readWholeEntry(table: Table, account: Int64, place: EntryPlace): Promise<FeedItem | undefined> {
  for (let reads = 1; reads <= MOST_READS; reads += 1) {
    const item = await readEntry(table, account, place);
    if (item && (!item.entry.large || item.alertIds.length === item.entry.alerts)) return item;
    await backoff(reads, CONFLICT, table.signal);
  }
  return undefined;
}

/** An entry from all its rows; undefined when the entry itself is not among them. */
function itemOf(rows: readonly FeedRow[]): FeedItem | undefined {
  const [row] = ofKind('feedEntry', rows);
  if (!row) return undefined;
  const { pk: _pk, sk: _sk, moved = {}, stayed = [], ...entry } = row;
  if (!entry.large) {
    const alerts = readMovedAlerts(entry, [{ moved, stayed }]);
    return {
      entry,
      alertIds: [...alerts.moves.map(({ alertId }) => alertId), ...alerts.stayed],
      ...alerts,
      pending: false,
    };
  }
  const movesRows = ofKind('feedMoves', rows);
  const [unmoved] = uncovered({ start: 0, end: entry.alerts ?? 0 }, movesRows.map(rangeOf));
  return {
    entry,
    alertIds: readAlertList(ofKind('feedAlerts', rows)),
    ...readMovedAlerts(entry, movesRows),
    pending: unmoved !== undefined,
    ...(unmoved && { unmovedFrom: unmoved.start }),
  };
}

function rangeOf(row: Pick<Stored<'feedMoves'>, 'pk' | 'sk' | 'count'>): Range {
  const start = Number(parseKey(row)?.parts[2]);
  return { start, end: start + row.count };
}

/** A large entry and its alerts: the immutable part. */
export interface LargeEntry {
  readonly account: Int64;
  readonly entry: FeedEntry;
  readonly alertIds: readonly string[];
}

/** The merge order names a large entry whose rows cannot be read. A restored table may lack them: `admin check` finds that. */
export class EntryUnreadableError extends Error {
  override readonly name = 'EntryUnreadableError';
}

/**
 * Reads a large entry that the merge order names. DynamoDB may show rows of one transaction one after the other: what is not there
 * yet is read again.
 * @throws EntryUnreadableError when some of its rows stay missing
 */
export async function readPendingEntry(
  table: Table,
  account: Int64,
  { incidentId, sequence }: EntryPlace,
): Promise<LargeEntry> {
  const { sk } = keys.feedEntry(account, incidentId, sequence);
  for (let reads = 1; ; reads += 1) {
    const rows: FeedRow[] = [];
    for await (const row of queryAll(table, collections.feed(account, incidentId), { prefix: sk })) {
      if (parseKey(row)?.kind === 'feedMoves') break;
      rows.push(row);
    }
    const { entry, alertIds = [] } = itemOf(rows) ?? {};
    if (entry?.large && alertIds.length === entry.alerts) return { account, entry, alertIds };
    if (reads === MOST_READS) throw new EntryUnreadableError(`entry ${sequence} of incident ${incidentId} lacks rows`);
    await backoff(reads, CONFLICT, table.signal);
  }
}

/** The stretches of a large entry's list whose alerts are moved. */
export async function readMovedRanges(table: Table, { account, entry }: LargeEntry): Promise<Range[]> {
  const { pk, sk } = keys.feedMoves(account, entry.incident_id, entry.sequence, 0);
  const prefix = sk.slice(0, sk.lastIndexOf('#') + 1);
  return (await queryRows(table, pk, { prefix, attributes: ['pk', 'sk', 'count'] })).map(rangeOf);
}
