/** Reads the rows that are checked. */
import type { AlertRow } from '../../../lib/model/alert.ts';
import { entryOf } from '../../../lib/operations/merge-alerts/entry.ts';
import { logHeadOf } from '../../../lib/operations/merge-alerts/log-head.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { expression } from '../../../lib/table/expression.ts';
import {
  type Key,
  keys,
  ofKind,
  parseKey,
  partitions,
  patterns,
  type RowKind,
  type Stored,
  shardsOf,
} from '../../../lib/table/keys.ts';
import { batchGet, queryPage, queryRows } from '../../../lib/table/read.ts';
import { readAccount } from '../accounts/accounts.ts';
import { scanPages } from '../aws/scan.ts';
import { type AccountRows, type CheckedAccount, type CheckedAppKey, READ_ATTRIBUTES } from './check-accounts.ts';

/** The attributes of an alert that decide its incident, and the state of its key. Others are not read, since they may be large. */
const ALERT_ATTRIBUTES = [
  ...(['incident_id', 'moved_sequence', 'moved_from', 'feed_incident'] as const),
  ...(['alert_id', 'alert_key', 'key_order', 'alert_severity', 'started_at_ms', 'ended_at_ms', 'ttl'] as const),
] as const;

/** @param histories incidents that have entries, as a scan of the table shows them; those that any row names are read without it */
export async function readMergeRows(
  table: Table,
  account: Int64,
  histories: Iterable<string> = [],
): Promise<MergeRows> {
  const rows: MergeRow[] = [];
  const add = (read: readonly MergeRow[]) => {
    for (const row of read) rows.push(row); // not with a spread, which has too many arguments for large accounts
  };
  add(await queryRows(table, partitions.logHead(account)));
  await forEach(shardsOf(partitions.alert, account), async (shard) =>
    add(await queryRows(table, shard, { attributes: ['pk', 'sk', ...ALERT_ATTRIBUTES] })),
  );
  await forEach(shardsOf(partitions.alertKey, account), async (shard) => add(await queryRows(table, shard)));
  add(await queryRows(table, partitions.incident(account)));
  add(await queryRows(table, partitions.member(account)));
  add(await queryRows(table, partitions.logPointer(account)));
  add(await queryRows(table, partitions.idempotency(account)));
  // Rows that have arrived may name incidents whose own rows have not.
  const read = new Set<string>();
  for (let wanted = new Set([...incidentsIn(rows), ...histories]); wanted.size > 0; ) {
    const entries: Stored<'historyEntry'>[] = [];
    await forEach(wanted, async (id) => {
      read.add(id);
      for (const row of await queryRows(table, partitions.historyEntry(account, id))) entries.push(row);
    });
    add(entries);
    wanted = new Set(incidentsIn(entries)).difference(read);
  }
  return mergeRowsOf(account, rows);
}

/** The incidents that rows are of, or name. */
function* incidentsIn(rows: readonly MergeRow[]): Generator<string> {
  const { incidents, log, head, idempotencyKeys, alerts, entries } = mergeRowsOf(0, rows);
  yield* incidents.keys();
  for (const { incident_id } of [...log, ...idempotencyKeys]) yield incident_id;
  for (const { incidentId } of head.pending ?? []) yield incidentId;
  for (const { incident_id, moved_from, feed_incident } of alerts.values())
    for (const id of [incident_id, moved_from, feed_incident]) if (id !== undefined) yield id;
  for (const { entry, moves } of entries) {
    yield entry.incident_id;
    for (const { from, to } of moves) for (const id of [from, to]) if (id !== undefined) yield id;
  }
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
    completed: listOf('logHead')[0]?.completed?.sequence,
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

/** Reads all accounts and app keys, and which incidents have entries, by a scan of the table. */
export async function readAccountRows(
  table: Table,
): Promise<AccountRows & { histories: ReadonlyMap<Int64, ReadonlySet<string>> }> {
  const listed = new Set<Int64>();
  const accounts = new Map<Int64, CheckedAccount | undefined>();
  const appKeys = new Map<string, CheckedAppKey>();
  const histories = new Map<Int64, Set<string>>();
  const filter = expression`pk = ${partitions.listedAccount()} OR sk = ${ACCOUNT} OR sk = ${LOG_HEAD} OR sk = ${APP_KEY} OR attribute_exists(merge_id)`;
  await forEach(Array(SEGMENTS).keys(), async (Segment) => {
    const segment = { Segment, TotalSegments: SEGMENTS };
    for await (const { Items = [] } of scanPages(table, filter, ['pk', 'sk', ...READ_ATTRIBUTES], segment))
      for (const row of Items as Stored<'appKey' | 'listedAccount' | 'account' | 'logHead'>[]) {
        const { kind, account, values = [] } = parseKey(row) ?? {};
        const [appKey] = ofKind('appKey', [row]);
        if (appKey) appKeys.set(String(values[0]), appKey);
        if (kind === 'listedAccount' && account !== undefined) listed.add(account);
        for (const accountRow of ofKind('account', [row])) accounts.set(accountRow.account_id, accountRow);
        if (kind === 'historyEntry' && account !== undefined)
          histories.set(account, (histories.get(account) ?? new Set()).add(String(values[0])));
        const owner = appKey?.account_id ?? account;
        if (owner !== undefined && !accounts.has(owner)) accounts.set(owner, undefined);
      }
  });
  const notEmpty = new Set<Int64>();
  for (const [account, row] of accounts)
    if (row?.erased_at_ms !== undefined && (histories.has(account) || (await hasRows(table, account))))
      notEmpty.add(account);
  return { listed, accounts, appKeys, histories, notEmpty };
}

/** Whether an erased account has rows. Its mark and audit do not count, nor do partitions whose keys have other ids. */
async function hasRows(table: Table, account: Int64): Promise<boolean> {
  const named = Object.values(patterns).filter((pattern) => /^ACCOUNT#\*#[^*]+$/.test(pattern));
  const left = new Set(named).difference(new Set([patterns.account, patterns.audit]));
  const all = [
    ...[...left].map((pattern) => pattern.replace('*', String(account))),
    ...shardsOf(partitions.alert, account),
    ...shardsOf(partitions.alertKey, account),
  ];
  let found = false;
  await forEach(all, async (partition) => {
    if (!found && (await queryPage(table, partition, { limit: 1 })).rows.length > 0) found = true;
  });
  return found;
}

/** Reads one account and the keys that it lists. Keys that it does not list would take a scan of the table. */
export async function readRowsOfAccount(table: Table, account: Int64): Promise<AccountRows> {
  const listKey = keys.listedAccount(account);
  const row = await readAccount(table, account);
  const hashes = [...(row?.app_keys ?? [])];
  const { rows } = await batchGet(table, [listKey, ...hashes.map(keys.appKey)]);
  const appKeys = ofKind('appKey', [...rows.values()]).map(
    (appKey) => [String(parseKey(appKey)?.values[0]), appKey] as const,
  );
  return {
    listed: new Set(rows.of(listKey) ? [account] : []),
    accounts: new Map([[account, row]]),
    appKeys: new Map(appKeys),
    notEmpty: new Set(),
  };
}
