import { setTimeout as sleep } from 'node:timers/promises';
import { itemBytes } from '../../../lib/dynamodb/item-size.ts';
import { IN_TRANSACTION, writeUnitsOf } from './capacity.ts';
import type { Json } from './engine.ts';
import { CONFLICT, cancelled, invalid, NO_REASON, THROTTLED } from './limit-errors.ts';
import { type Call, type Charge, chargeGrowth, consumed } from './limited-call.ts';
import { bytesWritten } from './writes.ts';

/** API Reference, `TransactWriteItems`. */
const TRANSACTION_ITEMS = 100;
const TRANSACTION_BYTES = 4 * 1024 * 1024;

/** Source: API Reference, `TransactWriteItems`: 100 items, 4 MB together, with the rows that are there. */
export async function transactWriteItems(call: Call): Promise<Json> {
  const { request, engine } = call;
  const actions = (request.TransactItems as Json[]).map((each) => Object.values<Json>(each)[0]);
  if (actions.length > TRANSACTION_ITEMS)
    throw invalid(`Member must have length less than or equal to ${TRANSACTION_ITEMS}`);
  const items = await Promise.all(
    actions.map(async (action) => ({ action, row: await engine.rowOf(action.TableName, action.Item ?? action.Key) })),
  );
  const storedBytes = await engine.storedBytes(items.map(({ row }) => row));
  let largestBytes = 0;
  const charges = items.map(({ action, row }) => {
    const bytes = Math.max(storedBytes(row), bytesWritten(action));
    // An updated row counts with all values of its expressions added: a replaced value counts twice.
    largestBytes += bytes + (action.Item ? 0 : itemBytes(action.ExpressionAttributeValues ?? {}));
    const mayGrow = writeUnitsOf(bytes + mostGrowth(action)) > writeUnitsOf(bytes);
    return { row, units: IN_TRANSACTION * writeUnitsOf(bytes), mayGrow };
  });
  if (largestBytes > TRANSACTION_BYTES)
    throw invalid('Collection size limit exceeded: the items of a transaction exceed 4 MB');
  return transact(call, charges, async () => {
    const reply = await engine.call('TransactWriteItems', request);
    const growing = charges.filter(({ mayGrow }) => mayGrow);
    await chargeGrowth(call, growing, IN_TRANSACTION);
    return reply;
  });
}

/**
 * Executes a writing transaction: all its units are granted, or it is cancelled with the reasons in the order of its items. That units
 * granted to a cancelled one are returned is not confirmed.
 */
export async function transact(
  { request, partitions, limits, inUse }: Call,
  charges: readonly Charge[],
  act: () => Promise<Json>,
): Promise<Json> {
  const busy = charges.map(({ row: { name } }) =>
    inUse.writes.has(name) || inUse.transactions.has(name) ? CONFLICT : NO_REASON,
  );
  if (busy.includes(CONFLICT)) throw cancelled(busy);
  const granted = charges.map(({ row, units }) => partitions.take(row.partition, 'write', units));
  if (granted.includes(false)) {
    for (const [index, { row, units }] of charges.entries())
      if (granted[index]) partitions.charge(row.partition, 'write', -units);
    throw cancelled(granted.map((each) => (each ? NO_REASON : THROTTLED)));
  }
  for (const { row } of charges) inUse.transactions.add(row.name);
  try {
    const [reply] = await Promise.all([act(), sleep(limits.transactionMs)]);
    return { ...reply, ...consumed(request, charges, 'write') };
  } finally {
    for (const { row } of charges) inUse.transactions.delete(row.name);
  }
}

/** Maximum bytes by which an update can grow its row: the names and values of its expression, unless it copies others. */
function mostGrowth({
  UpdateExpression = '',
  ExpressionAttributeNames = {},
  ExpressionAttributeValues = {},
}: Json): number {
  if (/=\s*[^:\s]/.test(UpdateExpression)) return Number.POSITIVE_INFINITY;
  const names = `${UpdateExpression}${Object.values(ExpressionAttributeNames).join('')}`;
  return Buffer.byteLength(names) + itemBytes(ExpressionAttributeValues);
}
