import type { Table } from '../../../../lib/table/client.ts';
import { parseKey, type RowKind } from '../../../../lib/table/keys.ts';
import { rowName } from '../../../../lib/table/read.ts';
import { rowsIn } from '../../../../test/support/service.ts';

/** The rows that merges read and write. */
const OF_MERGES = new Set<RowKind | undefined>([
  ...(['incident', 'member', 'alert', 'alertKey', 'historyEntry', 'logPointer', 'logHead', 'idempotency'] as const),
]);

/** All rows that the merges of an account read and write. */
export async function snapshot(table: Table, account: number) {
  // One scan, since most of the account's partitions are empty.
  const rows = (await rowsIn(table)).filter((row) => {
    const parsed = parseKey(row);
    return parsed?.account === account && OF_MERGES.has(parsed.kind);
  });
  return new Map(rows.map((row) => [rowName(row), row]));
}
