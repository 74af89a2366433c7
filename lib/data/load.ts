import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, type BatchWriteCommandInput, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type AccountRow, putAccount, readAccount } from '../accounts/accounts.ts';
import { putAppKey } from '../accounts/app-key-admin.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';
import { lastOf, readMergeOrder } from '../incidents/merge-order.ts';
import type { Int64 } from '../json.ts';
import { batchGet } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { isThrottled, isUnavailable } from '../table/failures.ts';
import { type Key, keys, parseKey } from '../table/keys.ts';
import { forEach } from '../table/pool.ts';
import { checkData, type Lines, writeError } from './check.ts';
import { appKeyOf, type Entity, type Kind } from './format.ts';
import { storable } from './storable.ts';

const LARGEST_BATCH = 25;
const CONCURRENCY = 8;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** How many entities of each kind were written. */
export type LoadReport = Partial<Record<Kind, number>>;

export interface LoadOptions {
  /** Unix time. */
  nowSeconds: number;
  /** Provisions each account that has no gateway key yet. */
  gatewayKeys?: GatewayKeys;
  /** Told how many more entities are written, from time to time. */
  onWritten?: (count: number) => void;
  /** Told of each entity that the table holds as deleted and the data does not: it is left as it is. */
  onKeptDeleted?: () => void;
  /** Ends the writing; what is written stays, and writing the same data again completes it. */
  signal?: AbortSignal;
}

const lower = (id: unknown) => String(id).toLowerCase();

/** An open kind's fields: their values may be any JSON. */
const storableFields = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, storable(value)]));

/** The row of an entity; accounts and keys are written one by one, by rules of their own. */
export function rowOf({ kind, account_id: account, ...fields }: Entity): Key & Record<string, unknown> {
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
      return { ...storableFields(fields), ...keys.workItem(account, String(fields.work_item_id)) };
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
 * Checks data as a whole, then writes it as {@link writeData} does.
 * @param source how messages name the data
 * @throws DataError when anything is wrong with it; nothing is written then
 */
export async function loadData(table: Table, source: string, lines: Lines, options: LoadOptions): Promise<LoadReport> {
  return writeData(table, await checkAgainst(table, source, lines), options);
}

/** Checks data as a whole, and against what the table holds. @throws DataError */
export function checkAgainst(table: Table, source: string, lines: Lines): Promise<Entity[]> {
  return checkData(source, lines, {
    hasAccount: async (account) => (await readAccount(table, account)) !== undefined,
    async ownersOf(hashes) {
      const rows = await batchGet(table, hashes.map(keys.appKey));
      return new Map([...rows.values()].map((row) => [hashOf(row as unknown as Key), row.account_id as Int64]));
    },
  });
}

const hashOf = (key: Key) => String(parseKey(key)?.parts[0]);

export function countKinds(entities: readonly Entity[]): LoadReport {
  const report: LoadReport = {};
  for (const { kind } of entities) report[kind] = (report[kind] ?? 0) + 1;
  return report;
}

/**
 * Writes checked data: accounts, then keys, then all else, a few batches at once. Writing the same data again leads to the
 * same rows, so a run that was cut short is completed by another. What happened once stays: a revocation, a suspension, a
 * deletion.
 */
export async function writeData(
  table: Table,
  entities: readonly Entity[],
  { nowSeconds, gatewayKeys, onWritten = () => {}, onKeptDeleted = () => {}, signal }: LoadOptions,
): Promise<LoadReport> {
  const accounts = new Map<string, AccountRow>();
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
    accounts.set(String(account_id), row);
    onWritten(1);
  }
  for (const entity of entities) {
    if (entity.kind !== 'app_key') continue;
    signal?.throwIfAborted();
    const { account_id, created_at, expires_at, revoked, note } = entity;
    const account = accounts.get(String(account_id)) ?? (await readAccount(table, account_id));
    if (!account) throw new Error(`account ${account_id} no longer exists`);
    accounts.set(String(account_id), account);
    await putAppKey(table, account, appKeyOf(entity), {
      created_at: created_at === undefined ? nowSeconds : Number(created_at),
      ...(expires_at !== undefined && { expires_at: Number(expires_at) }),
      ...(revoked === true && { revoked_at: nowSeconds }),
      ...(note !== undefined && { note: String(note) }),
    });
    onWritten(1);
  }
  const rest = entities.filter(({ kind }) => kind !== 'account' && kind !== 'app_key');
  const loadedAfter = await latestSequences(table, rest);
  await writeRows(table, rest, { onWritten, onKeptDeleted, loadedAfter, signal });
  return countKinds(entities);
}

/** Kinds whose rows merges write. */
const isMerged = ({ kind }: Entity) => kind === 'alert' || kind === 'incident';

/** The latest merge of each account whose alerts or incidents are loaded: what merges up to it have done is overwritten. */
async function latestSequences(table: Table, entities: readonly Entity[]): Promise<Map<string, number>> {
  const accounts = new Map(entities.filter(isMerged).map(({ account_id }) => [String(account_id), account_id]));
  const latest = new Map<string, number>();
  for (const account of accounts.values()) {
    const last = lastOf(await readMergeOrder(table, account));
    if (last > 0) latest.set(String(account), last);
  }
  return latest;
}

/** The field whose presence in a row says that its entity is deleted. */
const DELETED: Readonly<Partial<Record<Kind, string>>> = { work_item: 'deleted_at_ms', rum_resource: 'deleted' };

/** Whether an entity must not be written over a deleted one. */
const isAlive = (entity: Entity) => {
  const field = DELETED[entity.kind];
  return field !== undefined && (entity[field] ?? false) === false;
};

interface Writing {
  onWritten: (count: number) => void;
  onKeptDeleted: () => void;
  /** By account. */
  loadedAfter: ReadonlyMap<string, number>;
  signal: AbortSignal | undefined;
}

/** Writes rows, each whole, in batches, a few at once. */
async function writeRows(
  table: Table,
  entities: readonly Entity[],
  { onWritten, onKeptDeleted, loadedAfter, signal }: Writing,
): Promise<void> {
  const loadedRowOf = (entity: Entity) => {
    const last = isMerged(entity) ? loadedAfter.get(String(entity.account_id)) : undefined;
    return { ...rowOf(entity), ...(last !== undefined && { loaded_after: last }) };
  };
  const batches = Array.from({ length: Math.ceil(entities.length / LARGEST_BATCH) }, (_, index) =>
    entities.slice(index * LARGEST_BATCH, (index + 1) * LARGEST_BATCH),
  );
  // Work that is under way when other work fails ends with its batch.
  const writeSome = async (batch: readonly Entity[]) => {
    const alive = batch.filter(isAlive);
    const others = batch.filter((entity) => !isAlive(entity));
    await writeBatch(table, others.map(loadedRowOf), signal).catch((error) =>
      findRefused(table, others, loadedRowOf, error, signal),
    );
    const written = await Promise.all(
      alive.map((entity) =>
        putUnlessDeleted(table, entity, signal).catch((error) => {
          throw isRefusal(error) ? writeError(entity, error) : error;
        }),
      ),
    );
    for (const one of written) if (!one) onKeptDeleted();
    onWritten(batch.length);
  };
  await forEach(batches, writeSome, { concurrency: CONCURRENCY, signal });
}

/** Whether DynamoDB, or its client, refuses what is to be written, as against a failure that has nothing to do with it. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && !isUnavailable(error) && !isThrottled(error) && error.name !== 'AbortError';

/** Writes the rows of a refused batch one by one. @throws DataError of the row that DynamoDB refuses */
async function findRefused(
  table: Table,
  entities: readonly Entity[],
  toRow: (entity: Entity) => Record<string, unknown>,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!isRefusal(error)) throw error;
  for (const entity of entities)
    await writeBatch(table, [toRow(entity)], signal).catch((refusal) => {
      throw isRefusal(refusal) ? writeError(entity, refusal) : refusal;
    });
}

/** Writes the row of an entity, unless the table holds it as deleted. @returns whether it was written */
async function putUnlessDeleted(table: Table, entity: Entity, signal?: AbortSignal): Promise<boolean> {
  const condition = {
    ConditionExpression: 'attribute_not_exists(#deleted) OR #deleted = :no',
    ExpressionAttributeNames: { '#deleted': DELETED[entity.kind] ?? '' },
    ExpressionAttributeValues: { ':no': false },
  };
  const command = new PutCommand({ TableName: table.name, Item: rowOf(entity), ...condition });
  let written = true;
  await untilNotThrottled(async () => {
    try {
      await table.client.send(command, signal ? { abortSignal: signal } : {});
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      written = false;
    }
    return true;
  }, signal);
  return written;
}

/** Writes up to 25 rows; what DynamoDB throttles or leaves unprocessed is sent again. */
export async function writeBatch(
  table: Table,
  rows: readonly Record<string, unknown>[],
  signal?: AbortSignal,
): Promise<void> {
  let left: BatchWriteCommandInput['RequestItems'] = { [table.name]: rows.map((Item) => ({ PutRequest: { Item } })) };
  if (rows.length > 0)
    await untilNotThrottled(async () => {
      const command = new BatchWriteCommand({ RequestItems: left });
      const answer = await table.client.send(command, signal ? { abortSignal: signal } : {});
      left = answer.UnprocessedItems ?? {};
      return !left[table.name]?.length;
    }, signal);
}

/** Does something again until it is done, when DynamoDB throttles it after a pause that grows. */
async function untilNotThrottled(act: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    signal?.throwIfAborted();
    try {
      if (await act()) return;
    } catch (error) {
      if (!isThrottled(error)) throw error;
    }
    await sleep(pause * (0.5 + Math.random() / 2), undefined, signal ? { signal } : {});
  }
}
