import { batchGet, rowName } from '../../../lib/dynamodb/batch-get.ts';
import { type Table, withSignal } from '../../../lib/dynamodb/client.ts';
import { type Key, keys, parseKey } from '../../../lib/dynamodb/keys.ts';
import type { AccountRow } from '../../../lib/dynamodb/rows.ts';
import type { Entity, Kind } from '../../../lib/ingest/kinds.ts';
import { readMergeOrder } from '../../../lib/operations/merge-alerts/merge-order.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { putAccount, readAccount } from '../accounts/accounts.ts';
import { putAppKey } from '../accounts/app-key-admin.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';
import { countText } from '../text/printable.ts';
import { appKeyOf, checkData, type Lines, type TableContents } from './check-lines.ts';
import { isWrittenByMerges, writeRows } from './write.ts';

/** How many entities of each kind were written. */
export type LoadReport = Partial<Record<Kind, number>>;

export interface LoadOptions {
  /** Unix time. */
  nowSeconds: number;
  /** Makes a gateway key for each account that has none yet. */
  gatewayKeys?: GatewayKeys;
  /** Called from time to time with the number of entities written since the last call. */
  onWritten?: (count: number) => void;
  /** Called for each entity that stays deleted: it is deleted in the table, but not in the data. */
  onKeptDeleted?: () => void;
  /** Stops the writing. To complete it, the same data is written again. */
  signal?: AbortSignal;
}

/**
 * Checks data as a whole, then writes it as {@link writeData} does.
 * @param source name of the data in messages
 * @throws DataError if any line is invalid: then nothing is written
 */
export async function loadData(table: Table, source: string, lines: Lines, options: LoadOptions): Promise<LoadReport> {
  return writeData(table, await checkAgainst(table, source, lines), options);
}

/** Checks data as a whole, with {@link checkData}, against the contents of a table. @throws DataError */
export function checkAgainst(
  table: Table,
  source: string,
  lines: Lines,
  only?: readonly Int64[],
  warn?: (text: string) => void,
): Promise<Entity[]> {
  const contents: TableContents = {
    hasAccount: async (account) => (await readAccount(table, account)) !== undefined,
    async ownersOf(hashes) {
      const { rows } = await batchGet(table, hashes.map(keys.appKey));
      return new Map([...rows.values()].map((row) => [hashOf(row), row.account_id]));
    },
    async existing(wanted) {
      const { rows } = await batchGet(table, wanted, { attributes: [] });
      return new Set([...rows.values()].map(rowName));
    },
  };
  return checkData(source, lines, contents, only, warn);
}

const hashOf = (key: Key) => String(parseKey(key)?.parts[0]);

const NOUNS: Readonly<Record<Kind, string>> = {
  account: 'account',
  app_key: 'app key',
  member: 'member',
  host: 'host',
  host_status: 'host report',
  rum_resource: 'RUM resource',
  rum_usage: 'RUM usage row',
  work_item: 'work item',
  incident: 'incident',
  alert: 'alert',
};

/** Such as `2 accounts, 600 hosts`. */
export const countsText = (report: LoadReport) =>
  Object.entries(report)
    .map(([kind, count]) => countText(count, NOUNS[kind as Kind]))
    .join(', ') || 'nothing';

export function countKinds(entities: readonly Entity[]): LoadReport {
  const report: LoadReport = {};
  for (const { kind } of entities) report[kind] = (report[kind] ?? 0) + 1;
  return report;
}

/**
 * Writes checked data: accounts first, then app keys, then everything else, a few batches concurrently. Writing the
 * same data again gives the same rows, and so completes an interrupted run. Revocations, suspensions and deletions in
 * the table are kept.
 */
export async function writeData(
  table: Table,
  entities: readonly Entity[],
  { nowSeconds, gatewayKeys, onWritten = () => {}, onKeptDeleted = () => {}, signal }: LoadOptions,
): Promise<LoadReport> {
  const accounts = new Map<Int64, AccountRow>();
  for (const { kind, account_id, name, permissions, suspended } of entities) {
    if (kind !== 'account') continue;
    signal?.throwIfAborted();
    const row = await putAccount(table, {
      account_id,
      name: String(name),
      permissions: permissions as string[],
      ...(suspended === true && { suspended }),
    });
    if (gatewayKeys && row.gateway_key === undefined) row.gateway_key = await gatewayKeys.provision(account_id);
    accounts.set(account_id, row);
    onWritten(1);
  }
  for (const entity of entities) {
    if (entity.kind !== 'app_key') continue;
    signal?.throwIfAborted();
    const { account_id, created_at, expires_at, revoked, note } = entity;
    const account = accounts.get(account_id) ?? (await readAccount(table, account_id));
    if (!account) throw new Error(`account ${account_id} no longer exists`);
    accounts.set(account_id, account);
    await putAppKey(table, account, appKeyOf(entity), {
      created_at: created_at === undefined ? nowSeconds : Number(created_at),
      ...(expires_at !== undefined && { expires_at: Number(expires_at) }),
      ...(revoked === true && { revoked_at: nowSeconds }),
      ...(note !== undefined && { note: String(note) }),
    });
    onWritten(1);
  }
  const rest = entities.filter(({ kind }) => kind !== 'account' && kind !== 'app_key');
  const latest = await latestSequences(table, rest.filter(isWrittenByMerges));
  await writeRows(withSignal(table, signal), rest, { onWritten, onKeptDeleted, latest });
  return countKinds(entities);
}

/** The sequence of the latest merge of each account that the entities belong to. */
async function latestSequences(table: Table, entities: readonly Entity[]): Promise<Map<Int64, number>> {
  const latest = new Map<Int64, number>();
  for (const account of new Set(entities.map(({ account_id }) => account_id)))
    latest.set(account, (await readMergeOrder(table, account)).last);
  return latest;
}
