/** What calls that use units share, and transactions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from './call.ts';
import type { Side } from './capacity.ts';
import { type Json, type RowKey, rowName } from './engine.ts';
import { CONFLICT, cancelled, invalid, NO_REASON, THROTTLED } from './errors.ts';

/** API Reference, `TransactWriteItems`. */
export const TRANSACTION_ITEMS = 100;
const TRANSACTION_BYTES = 4 * 1024 * 1024;

/** @throws Refusal when the rows of a transaction are more than 4 MB together */
export function refuseLargeTransaction(sizes: readonly number[]): void {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > TRANSACTION_BYTES)
    throw invalid('Collection size limit exceeded: the items of a transaction exceed 4 MB');
}

/** The capacity that a call used, where it asks for it: one entry a table in batches and transactions, otherwise one. */
export function consumed(request: Json, used: readonly (readonly [string, number])[], side: Side): object {
  if ((request.ReturnConsumedCapacity ?? 'NONE') === 'NONE') return {};
  const unitsOf = new Map<string, number>();
  for (const [table, units] of used) unitsOf.set(table, (unitsOf.get(table) ?? 0) + units);
  const all = [...unitsOf].map(([TableName, CapacityUnits]) => ({
    TableName,
    CapacityUnits,
    [side === 'read' ? 'ReadCapacityUnits' : 'WriteCapacityUnits']: CapacityUnits,
  }));
  return { ConsumedCapacity: 'TableName' in request ? all[0] : all };
}

/**
 * Does a transaction that writes: all its units are granted, or it is cancelled with the reasons in the order of its items. That
 * what was granted to a cancelled one is given back is not confirmed.
 */
export async function transact(
  { request, engine, partitions, limits, inUse }: Call,
  rows: readonly RowKey[],
  units: readonly number[],
  act: () => Promise<Json>,
): Promise<Json> {
  const names = rows.map(rowName);
  const partitionsOf = await Promise.all(rows.map((row) => engine.partitionOf(row)));
  // No await from here until the rows are marked in use.
  const busy = names.map((name) => (inUse.writes.has(name) || inUse.transactions.has(name) ? CONFLICT : NO_REASON));
  if (busy.includes(CONFLICT)) throw cancelled(busy);
  const granted = partitionsOf.map((partition, index) => partitions.take(partition, 'write', units[index] ?? 0));
  if (granted.includes(false)) {
    for (const [index, partition] of partitionsOf.entries())
      if (granted[index]) partitions.charge(partition, 'write', -(units[index] ?? 0));
    throw cancelled(granted.map((each) => (each ? NO_REASON : THROTTLED)));
  }
  for (const name of names) inUse.transactions.add(name);
  try {
    const [reply] = await Promise.all([act(), sleep(limits.transactionMs)]);
    const used = rows.map(({ table }, index): [string, number] => [table, units[index] ?? 0]);
    return { ...reply, ...consumed(request, used, 'write') };
  } finally {
    for (const name of names) inUse.transactions.delete(name);
  }
}
