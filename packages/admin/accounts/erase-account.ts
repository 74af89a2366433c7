/**
 * Erases an account: everything but its row, which stays as a mark so that the id is not used again, and its audit. Each step may be repeated,
 * so that an erasure which was interrupted goes on when it is started again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../../../lib/aws/http-handler.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { EXISTS, expression, is, set } from '../../../lib/table/expression.ts';
import {
  ACCOUNT_ATTRIBUTE,
  isOfAccount,
  type Key,
  keys,
  parseKey,
  type RowKind,
  tenantPartition,
} from '../../../lib/table/keys.ts';
import { type Action, deleteAction, deleteRow, transact, updateAction } from '../../../lib/table/write.ts';
import { patiently } from '../aws/patiently.ts';
import { scanPages } from '../aws/scan.ts';
import { AccountError, readAccount } from './accounts.ts';
import { addRows, type RowCounts } from './row-counts.ts';

/** The kinds of an account's rows that an erasure leaves: its mark, and the audit. */
const KEPT: readonly (RowKind | undefined)[] = ['account', 'audit'];

/**
 * Milliseconds from the mark until nothing writes rows of the account any more. Functions trust an app key for 30 s, and an operation then ends
 * within 3 s. `ingest-records` and imports trust an account for 30 s, and the function may then write for the 60 s that it runs. To finish
 * a merge creates no row.
 */
export const SETTLE_MS = 100_000;
/** The rest of a table's write units is for callers: `maxWriteUnits` is 4,000 a second by default. */
const UNITS_A_SECOND = 1_000;
const CONCURRENCY = 8;

/**
 * The rows that an erasure deletes, a page at a time, by a scan of the whole table: only that shows that nothing is left. It is one scan at a
 * time, which takes about a quarter of the read units of a new table.
 */
async function* rowsOf(table: Table, account: Int64): AsyncGenerator<Key[]> {
  // The rows of other accounts need not be sent here.
  const mayBeOwn = expression`begins_with(pk, ${tenantPartition(account, '')}) OR NOT begins_with(pk, ${'ACCOUNT#'})`;
  for await (const { Items = [] } of scanPages(table, mayBeOwn, ['pk', 'sk', ACCOUNT_ATTRIBUTE])) {
    const rows = Items as (Key & { account_id?: unknown })[];
    yield rows.filter((row) => isOfAccount(row, account) && !KEPT.includes(parseKey(row)?.kind));
  }
}

/** Counts what an erasure would delete. */
export async function countRows(table: Table, account: Int64): Promise<RowCounts> {
  const counts: RowCounts = {};
  for await (const rows of rowsOf(table, account)) addRows(counts, rows);
  return counts;
}

/**
 * Marks the account as erased, takes it off the list of accounts, and deletes the app keys that it lists. From now on nothing can change it,
 * and its records are refused. An account that is marked already stays so.
 * @param started written in the same transaction
 * @returns how many rows of each kind it has deleted
 */
export async function markErased(
  table: Table,
  account: Int64,
  nowMs: number,
  started: readonly Action[],
): Promise<RowCounts> {
  const counts: RowCounts = {};
  const empty = { name: '', permissions: [], cursor_secret: new Uint8Array(), gateway_key: undefined };
  const mark = set({ ...empty, suspended: true, untold: undefined, erased_at_ms: nowMs });
  for (;;) {
    const row = await readAccount(table, account);
    if (!row) throw new AccountError(`account ${account} no longer exists`);
    if (row.erased_at_ms !== undefined) {
      // A key that was issued meanwhile is listed here, too; later nobody can issue one.
      await forEach(row.app_keys ?? [], async (hash) => {
        const key = keys.appKey(hash);
        if ((await deleteRow(table, key, is('account_id', account))).done) addRows(counts, [key]);
      });
      return counts;
    }
    const update = expression`${mark} ADD revision ${1}`;
    const listed = keys.listedAccount(account);
    const actions = [
      updateAction(keys.account(account), update, is('revision', row.revision)),
      deleteAction(listed),
      ...started,
    ];
    if ((await transact(table, actions)) === undefined) addRows(counts, [listed]);
  }
}

/**
 * Deletes all rows but the kept ones, until a scan finds none. What is left after a failure, the next call deletes.
 * @param onDeleted called from time to time with the number of rows deleted since the last call
 * @returns how many rows of each kind. If app keys are among them, which the account did not list, they worked until now: then wait for
 *   what they began, and call this again
 */
export async function deleteRows(
  connected: Table,
  account: Int64,
  signal: AbortSignal,
  onDeleted: (count: number) => void = () => {},
): Promise<RowCounts> {
  const table = withSignal(connected, signal);
  const counts: RowCounts = {};
  // Before the entries of merges: then nobody looks for the entries of those that are pending.
  const head = keys.logHead(account);
  if ((await deleteRow(table, head, EXISTS)).done) addRows(counts, [head]);
  for (let found = 1; found > 0; ) {
    found = 0;
    for await (const rows of rowsOf(table, account)) {
      const began = performance.now();
      let units = 0;
      const remove = async (row: Key) => {
        const used = await deleteOne(table, row);
        units += used;
      };
      await forEach(rows, remove, { concurrency: CONCURRENCY, signal });
      found += rows.length;
      addRows(counts, rows);
      onDeleted(rows.length);
      const aheadMs = (units / UNITS_A_SECOND) * 1_000 - (performance.now() - began);
      if (aheadMs > 0) await sleep(aheadMs, undefined, { signal });
    }
  }
  return counts;
}

/** Deletes a row, and waits while DynamoDB throttles. @returns the write units that it took */
async function deleteOne({ client, name, signal }: Table, { pk, sk }: Key): Promise<number> {
  const command = () => new DeleteCommand({ TableName: name, Key: { pk, sk }, ReturnConsumedCapacity: 'TOTAL' });
  const { ConsumedCapacity } = await patiently(() => client.send(command(), optionsOf(signal)), signal);
  return ConsumedCapacity?.CapacityUnits ?? 0;
}

/** Records that nothing of the account is left but its mark and the audit. @param done written in the same transaction */
export async function endErasure(table: Table, account: Int64, nowMs: number, done: readonly Action[]): Promise<void> {
  const end = set({ erasure_ended_at_ms: nowMs, app_keys: undefined });
  const isMarked = expression`attribute_exists(erased_at_ms)`;
  if ((await transact(table, [updateAction(keys.account(account), end, isMarked), ...done])) !== undefined)
    throw new Error(`account ${account} is no longer marked as erased`);
}
