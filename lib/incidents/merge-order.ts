/**
 * The order of an account's merges. A small one writes any one shard, so that small ones seldom conflict. A large
 * one announces itself in all shards, one by one, and is then committed in the merge order's own row, which small ones only read:
 * so it meets none of them, however many there are. In between small ones wait. `relocate.ts` says what follows.
 */
import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import type { Int64 } from '../json.ts';
import { backoff, CONFLICT } from '../table/backoff.ts';
import type { Table } from '../table/client.ts';
import { all, attribute, expression, is, isBelow, set } from '../table/expression.ts';
import { isUnavailable } from '../table/failures.ts';
import { collections, type KeyOf, keys, parseKey, type Stored } from '../table/keys.ts';
import { queryRows } from '../table/query.ts';
import { updateRow } from '../table/row.ts';
import { type Action, updateAction } from '../table/transact.ts';
import type { EntryPlace } from './feed.ts';
import type { FeedEntry, MergeOrderRow } from './rows.ts';

/**
 * Of 50 small merges a second, the rate of one account, about one in five conflicts with another on a shard if a transaction takes
 * 15 ms, and is retried some 10 ms later. Each shard costs a large merge a write, and its readers a row.
 */
export const SHARDS = 4;
const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);

export const randomShard = (shards = SHARDS) => Math.floor(Math.random() * shards);

/** As read: the merge order, and all of its shards or some. */
export interface MergeOrder {
  /** The merge order's own row: of all large merges, and of small ones that were committed before there were shards. */
  own: MergeOrderRow;
  /** Those that exist. */
  shards: ReadonlyMap<number, MergeOrderRow>;
  /** Large merges that have alerts left to move, in ascending order; undefined: no list yet. */
  pending: EntryPlace[] | undefined;
}

export const MERGE_ORDER_ATTRIBUTES = ['last', 'last_large', 'pending'] as const;

type OrderRow = Stored<'mergeOrder' | 'mergeOrderShard'>;

/** @param rows of the merge order and its shards; undefined: there is no such row */
export function mergeOrderOf(rows: Iterable<OrderRow | undefined>): MergeOrder {
  let own: Stored<'mergeOrder'> | undefined;
  const shards = new Map<number, MergeOrderRow>();
  for (const row of rows) {
    if (!row) continue;
    const { kind, parts } = parseKey(row) ?? {};
    if (kind === 'mergeOrder') own = row;
    else shards.set(Number(parts?.[0]), row);
  }
  const pending = own?.pending;
  return {
    own: own ?? {},
    shards,
    pending:
      pending &&
      Object.entries(pending)
        .map(([sequence, incidentId]) => ({ sequence: Number(sequence), incidentId }))
        .sort((one, other) => one.sequence - other.sequence),
  };
}

/** Reads the merge order with all of its shards. */
export async function readMergeOrder(table: Table, account: Int64): Promise<MergeOrder> {
  return mergeOrderOf(await queryRows(table, collections.mergeOrder(account)));
}

/** Sequence of the latest merge that the rows know; 0: none. */
export const lastOf = ({ own, shards }: MergeOrder): number =>
  Math.max(own.last ?? 0, ...[...shards.values()].map(({ last = 0 }) => last));

/** All merges that are committed after the whole merge order was read have this sequence or a higher one. */
export function lowestNext(order: MergeOrder): number {
  const { own, shards } = order;
  const isAnnounced = ALL_SHARDS.some((shard) => announcedIn(order, shard) !== undefined);
  return Math.min(
    ...ALL_SHARDS.map((shard) => shards.get(shard)?.last ?? own.last ?? 0),
    ...(isAnnounced ? [own.last ?? 0] : []),
  );
}

/** Sequence of a large entry that is announced in a shard and not committed, as read; undefined: there is none. */
export function announcedIn({ own, shards }: MergeOrder, shard: number): number | undefined {
  const announced = shards.get(shard)?.last_large ?? 0;
  return announced > (own.last_large ?? 0) ? announced : undefined;
}

/** The incident of a pending merge, in the list of them. */
export const pendingAt = (sequence: number) => expression`#pending.${attribute(String(sequence))}`;

const raiseTo = (sequence: number) => expression`SET #last = ${sequence}, last_large = ${sequence}`;

/** Puts a small entry after all large ones: none has been announced since the shard and the merge order were read. */
export function smallAction(account: Int64, sequence: number, { own, shards }: MergeOrder, shard: number): Action {
  // A new shard knows of no large entry yet.
  const { last_large } = own;
  const isAsRead = is('last_large', shards.get(shard)?.last_large);
  return updateAction(
    keys.mergeOrderShard(account, shard),
    set({ last: sequence, ...(last_large !== undefined && { last_large }) }),
    all(isBelow('last', sequence), isAsRead),
  );
}

/** Commits a large entry, and names it as pending, if no other was committed, or took its place, with this sequence or a higher one. */
export function largeAction(
  account: Int64,
  { sequence, incident_id: incidentId }: Pick<FeedEntry, 'sequence' | 'incident_id'>,
  { pending }: MergeOrder,
): Action {
  const [named, isAsRead] = pending
    ? [expression`${pendingAt(sequence)} = ${incidentId}`, expression`attribute_exists(#pending)`]
    : [expression`#pending = ${{ [sequence]: incidentId }}`, expression`attribute_not_exists(#pending)`];
  return updateAction(
    keys.mergeOrder(account),
    expression`${raiseTo(sequence)}, ${named}`,
    all(isBelow('last', sequence), isAsRead),
  );
}

/**
 * Announces a large entry: until it is committed, or given up, small ones wait.
 * @returns whether its sequence is higher than those of all entries before it
 */
export async function announce(table: Table, account: Int64, sequence: number, shards = SHARDS): Promise<boolean> {
  // In sequence: an interruption has few possible states, not one for each set of shards.
  for (let shard = 0; shard < shards; shard += 1)
    if (!(await raise(table, keys.mergeOrderShard(account, shard), sequence))) return false;
  return true;
}

/** Takes the place of a large entry that is announced and not committed: its caller may have died. If not, it announces another. */
export async function giveUp(table: Table, account: Int64, sequence: number): Promise<void> {
  await raise(table, keys.mergeOrder(account), sequence);
}

/** @returns whether the row is certainly raised */
async function raise(table: Table, key: KeyOf<'mergeOrder' | 'mergeOrderShard'>, sequence: number): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return (await updateRow(table, key, raiseTo(sequence), isBelow('last', sequence))).done;
    } catch (error) {
      if (error instanceof TransactionConflictException) await backoff(attempt, CONFLICT, table.signal);
      else if (isUnavailable(error)) return false;
      else throw error;
    }
}

/** Removes a merge without moves left from the pending ones, unless it is gone already. */
export async function removePending(table: Table, account: Int64, sequence: number): Promise<void> {
  const pending = pendingAt(sequence);
  const isNamed = expression`attribute_exists(${pending})`;
  await updateRow(table, keys.mergeOrder(account), expression`REMOVE ${pending}`, isNamed);
}
