/** Reads incidents, alerts and feeds. */

import { backoff, CONFLICT } from '../../dynamodb/backoff.ts';
import type { Table } from '../../dynamodb/client.ts';
import { collections, keys, ofKind, parseKey, type Stored } from '../../dynamodb/keys.ts';
import { queryAll, queryRows } from '../../dynamodb/query.ts';
import { getRow } from '../../dynamodb/row.ts';
import type { FeedEntry } from '../../dynamodb/rows.ts';
import type { Int64 } from '../../shared/json.ts';
import { decodeAlertList, decodeMoves, type EntryId, gapsIn, type ListSlice, type Move } from './feed.ts';

type FeedRow = Stored<'feedEntry' | 'feedAlerts' | 'feedMoves'>;

/** Maximum reads of an entry whose rows are not all visible yet. */
const MAX_READS = 5;

/** A feed entry with all its alerts. */
export interface FeedEntryWithAlerts {
  entry: FeedEntry;
  /** Ids of all its alerts, moved or not; of a large entry in the order of its list. */
  alertIds: string[];
  moves: Move[];
  stayed: string[];
  /** Some of its alerts are not moved yet. */
  pending: boolean;
  /** Index in its list of the first alert that is not moved. */
  unmovedFrom?: number;
}

export const readIncident = (table: Table, account: Int64, id: string) => getRow(table, keys.incident(account, id));

export const readAlert = (table: Table, account: Int64, id: string) => getRow(table, keys.alert(account, id));

/** An incident's feed, oldest first. */
export async function readFeed(table: Table, account: Int64, incidentId: string): Promise<FeedEntryWithAlerts[]> {
  return feedOf(await queryRows(table, collections.feed(account, incidentId))).entries;
}

/** Groups a feed's rows into entries. `orphans`: rows whose entry is missing. */
export function feedOf(rows: readonly FeedRow[]): { entries: FeedEntryWithAlerts[]; orphans: FeedRow[] } {
  const rowsOf = Map.groupBy(rows, (row) => Number(parseKey(row)?.parts[1]));
  const entries: FeedEntryWithAlerts[] = [];
  const orphans: FeedRow[] = [];
  for (const group of rowsOf.values()) {
    const entry = entryOf(group);
    if (entry) entries.push(entry);
    else orphans.push(...group);
  }
  return { entries, orphans };
}

/** One entry of an incident's feed, which may lack rows that are not visible yet; undefined when there is none. */
export async function readEntry(
  table: Table,
  account: Int64,
  { incidentId, sequence }: EntryId,
): Promise<FeedEntryWithAlerts | undefined> {
  const { sk } = keys.feedEntry(account, incidentId, sequence);
  return entryOf(await queryRows(table, collections.feed(account, incidentId), { prefix: sk }));
}

/**
 * Reads an entry with its whole list. A query may show only some rows of a transaction, so it reads again until the list is complete.
 * @returns undefined when rows stay missing
 */
export async function readCompleteEntry(
  table: Table,
  account: Int64,
  entryId: EntryId,
): Promise<FeedEntryWithAlerts | undefined> {
  for (let reads = 1; ; reads += 1) {
    const found = await readEntry(table, account, entryId);
    if (found && (!found.entry.large || found.alertIds.length === found.entry.alerts)) return found;
    if (reads === MAX_READS) return undefined;
    await backoff(reads, CONFLICT, table.signal);
  }
}

/** Builds an entry from its rows; undefined when the row of the entry itself is missing. */
function entryOf(rows: readonly FeedRow[]): FeedEntryWithAlerts | undefined {
  const [row] = ofKind('feedEntry', rows);
  if (!row) return undefined;
  const { pk: _pk, sk: _sk, moved = {}, stayed = [], ...entry } = row;
  if (!entry.large) {
    const alerts = decodeMoves(entry, [{ moved, stayed }]);
    return {
      entry,
      alertIds: [...alerts.moves.map(({ alertId }) => alertId), ...alerts.stayed],
      ...alerts,
      pending: false,
    };
  }
  const movesRows = ofKind('feedMoves', rows);
  const [unmoved] = gapsIn({ start: 0, end: entry.alerts ?? 0 }, movesRows.map(sliceOf));
  return {
    entry,
    alertIds: decodeAlertList(ofKind('feedAlerts', rows)),
    ...decodeMoves(entry, movesRows),
    pending: unmoved !== undefined,
    ...(unmoved && { unmovedFrom: unmoved.start }),
  };
}

function sliceOf(row: Pick<Stored<'feedMoves'>, 'pk' | 'sk' | 'count'>): ListSlice {
  const start = Number(parseKey(row)?.parts[2]);
  return { start, end: start + row.count };
}

/** A large entry and its alert list, which never change. */
export interface LargeEntry {
  readonly account: Int64;
  readonly entry: FeedEntry;
  readonly alertIds: readonly string[];
}

/** Rows of a pending entry are missing. This happens in a restored table; `admin check` reports it. */
export class EntryUnreadableError extends Error {
  override readonly name = 'EntryUnreadableError';
}

/**
 * Reads a pending entry. A query may show only some rows of a transaction, so it reads again until the list is complete.
 * @throws EntryUnreadableError when rows stay missing
 */
export async function readLargeEntry(
  table: Table,
  account: Int64,
  { incidentId, sequence }: EntryId,
): Promise<LargeEntry> {
  const { sk } = keys.feedEntry(account, incidentId, sequence);
  for (let reads = 1; ; reads += 1) {
    const rows: FeedRow[] = [];
    for await (const row of queryAll(table, collections.feed(account, incidentId), { prefix: sk })) {
      if (parseKey(row)?.kind === 'feedMoves') break;
      rows.push(row);
    }
    const { entry, alertIds = [] } = entryOf(rows) ?? {};
    if (entry?.large && alertIds.length === entry.alerts) return { account, entry, alertIds };
    if (reads === MAX_READS) throw new EntryUnreadableError(`entry ${sequence} of incident ${incidentId} lacks rows`);
    await backoff(reads, CONFLICT, table.signal);
  }
}

/** The slices of a large entry's list whose alerts are moved. */
export async function readMovedSlices(table: Table, { account, entry }: LargeEntry): Promise<ListSlice[]> {
  const { pk, sk } = keys.feedMoves(account, entry.incident_id, entry.sequence, 0);
  const prefix = sk.slice(0, sk.lastIndexOf('#') + 1);
  return (await queryRows(table, pk, { prefix, attributes: ['pk', 'sk', 'count'] })).map(sliceOf);
}
