/** Parts that all calls with limits share. */
import { type Limits, type Partitions, type Side, writeUnitsOf } from './capacity.ts';
import type { Engine, Json, Row } from './engine.ts';
import type { RowsInUse } from './rows-in-use.ts';

/** One call, and the limits that apply to it. */
export interface Call {
  readonly request: Json;
  readonly engine: Engine;
  readonly partitions: Partitions;
  readonly inUse: RowsInUse;
  readonly limits: Limits;
}

/** A row to write, and the units taken for it. */
export interface Charge {
  readonly row: Row;
  units: number;
}

/**
 * Charges the growth of rows beyond the units taken for them.
 * @param factor units in place of one
 */
export async function chargeGrowth(
  { engine, partitions }: Call,
  charges: readonly Charge[],
  factor: number,
): Promise<void> {
  const bytesOf = await engine.storedBytes(charges.map(({ row }) => row));
  for (const charge of charges) {
    const grown = Math.max(0, factor * writeUnitsOf(bytesOf(charge.row)) - charge.units);
    partitions.charge(charge.row.partition, 'write', grown);
    charge.units += grown;
  }
}

/** The capacity that a call used, where it asks for it: one entry a table in batches and transactions, otherwise one. */
export function consumed(
  request: Json,
  used: Iterable<{ row: Pick<Row, 'table'>; units: number }>,
  side: Side,
): object {
  if ((request.ReturnConsumedCapacity ?? 'NONE') === 'NONE') return {};
  const unitsOf = new Map<string, number>();
  for (const { row, units } of used) unitsOf.set(row.table, (unitsOf.get(row.table) ?? 0) + units);
  const all = [...unitsOf].map(([TableName, CapacityUnits]) => ({
    TableName,
    CapacityUnits,
    [side === 'read' ? 'ReadCapacityUnits' : 'WriteCapacityUnits']: CapacityUnits,
  }));
  return { ConsumedCapacity: 'TableName' in request ? all[0] : all };
}
