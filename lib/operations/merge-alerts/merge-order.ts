/** The order of an account's merges: one row, which every commit raises. `protocol.md` says why. */

import type { Table } from '../../dynamodb/client.ts';
import { all, attribute, expression, is, isBelow } from '../../dynamodb/expression.ts';
import { collections, keys, ofKind, type Stored } from '../../dynamodb/keys.ts';
import { queryRows } from '../../dynamodb/query.ts';
import { updateRow } from '../../dynamodb/row.ts';
import { type Action, returningStored, updateAction } from '../../dynamodb/transact.ts';
import type { Int64 } from '../../shared/json.ts';
import type { FeedEntry } from '../incident-rows.ts';
import type { EntryPlace } from './feed.ts';

export interface MergeOrder {
  /** Sequence of the latest entry; 0: none. */
  last: number;
  /** Sequence of the latest large entry. */
  lastLarge: number | undefined;
  /** Large entries that have alerts left to move, in ascending order; undefined: the row has no list yet. */
  pending: EntryPlace[] | undefined;
}

/** A small merge reads the alert list of each pending entry, and DynamoDB holds 400 KB in a row: further large merges are refused. */
export const MOST_PENDING = 25;

/**
 * The previous release commits a small merge in one of these rows, and relies on its `last_large`: so each large commit raises
 * them all. Remove this, and the rows, once no deployment runs that release.
 */
const SHARDS_OF_PREVIOUS_RELEASE = [0, 1, 2, 3];

/** How far a commit of the previous release may be behind the latest sequence, in milliseconds. */
const LONGEST_LAG_MS = 10 * 60_000;

/** The rows of the merge order, as stored. */
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
        .sort((one, other) => one.sequence - other.sequence),
  };
}

export const MERGE_ORDER_ATTRIBUTES = ['last', 'last_large', 'pending'] as const;

/** Reads the merge order, with the rows that the previous release commits to. */
export async function readMergeOrder(table: Table, account: Int64): Promise<MergeOrder> {
  return mergeOrderOf(await queryRows(table, collections.mergeOrder(account)));
}

/** All merges that are committed after the merge order was read have this sequence or a higher one. */
export const lowestNext = ({ last }: MergeOrder): number => last - LONGEST_LAG_MS;

/** The incident of a pending entry, in the list of them. */
export const pendingAt = (sequence: number) => expression`#pending.${attribute(String(sequence))}`;

/**
 * Puts an entry after all others, if no large one was committed since the merge order was read. A large one is added to the
 * pending ones. Where it fails, the transaction's result has the order's row.
 */
export function orderActions(
  account: Int64,
  { sequence, incident_id: incidentId }: Pick<FeedEntry, 'sequence' | 'incident_id'>,
  { lastLarge, pending }: MergeOrder,
  large: boolean,
): Action[] {
  const key = keys.mergeOrder(account);
  const isNext = all(isBelow('last', sequence), is('last_large', lastLarge));
  // It tells of the write that completed an entry, not of later ones.
  const forget = expression`REMOVE #completed`;
  if (!large) return [returningStored(updateAction(key, expression`SET #last = ${sequence} ${forget}`, isNext))];
  const [added, isAsRead] = pending
    ? [expression`${pendingAt(sequence)} = ${incidentId}`, expression`attribute_exists(#pending)`]
    : [expression`#pending = ${{ [sequence]: incidentId }}`, expression`attribute_not_exists(#pending)`];
  const raise = expression`SET #last = ${sequence}, last_large = ${sequence}`;
  return [
    returningStored(updateAction(key, expression`${raise}, ${added} ${forget}`, all(isNext, isAsRead))),
    ...SHARDS_OF_PREVIOUS_RELEASE.map((shard) =>
      updateAction(keys.mergeOrderShard(account, shard), raise, isBelow('last', sequence)),
    ),
  ];
}

/** Removes an entry without moves left from the pending ones, unless it is gone already. */
export async function removePending(
  table: Table,
  account: Int64,
  { sequence, incident_id }: Pick<FeedEntry, 'sequence' | 'incident_id'>,
): Promise<void> {
  const pending = pendingAt(sequence);
  const isNamed = expression`attribute_exists(${pending})`;
  const completed = { sequence, incident_id };
  const update = expression`SET #completed = ${completed} REMOVE ${pending}`;
  await updateRow(table, keys.mergeOrder(account), update, isNamed);
}
