/** The merge order of an account: one row, which every commit updates. `protocol.md` says why. */

import { batchGet } from '../../dynamodb/batch-get.ts';
import type { Table } from '../../dynamodb/client.ts';
import { all, attribute, expression, is, isBelow } from '../../dynamodb/expression.ts';
import { collections, keys, parseKey } from '../../dynamodb/keys.ts';
import { queryRows } from '../../dynamodb/query.ts';
import { getRow, updateRow } from '../../dynamodb/row.ts';
import type { FeedEntry, Rows } from '../../dynamodb/rows.ts';
import { type Action, returningStored, updateAction } from '../../dynamodb/transact.ts';
import type { Int64 } from '../../shared/json.ts';
import type { EntryId } from './feed.ts';

export interface MergeOrder {
  /** Sequence of the latest entry; 0: none. */
  last: number;
  /** Sequence of the latest large entry. */
  lastLarge: number | undefined;
  /** The pending entries (large, with alerts left to move), lowest sequence first; undefined: the row has no list yet. */
  pending: EntryId[] | undefined;
}

/**
 * Maximum pending entries of an account; further large merges are refused. Each merge reads the alert lists of all pending entries, of up to
 * 400 KB a row.
 */
export const MAX_PENDING = 25;

export function mergeOrderOf(row: Rows['mergeOrder'] | undefined): MergeOrder {
  return {
    last: row?.last ?? 0,
    lastLarge: row?.last_large,
    pending:
      row?.pending &&
      Object.entries(row.pending)
        .map(([sequence, incidentId]) => ({ sequence: Number(sequence), incidentId }))
        .sort((a, b) => a.sequence - b.sequence),
  };
}

export const MERGE_ORDER_ATTRIBUTES = ['last', 'last_large', 'pending'] as const;

export async function readMergeOrder(table: Table, account: Int64): Promise<MergeOrder> {
  return mergeOrderOf(await getRow(table, keys.mergeOrder(account)));
}

/** Path of a pending entry in the row's attribute `pending`; its value is the incident. */
export const pendingAt = (sequence: number) => expression`#pending.${attribute(String(sequence))}`;

/**
 * Makes an entry the last one, on condition that its sequence is the highest and that no large entry was committed since the merge
 * order was read. A large entry becomes pending. When the condition fails, the transaction returns the row.
 */
export function orderActions(
  account: Int64,
  { sequence, incident_id: incidentId }: Pick<FeedEntry, 'sequence' | 'incident_id'>,
  { lastLarge, pending }: MergeOrder,
  large: boolean,
): Action[] {
  const key = keys.mergeOrder(account);
  const isNext = all(isBelow('last', sequence), is('last_large', lastLarge));
  // `completed` is for the stream record of the write that completed an entry, so later writes remove it.
  const removeCompleted = expression`REMOVE #completed`;
  if (!large)
    return [returningStored(updateAction(key, expression`SET #last = ${sequence} ${removeCompleted}`, isNext))];
  const [added, isAsRead] = pending
    ? [expression`${pendingAt(sequence)} = ${incidentId}`, expression`attribute_exists(#pending)`]
    : [expression`#pending = ${{ [sequence]: incidentId }}`, expression`attribute_not_exists(#pending)`];
  const raise = expression`SET #last = ${sequence}, last_large = ${sequence}`;
  return [returningStored(updateAction(key, expression`${raise}, ${added} ${removeCompleted}`, all(isNext, isAsRead)))];
}

/** Removes a completed entry from the pending ones; a no-op if it is not among them. */
export async function removePending(
  table: Table,
  account: Int64,
  { sequence, incident_id }: Pick<FeedEntry, 'sequence' | 'incident_id'>,
): Promise<void> {
  const pending = pendingAt(sequence);
  const isPending = expression`attribute_exists(${pending})`;
  const completed = { sequence, incident_id };
  const update = expression`SET #completed = ${completed} REMOVE ${pending}`;
  await updateRow(table, keys.mergeOrder(account), update, isPending);
}

export interface PendingMerge {
  account: Int64;
  entryId: EntryId;
}

/** The pending entries of one account. */
export const readPending = async (table: Table, account: Int64): Promise<PendingMerge[]> =>
  ((await readMergeOrder(table, account)).pending ?? []).map((entryId) => ({ account, entryId }));

/** The pending entries of all accounts. Costs one read unit for each account. */
export async function readAllPending(table: Table): Promise<PendingMerge[]> {
  const listed = await queryRows(table, collections.accounts(), { attributes: ['pk', 'sk'] });
  const accounts = listed.flatMap((row) => parseKey(row)?.account ?? []);
  const { rows } = await batchGet(table, accounts.map(keys.mergeOrder), { attributes: MERGE_ORDER_ATTRIBUTES });
  return accounts.flatMap((account) => {
    const { pending = [] } = mergeOrderOf(rows.of(keys.mergeOrder(account)));
    return pending.map((entryId) => ({ account, entryId }));
  });
}
