import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteCommand, type BatchWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { type AccountRow, putAccount, putAppKey, readAccount } from '../accounts/accounts.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { type Key, keys } from '../table/keys.ts';
import { checkData } from './check.ts';
import type { Entity, Kind } from './format.ts';

const LARGEST_BATCH = 25;
const CONCURRENCY = 8;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** How many entities of each kind were written. */
export type LoadReport = Partial<Record<Kind, number>>;

const lower = (id: unknown) => String(id).toLowerCase();

/** The row of an entity; accounts and keys are written one by one, by rules of their own. */
function rowOf({ kind, account_id: account, ...fields }: Entity): Key & Record<string, unknown> {
  const { host_id, ...host } = fields as { host_id?: unknown };
  switch (kind) {
    case 'member':
      return { ...keys.member(account, fields.member_id as Int64), ...fields };
    case 'host':
      return { ...keys.host(account, String(host_id)), ...host };
    case 'host_status':
      return { ...keys.hostStatus(account, String(host_id)), ...host };
    case 'rum_resource':
      return { ...keys.rumResource(account), ...fields };
    case 'rum_usage':
      return { ...keys.rumUsage(account), ...fields };
    case 'work_item':
      return { ...fields, ...keys.workItem(account, String(fields.work_item_id)) };
    case 'incident':
      return {
        ...fields,
        ...keys.incident(account, String(fields.incident_id)),
        incident_id: lower(fields.incident_id),
      };
    case 'alert':
      return {
        ...fields,
        ...keys.alert(account, String(fields.alert_id)),
        alert_id: lower(fields.alert_id),
        ...(fields.incident_id !== undefined && { incident_id: lower(fields.incident_id) }),
      };
    case 'account':
    case 'app_key':
      throw new Error(`${kind} has no row of its own`);
  }
}

/**
 * Checks data as a whole, then writes it: accounts, then keys, then all else, a few batches at once. Loading the same data
 * again leads to the same rows.
 * @param source how messages name the data
 * @param options `nowSeconds`: Unix time; `gatewayKeys`: provisions each account that has no gateway key yet
 * @throws DataError when anything is wrong with it; nothing is written then
 */
export async function loadData(
  table: Table,
  source: string,
  lines: AsyncIterable<string> | Iterable<string>,
  options: { nowSeconds: number; gatewayKeys?: GatewayKeys },
): Promise<LoadReport> {
  const accountExists = async (account: Int64) => (await readAccount(table, account)) !== undefined;
  return writeEntities(table, await checkData(source, lines, accountExists), options);
}

async function writeEntities(
  table: Table,
  entities: readonly Entity[],
  { nowSeconds, gatewayKeys }: { nowSeconds: number; gatewayKeys?: GatewayKeys },
): Promise<LoadReport> {
  const accounts = new Map<string, AccountRow>();
  for (const { kind, account_id, name, permissions } of entities) {
    if (kind !== 'account') continue;
    const row = await putAccount(table, { account_id, name: String(name), permissions: permissions as string[] });
    if (gatewayKeys && row.gateway_key === undefined) row.gateway_key = await gatewayKeys.provision(account_id);
    accounts.set(String(account_id), row);
  }
  for (const { kind, account_id, app_key, expires_at, revoked } of entities) {
    if (kind !== 'app_key') continue;
    const account = accounts.get(String(account_id)) ?? (await readAccount(table, account_id));
    if (!account) throw new Error(`account ${account_id} went away`);
    accounts.set(String(account_id), account);
    await putAppKey(table, account, String(app_key), {
      nowSeconds,
      ...(expires_at !== undefined && { expires_at: Number(expires_at) }),
      ...(revoked === true && { revoked_at: nowSeconds }),
    });
  }
  await writeRows(table, entities.filter(({ kind }) => kind !== 'account' && kind !== 'app_key').map(rowOf));
  const report: LoadReport = {};
  for (const { kind } of entities) report[kind] = (report[kind] ?? 0) + 1;
  return report;
}

/** Writes rows, each whole, in batches; what DynamoDB leaves unprocessed is sent again after a pause that grows. */
async function writeRows(table: Table, rows: readonly (Key & Record<string, unknown>)[]): Promise<void> {
  const batches: (typeof rows)[] = [];
  for (let at = 0; at < rows.length; at += LARGEST_BATCH) batches.push(rows.slice(at, at + LARGEST_BATCH));
  const left = batches.values();
  const worker = async () => {
    for (const batch of left) await writeBatch(table, batch);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, batches.length) }, worker));
}

async function writeBatch(table: Table, batch: readonly Record<string, unknown>[]): Promise<void> {
  let request: BatchWriteCommandInput['RequestItems'] = {
    [table.name]: batch.map((Item) => ({ PutRequest: { Item } })),
  };
  for (let pause = FIRST_PAUSE_MS; request?.[table.name]?.length; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const { UnprocessedItems }: { UnprocessedItems?: BatchWriteCommandInput['RequestItems'] } = await table.client.send(
      new BatchWriteCommand({ RequestItems: request }),
    );
    request = UnprocessedItems;
    if (request?.[table.name]?.length) await sleep(pause);
  }
}
