/** Reads the rows that are checked. */
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../../../lib/aws/http-handler.ts';
import { entryOf } from '../../../lib/operations/merge-alerts/entry.ts';
import { logHeadOf } from '../../../lib/operations/merge-alerts/log-head.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { expression, expressionsOf } from '../../../lib/table/expression.ts';
import {
  type Key,
  keys,
  ofKind,
  parseKey,
  partitions,
  type RowKind,
  type Stored,
  shardsOf,
} from '../../../lib/table/keys.ts';
import { batchGet, queryRows } from '../../../lib/table/read.ts';
import type { AccountRow, AlertRow, AppKeyRow } from '../../../lib/table/rows.ts';
import { readAccount } from '../accounts/accounts.ts';
import type { AccountRows } from './check-accounts.ts';

/** The attributes of an alert that decide its incident, and the state of its key. Others are not read, since they may be large. */
const ALERT_ATTRIBUTES = [
  ...(['incident_id', 'moved_sequence', 'moved_from', 'previous_sequence'] as const),
  ...(['alert_key', 'key_order', 'open_partition'] as const),
] as const;

export async function readMergeRows(table: Table, account: Int64): Promise<MergeRows> {
  const rows: MergeRow[] = [];
  const add = (read: readonly MergeRow[]) => {
    for (const row of read) rows.push(row); // not with a spread, which has too many arguments for large accounts
  };
  add(await queryRows(table, partitions.logHead(account)));
  await forEach(shardsOf(partitions.alert, account), async (shard) =>
    add(await queryRows(table, shard, { attributes: ['pk', 'sk', ...ALERT_ATTRIBUTES] })),
  );
  await forEach(shardsOf(partitions.alertKey, account), async (shard) => add(await queryRows(table, shard)));
  const incidents = await queryRows(table, partitions.incident(account));
  add(incidents);
  await forEach(incidents, async ({ sk }) => add(await queryRows(table, partitions.historyEntry(account, sk))));
  add(await queryRows(table, partitions.member(account)));
  add(await queryRows(table, partitions.logPointer(account)));
  add(await queryRows(table, partitions.idempotency(account)));
  return mergeRowsOf(account, rows);
}

type MergeRow = Key &
  (
    | Pick<AlertRow, (typeof ALERT_ATTRIBUTES)[number]>
    | Stored<'incident' | 'alertKey' | 'member' | 'historyEntry' | 'logPointer' | 'logHead' | 'idempotency'>
  );

export type MergeRows = ReturnType<typeof mergeRowsOf>;

/** All rows that an account's merges read, by kind. */
export function mergeRowsOf(account: Int64, rows: readonly MergeRow[]) {
  const rowsOf = Map.groupBy(rows, (row) => parseKey(row)?.kind);
  const listOf = <Kind extends RowKind>(kind: Kind) => (rowsOf.get(kind) ?? []) as Stored<Kind>[];
  const byId = <Kind extends RowKind>(kind: Kind) => new Map(listOf(kind).map((row) => [row.sk, row]));
  return {
    account,
    head: logHeadOf(listOf('logHead')[0]),
    incidents: byId('incident'),
    members: byId('member'),
    /** Their {@link ALERT_ATTRIBUTES} only. */
    alerts: byId('alert'),
    alertKeys: byId('alertKey'),
    /** The entries of all histories. */
    entries: listOf('historyEntry').map(entryOf),
    log: listOf('logPointer'),
    idempotencyKeys: listOf('idempotency'),
  };
}

const SEGMENTS = 8;
/** Sort keys of these rows, of whatever account. */
const [ACCOUNT, LOG_HEAD, APP_KEY] = [keys.account(0).sk, keys.logHead(0).sk, keys.appKey('').sk];

/** Reads all accounts and app keys by a scan of the table. */
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
        ...expressionsOf({
          FilterExpression: expression`pk = ${partitions.listedAccount()} OR sk = ${ACCOUNT} OR sk = ${LOG_HEAD} OR sk = ${APP_KEY}`,
        }),
      },
      optionsOf(table.signal),
    );
    for await (const { Items = [] } of pages)
      for (const row of Items as Stored<'appKey' | 'listedAccount' | 'account' | 'logHead'>[]) {
        const { kind, account, parts = [] } = parseKey(row) ?? {};
        const [appKey] = ofKind('appKey', [row]);
        if (appKey) appKeys.set(String(parts[0]), appKey);
        if (kind === 'listedAccount' && account !== undefined) listed.add(account);
        for (const accountRow of ofKind('account', [row])) accounts.set(accountRow.account_id, accountRow);
        const owner = appKey?.account_id ?? account;
        if (owner !== undefined && !accounts.has(owner)) accounts.set(owner, undefined);
      }
  });
  return { listed, accounts, appKeys };
}

/** Reads one account and the keys that it lists. Keys that it does not list would take a scan of the table. */
export async function readRowsOfAccount(table: Table, account: Int64): Promise<AccountRows> {
  const listKey = keys.listedAccount(account);
  const row = await readAccount(table, account);
  const hashes = [...(row?.app_keys ?? [])];
  const { rows } = await batchGet(table, [listKey, ...hashes.map(keys.appKey)]);
  const appKeys = ofKind('appKey', [...rows.values()]).map(
    (appKey) => [String(parseKey(appKey)?.parts[0]), appKey] as const,
  );
  return {
    listed: new Set(rows.of(listKey) ? [account] : []),
    accounts: new Map([[account, row]]),
    appKeys: new Map(appKeys),
  };
}
