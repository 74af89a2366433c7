import { batchGet } from '../../dynamodb/batch-get.ts';
import type { Table } from '../../dynamodb/client.ts';
import { collections, keys, parseKey } from '../../dynamodb/keys.ts';
import { queryRows } from '../../dynamodb/query.ts';
import type { Int64 } from '../../shared/json.ts';
import type { EntryPlace } from './feed.ts';
import { MERGE_ORDER_ATTRIBUTES, mergeOrderOf, readMergeOrder } from './merge-order.ts';

export interface PendingMerge {
  account: Int64;
  place: EntryPlace;
}

export const readPending = async (table: Table, account: Int64): Promise<PendingMerge[]> =>
  ((await readMergeOrder(table, account)).pending ?? []).map((place) => ({ account, place }));

/**
 * Large entries of all listed accounts that have alerts left to move. It takes one read unit for each account.
 */
export async function readAllPending(table: Table): Promise<PendingMerge[]> {
  const listed = await queryRows(table, collections.accounts(), { attributes: ['pk', 'sk'] });
  const accounts = listed.flatMap((row) => parseKey(row)?.account ?? []);
  const { rows } = await batchGet(table, accounts.map(keys.mergeOrder), { attributes: MERGE_ORDER_ATTRIBUTES });
  return accounts.flatMap((account) => {
    const row = rows.of(keys.mergeOrder(account));
    const { pending = [] } = mergeOrderOf(row ? [row] : []);
    return pending.map((place) => ({ account, place }));
  });
}
