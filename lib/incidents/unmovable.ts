import { marshall } from '@aws-sdk/util-dynamodb';
import { type ReadBatch, readBatches } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { itemBytes, LARGEST_ITEM_BYTES } from '../table/item-size.ts';
import type { AlertRow } from './feed.ts';

/** A row that takes fewer read units, of 4 KB each, has room for a move. */
const UNITS_OF_A_FULL_ROW = LARGEST_ITEM_BYTES / 4_096 - 1;
const WIDEST_MOVE = { incident_id: 'f'.repeat(24), moved_sequence: 999_999_999_999_999 };

/**
 * The alerts whose rows a move would make larger than DynamoDB holds. Only where the units that reading them took allow for
 * such a row are rows read whole.
 */
export async function findUnmovable(
  table: Table,
  batches: readonly ReadBatch[],
  signal?: AbortSignal,
): Promise<string[]> {
  const keys = batches
    .filter((batch) => batch.units - (batch.keys.length - 1) >= UNITS_OF_A_FULL_ROW)
    .flatMap((batch) => batch.keys);
  if (keys.length === 0) return [];
  const { rows } = await readBatches(table, keys, { signal });
  return [...rows.values()]
    .filter(
      (row) => itemBytes(marshall({ ...row, ...WIDEST_MOVE }, { removeUndefinedValues: true })) > LARGEST_ITEM_BYTES,
    )
    .map((row) => (row as unknown as AlertRow).alert_id);
}
