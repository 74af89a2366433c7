/**
 * A write is granted if its partition key has the units for the stored row or the item that is put, whichever is larger. It is charged for the
 * larger of the row before and after the write. A write to a row that a running transaction writes is refused.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, type Json, type Row, rowOf } from './call.ts';
import { TRANSACTION_FACTOR, writeUnitsOf } from './capacity.ts';
import { itemBytes } from './item-size.ts';
import { CONFLICT, cancelled, conflict, invalid, NO_REASON, Refusal, THROTTLED, throttled } from './limit-errors.ts';

/** Source: API Reference, `TransactWriteItems`. DynamoDB Local counts the request alone, without the stored rows. */
const TRANSACTION_BYTES = 4 * 1024 * 1024;

/** A row to write. */
interface Write extends Row {
  /** Bytes of the item that is put; 0 for an update or a deletion. */
  readonly putBytes: number;
  /** Maximum bytes that an update adds to its row, given that the service's updates copy no attribute; 0 for others. */
  readonly maxGrowth: number;
}

interface Charge extends Write {
  /** Bytes of the row before the write or of the item that is put, whichever is larger. */
  readonly bytes: number;
  /** Units taken for the write. */
  readonly units: number;
}

const writeOf = (table: string, action: Json): Write => ({
  ...rowOf(table, action.Item ?? action.Key),
  putBytes: itemBytes(action.Item ?? {}),
  maxGrowth: action.UpdateExpression === undefined ? 0 : Buffer.byteLength(JSON.stringify(action)),
});

/** Charges the growth of updated rows beyond the units taken for them. @param factor multiplies the units: {@link TRANSACTION_FACTOR}, or 1 */
async function chargeGrowth({ server, partitions }: Call, charges: readonly Charge[], factor: number): Promise<void> {
  const growing = charges.filter(({ bytes, maxGrowth }) => writeUnitsOf(bytes + maxGrowth) > writeUnitsOf(bytes));
  const bytesOf = await server.storedBytes(growing);
  for (const update of growing) {
    const grown = Math.max(0, factor * writeUnitsOf(bytesOf(update)) - update.units);
    partitions.charge(update.partition, 'write', grown);
  }
}

/** Decides on each write separately, and takes its units. */
async function admit(call: Call, writes: readonly Write[]): Promise<(Charge | Refusal)[]> {
  const { server, partitions, inTransaction } = call;
  const storedBytes = await server.storedBytes(writes);
  return writes.map((write) => {
    // Source: Developer Guide, "Transaction conflict handling in DynamoDB".
    if (inTransaction.has(write.name)) return conflict();
    const bytes = Math.max(storedBytes(write), write.putBytes);
    const units = writeUnitsOf(bytes);
    if (!partitions.take(write.partition, 'write', units)) return throttled('write', write.table);
    return { ...write, bytes, units };
  });
}

/** @param action `PutItem`, `UpdateItem` or `DeleteItem` */
export const writeItem =
  (action: string) =>
  async (call: Call): Promise<Json> => {
    const { request, server } = call;
    const [charge] = await admit(call, [writeOf(request.TableName, request)]);
    if (!charge || charge instanceof Refusal) throw charge;
    // A failed condition is charged for the size of the stored row.
    const reply = await server.call(action, request);
    await chargeGrowth(call, [charge], 1);
    return reply;
  };

/**
 * Throttled items are returned as unprocessed; if no item can be written, the call is throttled. Source: API Reference, `BatchWriteItem`.
 * It is not confirmed that AWS returns items in use by a transaction as unprocessed.
 */
export async function batchWriteItem(call: Call): Promise<Json> {
  const [[table, requests]] = Object.entries(call.request.RequestItems) as [[string, Json[]]];
  const writes = requests.map((request) => writeOf(table, request.PutRequest ?? request.DeleteRequest));
  const admitted = await admit(call, writes);
  const granted = requests.filter((_, index) => !(admitted[index] instanceof Refusal));
  const unprocessed = requests.filter((request) => !granted.includes(request));
  if (granted.length === 0) throw throttled('write', table);
  const reply = await call.server.call('BatchWriteItem', { RequestItems: { [table]: granted } });
  return { ...reply, UnprocessedItems: unprocessed.length > 0 ? { [table]: unprocessed } : {} };
}

/**
 * All units of a writing transaction are granted, or it is cancelled with the reasons in the order of its items. Units that were granted to a
 * cancelled transaction are returned: that AWS does so is not confirmed.
 */
export async function transactWriteItems(call: Call): Promise<Json> {
  const { request, server, partitions, inTransaction, limits } = call;
  const actions = (request.TransactItems as Json[]).map((item) => Object.values<Json>(item)[0]);
  const writes = actions.map((action) => writeOf(action.TableName, action));
  const storedBytes = await server.storedBytes(writes);
  const charges = writes.map((write): Charge => {
    const bytes = Math.max(storedBytes(write), write.putBytes);
    return { ...write, bytes, units: TRANSACTION_FACTOR * writeUnitsOf(bytes) };
  });
  // An update counts with its stored row and all values of its expressions: a replaced value counts twice.
  const expressionBytes = actions.map(({ Item, ExpressionAttributeValues = {} }) =>
    itemBytes(Item ? {} : ExpressionAttributeValues),
  );
  if (charges.reduce((sum, { bytes }, index) => sum + bytes + (expressionBytes[index] ?? 0), 0) > TRANSACTION_BYTES)
    throw invalid('Collection size limit exceeded: the items of a transaction exceed 4 MB');

  const reasons = writes.map(({ name }) => (inTransaction.has(name) ? CONFLICT : NO_REASON));
  if (reasons.includes(CONFLICT)) throw cancelled(reasons);
  const granted = charges.map(({ partition, units }) => partitions.take(partition, 'write', units));
  if (granted.includes(false)) {
    for (const [index, { partition, units }] of charges.entries())
      if (granted[index]) partitions.charge(partition, 'write', -units);
    throw cancelled(granted.map((isGranted) => (isGranted ? NO_REASON : THROTTLED)));
  }
  for (const { name } of writes) inTransaction.add(name);
  let reply: Json;
  try {
    [reply] = await Promise.all([server.call('TransactWriteItems', request), sleep(limits.transactionMs)]);
  } finally {
    for (const { name } of writes) inTransaction.delete(name);
  }
  await chargeGrowth(call, charges, TRANSACTION_FACTOR);
  return reply;
}
