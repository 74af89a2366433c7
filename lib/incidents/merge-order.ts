/**
 * The order of an account's merges. A small one writes any one shard, so that small ones seldom conflict. A large
 * one announces itself in all shards, one by one, and is then committed in the merge order's own row, which small ones only read:
 * so it meets none of them, however many there are. In between small ones wait. `relocate.ts` says what follows.
 */
import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import { backoff, CONFLICT } from '../table/backoff.ts';
import type { Row } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { isUnavailable } from '../table/failures.ts';
import { collections, type Key, keys, parseKey } from '../table/keys.ts';
import { queryAll } from '../table/query-all.ts';
import type { FeedEntry } from './feed.ts';
import { type Action, Condition } from './transaction.ts';

/**
 * Of 50 small merges a second, the rate of one account, about one in five conflicts with another on a shard if a transaction takes
 * 15 ms, and is retried some 10 ms later. Each shard costs a large merge a write, and its readers a row.
 */
export const SHARDS = 4;
const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);

export const randomShard = (shards = SHARDS) => Math.floor(Math.random() * shards);

/** Location of the feed entry of a merge with moves left. */
export interface PendingMerge {
  sequence: number;
  incidentId: string;
}

/** The latest sequences that a row knows. */
interface Latest {
  last: number | undefined;
  lastLarge: number | undefined;
}

/** As read: the merge order, and all of its shards or some. */
export interface MergeOrder {
  /** The merge order's own row: of all large merges, and of small ones that were committed before there were shards. */
  own: Latest;
  /** Those that exist. */
  shards: ReadonlyMap<number, Latest>;
  /** Large merges that have alerts left to move, in ascending order; undefined: no list yet. */
  pending: PendingMerge[] | undefined;
}

/** What of the rows is read. */
export const MERGE_ORDER_ATTRIBUTES = ['last', 'last_large', 'pending'] as const;

const latestOf = (row: Row | undefined): Latest => ({
  last: row?.last as number | undefined,
  lastLarge: row?.last_large as number | undefined,
});

/** @param rows of the merge order and its shards, with their keys; undefined: there is no such row */
export function mergeOrderOf(rows: Iterable<Row | undefined>): MergeOrder {
  let own: Row | undefined;
  const shards = new Map<number, Latest>();
  for (const row of rows) {
    if (!row) continue;
    const { kind, parts } = parseKey(row as Key & Row) ?? {};
    if (kind === 'mergeOrder') own = row;
    else shards.set(Number(parts?.[0]), latestOf(row));
  }
  const pending = own?.pending as Record<string, string> | undefined;
  return {
    own: latestOf(own),
    shards,
    pending:
      pending &&
      Object.entries(pending)
        .map(([sequence, incidentId]) => ({ sequence: Number(sequence), incidentId }))
        .sort((one, other) => one.sequence - other.sequence),
  };
}

/** Reads the merge order with all of its shards. */
export async function readMergeOrder(table: Table, account: Int64, signal?: AbortSignal): Promise<MergeOrder> {
  return mergeOrderOf(await Array.fromAsync(queryAll(table, collections.mergeOrder(account), { signal })));
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
  const announced = shards.get(shard)?.lastLarge ?? 0;
  return announced > (own.lastLarge ?? 0) ? announced : undefined;
}

const BEHIND = '(attribute_not_exists(#last) OR #last < :sequence)';

const RAISE = 'SET #last = :sequence, last_large = :sequence';

/** What raises `last` of a row, and `last_large` with it. */
const raiseOf = (table: Table, key: Key, sequence: number) => ({
  TableName: table.name,
  Key: key,
  UpdateExpression: RAISE,
  ConditionExpression: BEHIND,
  ExpressionAttributeNames: { '#last': 'last' },
  ExpressionAttributeValues: { ':sequence': sequence },
});

/** Puts a small entry after all large ones: none has been announced since the shard and the merge order were read. */
export function smallAction(table: Table, account: Int64, sequence: number, order: MergeOrder, shard: number): Action {
  const { lastLarge: known } = order.own;
  const condition = new Condition();
  const isAsRead = condition.is('last_large', order.shards.get(shard)?.lastLarge);
  return {
    Update: {
      TableName: table.name,
      Key: keys.mergeOrderShard(account, shard),
      // A new shard knows of no large entry yet.
      UpdateExpression: `SET #last = :sequence${known === undefined ? '' : ', last_large = :known'}`,
      ConditionExpression: `${BEHIND} AND ${isAsRead}`,
      ExpressionAttributeNames: { '#last': 'last' },
      ExpressionAttributeValues: {
        ...condition.values,
        ':sequence': sequence,
        ...(known !== undefined && { ':known': known }),
      },
    },
  };
}

/** Commits a large entry, and names it as pending, if no other was committed, or took its place, with this sequence or a higher one. */
export function largeAction(
  table: Table,
  account: Int64,
  { sequence, incident_id: incidentId }: Pick<FeedEntry, 'sequence' | 'incident_id'>,
  { pending }: MergeOrder,
): Action {
  const raise = raiseOf(table, keys.mergeOrder(account), sequence);
  const [path, value, names] = pending
    ? ['#pending.#sequence', incidentId, { '#sequence': String(sequence) }]
    : ['#pending', { [sequence]: incidentId }, {}];
  return {
    Update: {
      ...raise,
      UpdateExpression: `${RAISE}, ${path} = :pending`,
      ConditionExpression: `${BEHIND} AND ${pending ? 'attribute_exists' : 'attribute_not_exists'}(#pending)`,
      ExpressionAttributeNames: { ...raise.ExpressionAttributeNames, '#pending': 'pending', ...names },
      ExpressionAttributeValues: { ...raise.ExpressionAttributeValues, ':pending': value },
    },
  };
}

/**
 * Announces a large entry: until it is committed, or given up, small ones wait.
 * @returns whether its sequence is higher than those of all entries before it
 */
export async function announce(
  table: Table,
  account: Int64,
  sequence: number,
  { signal, shards = SHARDS }: { signal?: AbortSignal | undefined; shards?: number | undefined } = {},
): Promise<boolean> {
  // In sequence: an interruption has few possible states, not one for each set of shards.
  for (let shard = 0; shard < shards; shard += 1)
    if (!(await raise(table, keys.mergeOrderShard(account, shard), sequence, signal))) return false;
  return true;
}

/** Takes the place of a large entry that is announced and not committed: its caller may have died. If not, it announces another. */
export async function giveUp(table: Table, account: Int64, sequence: number, signal?: AbortSignal): Promise<void> {
  await raise(table, keys.mergeOrder(account), sequence, signal);
}

/** @returns whether the row is certainly raised */
async function raise(table: Table, key: Key, sequence: number, signal?: AbortSignal): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1)
    try {
      const update = new UpdateCommand(raiseOf(table, key, sequence));
      await table.client.send(update, signal ? { abortSignal: signal } : {});
      return true;
    } catch (error) {
      if (error instanceof TransactionConflictException) await backoff(attempt, CONFLICT, signal);
      else if (error instanceof ConditionalCheckFailedException || isUnavailable(error)) return false;
      else throw error;
    }
}

/** Removes a merge without moves left from the pending ones. */
export async function removePending(
  table: Table,
  account: Int64,
  sequence: number,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.mergeOrder(account),
        UpdateExpression: 'REMOVE #pending.#sequence',
        ConditionExpression: 'attribute_exists(#pending.#sequence)',
        ExpressionAttributeNames: { '#pending': 'pending', '#sequence': String(sequence) },
      }),
      signal ? { abortSignal: signal } : {},
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error; // otherwise it is gone already
  }
}
