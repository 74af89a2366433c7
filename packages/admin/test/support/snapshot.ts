import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../../../lib/table/client.ts';
import { type Key, parseKey, type RowKind } from '../../../../lib/table/keys.ts';
import { rowName } from '../../../../lib/table/read.ts';

type Row = Record<string, unknown>;
type Rows = ReadonlyMap<string, Key & Row>;

/** The rows that merges read and write. */
const OF_MERGES = new Set<RowKind | undefined>([
  ...(['incident', 'member', 'alert', 'alertKey', 'historyEntry', 'logPointer', 'logHead', 'idempotency'] as const),
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
