/** Reads are executed, measured, and then granted or dropped, so that each counts with its actual size. */
import type { Item } from '../../../lib/table/item-size.ts';
import type { Call } from './call.ts';
import { readUnitsOf } from './capacity.ts';
import { type Json, partitionName, type RowKey } from './engine.ts';
import { invalid, throttled } from './errors.ts';
import { consumed } from './transactions.ts';

const BATCH_KEYS = 100;
const BATCH_BYTES = 16 * 1024 * 1024;
/** API Reference, `BatchGetItem`: more than 1 MB of one partition is left unprocessed. */
const BATCH_BYTES_OF_A_PARTITION = 1024 * 1024;

export async function getItem({ request, engine, partitions }: Call): Promise<Json> {
  const { TableName, Key, ConsistentRead = false } = request;
  const row = { table: TableName, key: Key };
  const reply = await engine.call('GetItem', request);
  const [bytes = 0] = await engine.storedBytes([row]);
  const units = readUnitsOf(bytes, ConsistentRead);
  if (!partitions.take(await engine.partitionOf(row), 'read', units)) throw throttled('read', TableName);
  return { ...reply, ...consumed(request, [[TableName, units]], 'read') };
}

/**
 * A page of a query. What it read is the engine's figure: rows that a filter left out count, and only it knows them.
 * A scan is not held to a limit: it reads partition after partition, and which, its request does not say.
 */
export async function query({ request, engine, partitions }: Call): Promise<Json> {
  const { TableName, KeyConditionExpression = '', ExpressionAttributeNames = {} } = request;
  const [partitionKey = ''] = await engine.keyNames(TableName);
  const equalities = [...KeyConditionExpression.matchAll(/([#\w.-]+)\s*=\s*(:\w+)/g)];
  const [, , value] = equalities.find(([, name]) => (ExpressionAttributeNames[name] ?? name) === partitionKey) ?? [];
  if (value === undefined) throw invalid('limits: a query needs a KeyConditionExpression with its partition key');
  const reply = await engine.call('Query', { ...request, ReturnConsumedCapacity: 'TOTAL' });
  const { ConsumedCapacity, ...rest } = reply;
  const units = Math.max(request.ConsistentRead ? 1 : 0.5, ConsumedCapacity?.CapacityUnits ?? 0);
  const partition = partitionName(TableName, request.ExpressionAttributeValues[value]);
  if (!partitions.take(partition, 'read', units)) throw throttled('read', TableName);
  return { ...rest, ...consumed(request, [[TableName, units]], 'read') };
}

/**
 * Keys beyond the limits are left unprocessed; where none is processed for lack of capacity the call is throttled.
 * Source: API Reference, `BatchGetItem`.
 */
export async function batchGetItem({ request, engine, partitions }: Call): Promise<Json> {
  const tables = Object.entries<Json>(request.RequestItems);
  const rows = tables.flatMap(([table, { Keys }]) => (Keys as Item[]).map((key): RowKey => ({ table, key })));
  if (rows.length > BATCH_KEYS) throw invalid('Too many items requested for the BatchGetItem call');
  const sizes = await engine.storedBytes(rows);
  const used: [string, number][] = [];
  const granted: Json = {};
  const left: Json = {};
  const bytesOf = new Map<string, number>();
  let bytes = 0;
  let throttledTable: string | undefined;
  for (const [index, row] of rows.entries()) {
    const { table, key } = row;
    const partition = await engine.partitionOf(row);
    const size = sizes[index] ?? 0;
    const ofPartition = (bytesOf.get(partition) ?? 0) + size;
    const units = readUnitsOf(size, request.RequestItems[table].ConsistentRead ?? false);
    const fits = bytes + size <= BATCH_BYTES && ofPartition <= BATCH_BYTES_OF_A_PARTITION;
    const takes = fits && partitions.take(partition, 'read', units);
    if (fits && !takes) throttledTable ??= table;
    const into = takes ? granted : left;
    into[table] ??= { ...request.RequestItems[table], Keys: [] };
    into[table].Keys.push(key);
    if (!takes) continue;
    bytes += size;
    bytesOf.set(partition, ofPartition);
    used.push([table, units]);
  }
  if (used.length === 0 && throttledTable !== undefined) throw throttled('read', throttledTable);
  const reply = await engine.call('BatchGetItem', { RequestItems: granted });
  return { ...reply, UnprocessedKeys: left, ...consumed(request, used, 'read') };
}
