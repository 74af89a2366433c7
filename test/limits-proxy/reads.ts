/**
 * A `GetItem` or a `Query` is sent first and charged by what it has read; if its partition key lacks the units, the caller gets an error in place
 * of the answer. The keys of a `BatchGetItem` are charged one by one before it is sent.
 */

import { type Call, type Json, partitionName, type Row, rowOf } from './call.ts';
import { readUnitsOf } from './capacity.ts';
import type { Item } from './item-size.ts';
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
 * A page of a query. Its units are those that the server reports, since they include the rows that a filter removes. A scan is not limited:
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
  const [[table, read]] = Object.entries<Json>(request.RequestItems) as [[string, Json]];
  const rows: Row[] = read.Keys.map((key: Item) => rowOf(table, key));
  const bytesOf = await server.storedBytes(rows);
  const [granted, unprocessed]: [Row[], Row[]] = [[], []];
  const bytesOfPartition = new Map<string, number>();
  let [bytes, usedUnits, isThrottled] = [0, 0, false];
  for (const row of rows) {
    const partitionBytes = (bytesOfPartition.get(row.partition) ?? 0) + bytesOf(row);
    const units = readUnitsOf(bytesOf(row), read.ConsistentRead ?? false);
    const fits = bytes + bytesOf(row) <= BATCH_BYTES && partitionBytes <= BATCH_BYTES_OF_A_PARTITION;
    if (fits && partitions.take(row.partition, 'read', units)) {
      granted.push(row);
      bytes += bytesOf(row);
      bytesOfPartition.set(row.partition, partitionBytes);
      usedUnits += units;
    } else {
      unprocessed.push(row);
      isThrottled ||= fits;
    }
  }
  if (granted.length === 0 && isThrottled) throw throttled('read', table);
  const requestOf = (ofRows: Row[]) =>
    ofRows.length > 0 ? { [table]: { ...read, Keys: ofRows.map(({ key }) => key) } } : {};
  const reply = await server.call('BatchGetItem', { RequestItems: requestOf(granted) });
  const ConsumedCapacity = [{ TableName: table, CapacityUnits: usedUnits }];
  return { ...reply, UnprocessedKeys: requestOf(unprocessed), ConsumedCapacity };
}
