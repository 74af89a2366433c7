/** The merge order of an account: one row, which every commit updates. `protocol.md` says why. */

import { batchGet } from '../../dynamodb/batch-get.ts';
import type { Table } from '../../dynamodb/client.ts';
import { all, attribute, expression, is, isBelow } from '../../dynamodb/expression.ts';
import { collections, keys, ofKind, parseKey, type Stored } from '../../dynamodb/keys.ts';
import { queryRows } from '../../dynamodb/query.ts';
import { updateRow } from '../../dynamodb/row.ts';
import type { FeedEntry } from '../../dynamodb/rows.ts';
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

/**
 * The previous release commits a small merge to one of these rows, conditional on its `last_large`. So each large commit updates
 * all of them. Remove this, and the rows, once no deployment runs that release.
 */
const SHARDS_OF_PREVIOUS_RELEASE = [0, 1, 2, 3];

/** How far a commit of the previous release may be behind the latest sequence, in milliseconds. */
const MAX_LAG_MS = 10 * 60_000;

/** A row of the merge order, as stored. */
type OrderRow = Pick<Stored<'mergeOrder' | 'mergeOrderShard'>, 'pk' | 'sk' | 'last' | 'last_large'>;

export function mergeOrderOf(rows: readonly OrderRow[]): MergeOrder {
  const [row] = ofKind('mergeOrder', rows);
  return {
    last: Math.max(0, ...rows.map(({ last = 0 }) => last)),
    lastLarge: row?.last_large,
    pending:
      row?.pending &&
      Object.entries(row.pending)
        .map(([sequence, incidentId]) => ({ sequence: Number(sequence), incidentId }))
        .sort((a, b) => a.sequence - b.sequence),
  };
}

export const MERGE_ORDER_ATTRIBUTES = ['last', 'last_large', 'pending'] as const;

/** Reads the merge order, with the rows that the previous release commits to. */
export async function readMergeOrder(table: Table, account: Int64): Promise<MergeOrder> {
  return mergeOrderOf(await queryRows(table, collections.mergeOrder(account)));
}

/** A lower bound for the sequences of all merges that are committed after the merge order was read. */
export const lowestNext = ({ last }: MergeOrder): number => last - MAX_LAG_MS;

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
  return [
    returningStored(updateAction(key, expression`${raise}, ${added} ${removeCompleted}`, all(isNext, isAsRead))),
    ...SHARDS_OF_PREVIOUS_RELEASE.map((shard) =>
      updateAction(keys.mergeOrderShard(account, shard), raise, isBelow('last', sequence)),
    ),
  ];
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
    const row = rows.of(keys.mergeOrder(account));
    const { pending = [] } = mergeOrderOf(row ? [row] : []);
    return pending.map((entryId) => ({ account, entryId }));
  });
}
