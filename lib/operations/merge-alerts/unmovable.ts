import { marshall } from '@aws-sdk/util-dynamodb';
import { batchGet, type ReadBatch } from '../../dynamodb/batch-get.ts';
import type { Table } from '../../dynamodb/client.ts';
import { itemBytes, LARGEST_ITEM_BYTES } from '../../dynamodb/item-size.ts';
import { ofKind, type RowKind } from '../../dynamodb/keys.ts';
import type { AlertRow } from '../incident-rows.ts';

/** A row that takes fewer read units, of 4 KB each, has room for a move. */
const UNITS_OF_A_FULL_ROW = LARGEST_ITEM_BYTES / 4_096 - 1;
const LARGEST_SEQUENCE = 999_999_999_999_999;

/** An alert's row after a merge: moved, or left in place. */
const afterMerge = (row: AlertRow) => [
  { ...row, incident_id: 'f'.repeat(24), moved_sequence: LARGEST_SEQUENCE, moved_from: row.incident_id },
  { ...row, stayed_sequence: LARGEST_SEQUENCE },
];
const bytesOf = (row: object) => itemBytes(marshall(row, { removeUndefinedValues: true }));

/**
 * The alerts whose rows a move would make larger than DynamoDB holds. Rows are read in full only if their read units
 * allow for such a size.
 */
export async function findUnmovable(table: Table, batches: readonly ReadBatch<RowKind>[]): Promise<string[]> {
  const keys = batches
    .filter((batch) => batch.units - (batch.found - 1) >= UNITS_OF_A_FULL_ROW)
    .flatMap((batch) => batch.keys);
  if (keys.length === 0) return [];
  const { rows } = await batchGet(table, keys);
  return ofKind('alert', [...rows.values()])
    .filter((row) => afterMerge(row).some((after) => bytesOf(after) > LARGEST_ITEM_BYTES))
    .map((row) => row.alert_id);
}
