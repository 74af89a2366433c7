/** Reads are sent first and charged by what they have read; a caller whose partition key lacks the units gets an error in place of the answer. */
import type { Item } from '../../../lib/dynamodb/item-size.ts';
import { type Call, type Json, partitionName, rowOf } from './call.ts';
import { readUnitsOf } from './capacity.ts';
import { invalid, throttled } from './limit-errors.ts';

const BATCH_BYTES = 16 * 1024 * 1024;
/** API Reference, `BatchGetItem`: more than 1 MB of one partition is left unprocessed. */
const BATCH_BYTES_OF_A_PARTITION = 1024 * 1024;

export async function getItem({ request, server, partitions }: Call): Promise<Json> {
  const { TableName, Key, ConsistentRead = false } = request;
  const reply = await server.call('GetItem', request);
  const row = rowOf(TableName, Key);
  const bytesOf = await server.storedBytes([row]);
  if (!partitions.take(row.partition, 'read', readUnitsOf(bytesOf(row), ConsistentRead)))
    throw throttled('read', TableName);
  return reply;
}

/**
 * A page of a query. Its units are those that the server reports, since they include the rows that a filter leaves out. A scan is not limited:
 * its request does not say which partitions it reads.
 */
export async function query({ request, server, partitions }: Call): Promise<Json> {
  const { TableName, KeyConditionExpression = '', ExpressionAttributeNames = {} } = request;
  const equalities = [...KeyConditionExpression.matchAll(/([#\w.-]+)\s*=\s*(:\w+)/g)];
  const [, , value] = equalities.find(([, name]) => (ExpressionAttributeNames[name] ?? name) === 'pk') ?? [];
  if (value === undefined) throw invalid('limits: a query needs a KeyConditionExpression with its partition key');
  const reply = await server.call('Query', { ...request, ReturnConsumedCapacity: 'TOTAL' });
  const units = Math.max(request.ConsistentRead ? 1 : 0.5, reply.ConsumedCapacity?.CapacityUnits ?? 0);
  const partition = partitionName(TableName, request.ExpressionAttributeValues[value]);
  if (!partitions.take(partition, 'read', units)) throw throttled('read', TableName);
  return reply;
}

/**
 * Keys beyond the limits are left unprocessed; if none is processed for lack of capacity, the call is throttled.
 * Source: API Reference, `BatchGetItem`.
 */
export async function batchGetItem({ request, server, partitions }: Call): Promise<Json> {
  const rows = Object.entries<{ Keys: Item[] }>(request.RequestItems).flatMap(([table, { Keys }]) =>
    Keys.map((key) => rowOf(table, key)),
  );
  const bytesOf = await server.storedBytes(rows);
  const [granted, left]: [Json, Json] = [{}, {}];
  const unitsOf = new Map<string, number>();
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
    unitsOf.set(table, (unitsOf.get(table) ?? 0) + units);
  }
  if (unitsOf.size === 0 && throttledTable !== undefined) throw throttled('read', throttledTable);
  const reply = await server.call('BatchGetItem', { RequestItems: granted });
  const ConsumedCapacity = [...unitsOf].map(([TableName, CapacityUnits]) => ({ TableName, CapacityUnits }));
  return { ...reply, UnprocessedKeys: left, ConsumedCapacity };
}
