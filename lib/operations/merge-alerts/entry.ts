/**
 * Entries of incidents' histories. An entry is one row, written whole at its commit; a large one is *pending* until `finish.ts` has written
 * its alerts' rows. Read `protocol.md` first.
 */

import { backoff, CONFLICT, forEach } from '../../shared/concurrency.ts';
import { type Int64, NO_INCIDENT } from '../../shared/json.ts';
import type { Table } from '../../table/client.ts';
import { keys, partitions, type Stored } from '../../table/keys.ts';
import { getRow, queryRows } from '../../table/read.ts';
import type { HistoryEntry, LogPosition } from '../../table/rows.ts';

/** One alert's move; undefined: no incident. Of an alert that stays, `from` is `to`. Ids in lower case. */
export interface Move {
  readonly alertId: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** An earlier entry had taken the alert, so that `from`, or of an undo `to`, is due to that one, not to the feed. */
  readonly takenBefore?: true;
}

/** Identifies an entry within its account. */
export interface EntryId {
  readonly incidentId: string;
  readonly sequence: number;
}

export interface EntryWithMoves {
  readonly entry: HistoryEntry;
  /** One for each of its alerts. While a large merge is pending, `from` is what it read and may be out of date: see `correctOrigins`. */
  readonly moves: readonly Move[];
}

export const isMoved = ({ from, to }: Move) => from !== to;

const ID_BYTES = 12;

/** The row of an entry. At 24 bytes an alert, the alerts of the largest body (384 KiB) take 350 of DynamoDB's 400 KB. */
export const entryRow = (account: Int64, { entry, moves }: EntryWithMoves): Stored<'historyEntry'> => ({
  ...keys.historyEntry(account, entry.incident_id, entry.sequence),
  ...entry,
  alert_ids: bytesOf(moves.map(({ alertId }) => alertId)),
  ...originsOf(entry, moves),
});

/** The attributes of an entry that are corrected while it is pending. */
export function originsOf({ kind }: HistoryEntry, moves: readonly Move[]) {
  const bits = Buffer.alloc(Math.ceil(moves.length / BITS));
  for (const [index, { takenBefore }] of moves.entries())
    if (takenBefore) bits[Math.floor(index / BITS)] = (bits[Math.floor(index / BITS)] ?? 0) | (1 << (index % BITS));
  return {
    other_ids: bytesOf(moves.map(({ from, to }) => (kind === 'merge' ? from : to) ?? NO_INCIDENT)),
    ...(bits.some(Boolean) && { taken_before: bits }),
  };
}

const BITS = 8;
const hasBit = (bits: Uint8Array | undefined, index: number) =>
  (((bits?.[Math.floor(index / BITS)] ?? 0) >> (index % BITS)) & 1) === 1;

export function entryOf({
  pk: _pk,
  sk: _sk,
  alert_ids,
  other_ids,
  taken_before,
  ...entry
}: Stored<'historyEntry'>): EntryWithMoves {
  const otherIds = idsOf(other_ids);
  const moves = idsOf(alert_ids).map((alertId, index) => {
    const other = otherIds[index] === NO_INCIDENT ? undefined : otherIds[index];
    const [from, to] = entry.kind === 'merge' ? [other, entry.incident_id] : [entry.incident_id, other];
    return { alertId, from, to, ...(hasBit(taken_before, index) && { takenBefore: true as const }) };
  });
  return { entry, moves };
}

const bytesOf = (ids: readonly string[]) => Buffer.from(ids.join(''), 'hex');

function idsOf(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString('hex');
  const digits = 2 * ID_BYTES;
  return Array.from({ length: text.length / digits }, (_, index) => text.slice(index * digits, (index + 1) * digits));
}

/** undefined when there is no such entry. */
export async function readEntry(table: Table, account: Int64, id: EntryId): Promise<EntryWithMoves | undefined> {
  const row = await getRow(table, keys.historyEntry(account, id.incidentId, id.sequence));
  return row && entryOf(row);
}

/** A pending entry does not exist. This happens in a restored table; `admin check` reports it. */
export class EntryMissingError extends Error {
  override readonly name = 'EntryMissingError';
}

/** Pending entries that were read before: the alerts of an entry and their destinations never change. */
export interface KnownEntries {
  get(name: string): EntryWithMoves | undefined;
  set(name: string, entry: EntryWithMoves): unknown;
}

/**
 * Reads entries that exist, such as the pending ones.
 * @param known where entries are kept for further calls
 * @returns the lowest sequence first
 * @throws EntryMissingError
 */
export async function readEntries(
  table: Table,
  account: Int64,
  ids: readonly EntryId[] = [],
  known: KnownEntries = new Map<string, EntryWithMoves>(),
): Promise<EntryWithMoves[]> {
  const entries: EntryWithMoves[] = [];
  const read = async (id: EntryId) => {
    const name = `${account} ${id.incidentId} ${id.sequence}`;
    const entry = known.get(name) ?? (await readEntry(table, account, id));
    if (!entry) throw new EntryMissingError(`entry ${id.sequence} of incident ${id.incidentId} is missing`);
    known.set(name, entry);
    entries.push(entry);
  };
  await forEach(ids, read, { signal: table.signal });
  return bySequence(entries);
}

/** An incident's history, oldest first. */
export const readHistory = async (table: Table, account: Int64, incidentId: string): Promise<EntryWithMoves[]> =>
  (await queryRows(table, partitions.historyEntry(account, incidentId))).map(entryOf);

const MAX_READS = 20;

/**
 * The account's entries after one position of its log up to another, oldest first. A query may show only part of a transaction that the
 * log head already reflects. So it is repeated until it shows as many pointers as `upTo.entries - after.entries`. After `MAX_READS` the
 * missing ones are taken to be lost, as in a restored table, and the rest is returned.
 * @param upTo as read from the log head, or while it is read
 * @param below only entries with a lower sequence are returned
 */
export async function readLog(
  table: Table,
  account: Int64,
  after: LogPosition,
  upTo: LogPosition | Promise<LogPosition>,
  below = Number.POSITIVE_INFINITY,
): Promise<EntryWithMoves[]> {
  const { sk: from } = keys.logPointer(account, after.last + 1);
  let ids: EntryId[] = [];
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const [pointers, end] = await Promise.all([queryRows(table, partitions.logPointer(account), { from }), upTo]);
    ids = pointers
      .map(({ sk, incident_id }) => ({ incidentId: incident_id, sequence: Number(sk) }))
      .filter(({ sequence }) => sequence <= end.last);
    if (ids.length >= end.entries - after.entries) break;
    await backoff(reads, CONFLICT, table.signal);
  }
  const entries: EntryWithMoves[] = [];
  await forEach(
    ids.filter(({ sequence }) => sequence < below),
    async (id) => {
      const entry = await readEntry(table, account, id);
      if (entry) entries.push(entry);
    },
    { signal: table.signal },
  );
  return bySequence(entries);
}

export const bySequence = (entries: readonly EntryWithMoves[]): EntryWithMoves[] =>
  entries.toSorted((a, b) => a.entry.sequence - b.entry.sequence);
