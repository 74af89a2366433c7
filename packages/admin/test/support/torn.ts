/** Snapshots of an account's rows, and mixtures of two snapshots, which a restored table may hold. */
import { isDeepStrictEqual } from 'node:util';
import { DeleteCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../../../lib/table/client.ts';
import { type Key, parseKey, type RowKind } from '../../../../lib/table/keys.ts';
import { rowName } from '../../../../lib/table/read.ts';
import { put } from '../../../../test/support/service.ts';

type Row = Record<string, unknown>;
export type Rows = ReadonlyMap<string, Key & Row>;

/** The rows that merges read and write. */
const OF_MERGES = new Set<RowKind | undefined>([
  ...(['incident', 'alert', 'feedEntry', 'logPointer', 'mergeOrder', 'idempotency'] as const),
]);

/** All rows that the merges of an account read and write. */
export async function snapshot(table: Table, account: number): Promise<Rows> {
  // One scan, since most of the account's partitions are empty.
  const pages = paginateScan(
    { client: table.client },
    {
      TableName: table.name,
      FilterExpression: 'begins_with(pk, :account)',
      ExpressionAttributeValues: { ':account': `ACCOUNT#${account}#` },
      ConsistentRead: true,
    },
  );
  const rows = (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items) as (Key & Row)[];
  return new Map(rows.filter((row) => OF_MERGES.has(parseKey(row)?.kind)).map((row) => [rowName(row), row]));
}

/** Names of the rows that differ between two snapshots. */
export const changedRows = (before: Rows, after: Rows): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => !isDeepStrictEqual(before.get(name), after.get(name)),
  );

/** The rows of `before`, except that the rows with these names are as in `after`. */
export function torn(before: Rows, after: Rows, names: readonly string[]): Rows {
  const rows = new Map(before);
  for (const name of names) {
    const row = after.get(name);
    if (row) rows.set(name, row);
    else rows.delete(name);
  }
  return rows;
}

/** Writes `rows` into the table, which holds `current`. */
export async function overwrite(table: Table, current: Rows, rows: Rows): Promise<void> {
  for (const name of changedRows(current, rows)) {
    const [pk = '', sk = ''] = name.split('\n');
    const row = rows.get(name);
    if (row) await put(table, { pk, sk }, row);
    else await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
  }
}
