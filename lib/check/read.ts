/** Reads what a check looks at. */
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { type AccountRow, readAccount } from '../accounts/accounts.ts';
import type { AppKeyRow } from '../auth/app-keys.ts';
import type { IncidentRow } from '../incidents/feed.ts';
import { mergeOrderOf } from '../incidents/merge-order.ts';
import { feedOf } from '../incidents/read.ts';
import type { Int64 } from '../json.ts';
import { batchGet, type Row, rowName } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { collections, type Key, keys, parseKey, type RowKind } from '../table/keys.ts';
import { forEach } from '../table/pool.ts';
import { queryAll } from '../table/query-all.ts';
import type { AccountRows } from './accounts.ts';
import type { CheckedAlert, MergeRows } from './merge-rows.ts';

/** Reads all rows that an account's merges read and write. */
export async function readMergeRows(table: Table, account: Int64): Promise<MergeRows> {
  const rows: (Key & Row)[] = [];
  const read = async (partition: string, attributes?: readonly string[]) => {
    for await (const row of queryAll(table, partition, attributes && { attributes })) rows.push(row);
  };
  await read(collections.mergeOrder(account));
  await forEach(collections.alertShards(account), (shard) => read(shard, ALERT_ATTRIBUTES));
  await read(collections.incidents(account));
  const incidents = rows.filter((row) => parseKey(row)?.kind === 'incident');
  await forEach(incidents, ({ sk }) => read(collections.feed(account, sk)));
  await read(collections.idempotency(account));
  return mergeRowsOf(account, rows);
}

/** What a check looks at of an alert: the rest may be large. */
const ALERT_ATTRIBUTES = ['pk', 'sk', 'incident_id', 'moved_sequence', 'moved_from', 'loaded_after'];

/** Rows of one account, told apart. */
export function mergeRowsOf(account: Int64, rows: readonly (Key & Row)[]): MergeRows {
  const rowsOf = Map.groupBy(rows, (row) => parseKey(row)?.kind);
  const rowsOfKinds = (...kinds: RowKind[]) => kinds.flatMap((kind) => rowsOf.get(kind) ?? []);
  const byId = <RowType>(kind: RowKind) => new Map(rowsOfKinds(kind).map((row) => [row.sk, row as unknown as RowType]));
  const feeds = Map.groupBy(rowsOfKinds('feedEntry', 'feedAlerts', 'feedMoves'), ({ pk }) => pk);
  const read = [...feeds.values()].map(feedOf);
  return {
    account,
    order: mergeOrderOf(rowsOfKinds('mergeOrder', 'mergeOrderShard')),
    incidents: byId<IncidentRow>('incident'),
    alerts: byId<CheckedAlert>('alert'),
    entries: read.flatMap(({ items }) => items),
    orphans: read.flatMap(({ orphans }) => orphans),
    rowsOfEntries: rowsOfKinds('feedAlerts', 'feedMoves'),
    idempotencyKeys: rowsOfKinds('idempotency'),
  };
}

const SEGMENTS = 8;

/** All accounts and app keys, from one scan of the table. */
export async function readAccountRows(table: Table): Promise<AccountRows> {
  const listed = new Set<Int64>();
  const accounts = new Map<Int64, AccountRow | undefined>();
  const appKeys = new Map<string, AppKeyRow>();
  await forEach(Array(SEGMENTS).keys(), async (Segment) => {
    const pages = paginateScan(
      { client: table.client },
      {
        TableName: table.name,
        Segment,
        TotalSegments: SEGMENTS,
        ConsistentRead: true,
        FilterExpression: 'pk = :list OR sk = :account OR begins_with(sk, :merge_order) OR begins_with(pk, :app_key)',
        ExpressionAttributeValues: {
          ':list': collections.accounts(),
          ':account': 'ACCOUNT',
          ':merge_order': 'LEDGER',
          ':app_key': 'APP_KEY#',
        },
      },
    );
    for await (const { Items = [] } of pages)
      for (const row of Items as (Key & Row)[]) {
        const { kind, account, parts = [] } = parseKey(row) ?? {};
        if (kind === 'appKey') appKeys.set(String(parts[0]), row as unknown as AppKeyRow);
        if (kind === 'listedAccount' && account !== undefined) listed.add(account);
        if (kind === 'account' && account !== undefined) accounts.set(account, row as unknown as AccountRow);
        const owner = kind === 'appKey' ? (row.account_id as Int64) : account;
        if (owner !== undefined && !accounts.has(owner)) accounts.set(owner, undefined);
      }
  });
  return { listed, accounts, appKeys };
}

/** The same of one account, without keys that it does not list: finding those takes a scan of the table. */
export async function readRowsOfAccount(table: Table, account: Int64): Promise<AccountRows> {
  const listKey = keys.listedAccount(account);
  const row = await readAccount(table, account);
  const hashes = [...(row?.app_keys ?? [])];
  const rows = await batchGet(table, [listKey, ...hashes.map(keys.appKey)]);
  const appKeys = hashes.flatMap((hash): [string, AppKeyRow][] => {
    const appKey = rows.get(rowName(keys.appKey(hash)));
    return appKey ? [[hash, appKey as unknown as AppKeyRow]] : [];
  });
  return {
    listed: new Set(rows.has(rowName(listKey)) ? [account] : []),
    accounts: new Map([[account, row]]),
    appKeys: new Map(appKeys),
  };
}
