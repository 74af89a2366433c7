/** The log head of an account: one row, which every commit updates. `protocol.md` says why. */

import type { Int64 } from '../../shared/json.ts';
import type { Table } from '../../table/client.ts';
import { all, attribute, expression, is, isBelow } from '../../table/expression.ts';
import { keys, parseKey, partitions, type Stored } from '../../table/keys.ts';
import { batchGet, getRow, queryRows } from '../../table/read.ts';
import type { HistoryEntry, LogPosition, Rows } from '../../table/rows.ts';
import { type NamedActions, putAction, returningStored, updateAction, updateRow } from '../../table/write.ts';
import type { EntryId } from './entry.ts';

export interface LogHead extends LogPosition {
  /** Sequence of the latest large entry. */
  lastLarge: number | undefined;
  /** The pending entries, lowest sequence first; undefined: the row has no list yet. */
  pending: EntryId[] | undefined;
}

/** About the most pending entries of an account: further large merges are refused. Each merge reads the pending entries, up to 400 KB each. */
export const MAX_PENDING = 25;

const LOG_HEAD_ATTRIBUTES = ['last', 'entries', 'last_large', 'pending'] as const;

export const logHeadOf = (row: Rows['logHead'] | undefined): LogHead => ({
  last: row?.last ?? 0,
  entries: row?.entries ?? 0,
  lastLarge: row?.last_large,
  pending:
    row?.pending &&
    Object.entries(row.pending)
      .map(([sequence, incidentId]) => ({ sequence: Number(sequence), incidentId }))
      .sort((a, b) => a.sequence - b.sequence),
});

export const readLogHead = async (table: Table, account: Int64): Promise<LogHead> =>
  logHeadOf(await getRow(table, keys.logHead(account)));

/** Whether an entry may be pending, and so its origins not final yet. @param head as read before the entry */
export const isPending = ({ last, pending = [] }: LogHead, { sequence, large }: HistoryEntry): boolean =>
  (large && sequence > last) || pending.some((id) => id.sequence === sequence);

/** Path of a pending entry in the row's attribute `pending`; its value is the incident. */
export const pendingAt = (sequence: number) => expression`#pending.${attribute(String(sequence))}`;

/**
 * Makes an entry the last one (invariant *sequence*), and lists it in the account's log. A large entry becomes pending. Requires the part of
 * the log head as read that the entry depends on (invariant *resolve*); when it has changed, the transaction returns the row.
 * An undo depends on all earlier entries; a small merge on the large ones, which may be pending; a large merge on none: its origins are
 * corrected later (`correctOrigins`), so small merges cannot starve it.
 */
export function headActions(account: Int64, entry: HistoryEntry, head: LogHead): NamedActions {
  const { kind, sequence, incident_id, large } = entry;
  const conditions = [isBelow('last', sequence)];
  if (kind === 'merge_undone') conditions.push(is('last', head.last || undefined));
  else if (!large) conditions.push(is('last_large', head.lastLarge));
  // `completed` is for the stream record of the write that finished an entry, so later writes remove it.
  const rest = expression`REMOVE #completed ADD #entries ${1}`;
  let update = expression`SET #last = ${sequence} ${rest}`;
  if (large) {
    const [added, isListAsRead] = head.pending
      ? [expression`${pendingAt(sequence)} = ${incident_id}`, expression`attribute_exists(#pending)`]
      : [expression`#pending = ${{ [sequence]: incident_id }}`, expression`attribute_not_exists(#pending)`];
    conditions.push(isListAsRead);
    update = expression`SET #last = ${sequence}, last_large = ${sequence}, ${added} ${rest}`;
  }
  const pointer: Stored<'logPointer'> = { ...keys.logPointer(account, sequence), incident_id };
  return {
    head: returningStored(updateAction(keys.logHead(account), update, all(...conditions))),
    pointer: putAction(pointer),
  };
}

/** Removes a finished entry from the pending ones; a no-op if it is not among them. */
export async function removePending(
  table: Table,
  account: Int64,
  { sequence, incident_id }: HistoryEntry,
): Promise<void> {
  const pending = pendingAt(sequence);
  const update = expression`SET #completed = ${{ sequence, incident_id }} REMOVE ${pending}`;
  await updateRow(table, keys.logHead(account), update, expression`attribute_exists(${pending})`);
}

export interface PendingEntryId {
  account: Int64;
  entryId: EntryId;
}

/** The pending entries. Costs one read unit for each account. @param only absent: of all accounts */
export async function listPendingEntryIds(table: Table, only?: Int64): Promise<PendingEntryId[]> {
  const listed =
    only === undefined ? await queryRows(table, partitions.listedAccount(), { attributes: ['pk', 'sk'] }) : [];
  const accounts = only === undefined ? listed.flatMap((row) => parseKey(row)?.account ?? []) : [only];
  const { rows } = await batchGet(table, accounts.map(keys.logHead), { attributes: LOG_HEAD_ATTRIBUTES });
  return accounts.flatMap((account) => {
    const { pending = [] } = logHeadOf(rows.of(keys.logHead(account)));
    return pending.map((entryId) => ({ account, entryId }));
  });
}
