/** Reads are executed, measured, and then granted or dropped, so that each counts with its actual size. */
import type { Item } from '../../../lib/dynamodb/item-size.ts';
import { readUnitsOf } from './capacity.ts';
import { type Json, partitionName, type Row } from './engine.ts';
import { invalid, throttled } from './limit-errors.ts';
import { type Call, consumed } from './limited-call.ts';

const BATCH_KEYS = 100;
const BATCH_BYTES = 16 * 1024 * 1024;
/** API Reference, `BatchGetItem`: more than 1 MB of one partition is left unprocessed. */
const BATCH_BYTES_OF_A_PARTITION = 1024 * 1024;

export async function getItem({ request, engine, partitions }: Call): Promise<Json> {
  const { TableName, Key, ConsistentRead = false } = request;
  const reply = await engine.call('GetItem', request);
  const row = await engine.rowOf(TableName, Key);
  const bytesOf = await engine.storedBytes([row]);
  const units = readUnitsOf(bytesOf(row), ConsistentRead);
  if (!partitions.take(row.partition, 'read', units)) throw throttled('read', TableName);
  return { ...reply, ...consumed(request, [{ row, units }], 'read') };
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
  return { ...rest, ...consumed(request, [{ row: { table: TableName }, units }], 'read') };
}

/**
 * Keys beyond the limits are left unprocessed; where none is processed for lack of capacity the call is throttled.
 * Source: API Reference, `BatchGetItem`.
 */
export async function batchGetItem({ request, engine, partitions }: Call): Promise<Json> {
  const keys = Object.entries<{ Keys: Item[] }>(request.RequestItems).flatMap(([table, { Keys }]) =>
    Keys.map((key) => [table, key] as const),
  );
  if (keys.length > BATCH_KEYS) throw invalid('Too many items requested for the BatchGetItem call');
  const rows = await Promise.all(keys.map(([table, key]) => engine.rowOf(table, key)));
  const bytesOf = await engine.storedBytes(rows);
  const used: { row: Row; units: number }[] = [];
  const granted: Json = {};
  const left: Json = {};
  const bytesOfPartition = new Map<string, number>();
  let bytes = 0;
  let throttledTable: string | undefined;
  for (const row of rows) {
    const { table, key, partition } = row;
    const ofPartition = (bytesOfPartition.get(partition) ?? 0) + bytesOf(row);
    const units = readUnitsOf(bytesOf(row), request.RequestItems[table].ConsistentRead ?? false);
    const fits = bytes + bytesOf(row) <= BATCH_BYTES && ofPartition <= BATCH_BYTES_OF_A_PARTITION;
    const takes = fits && partitions.take(partition, 'read', units);
    if (fits && !takes) throttledTable ??= table;
    const into = takes ? granted : left;
    into[table] ??= { ...request.RequestItems[table], Keys: [] };
    into[table].Keys.push(key);
    if (!takes) continue;
    bytes += bytesOf(row);
    bytesOfPartition.set(partition, ofPartition);
    used.push({ row, units });
  }
  if (used.length === 0 && throttledTable !== undefined) throw throttled('read', throttledTable);
  const reply = await engine.call('BatchGetItem', { RequestItems: granted });
  return { ...reply, UnprocessedKeys: left, ...consumed(request, used, 'read') };
}
