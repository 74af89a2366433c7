import { type AttributeValue, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { toInt64 } from '../shared/json.ts';
import type { Table } from './client.ts';
import { expression, expressionsOf, projection } from './expression.ts';

/** A part of one item collection. */
export interface Range {
  partition: string;
  /** Exclusive; absent: from the first row. */
  after?: string | undefined;
  /** Both inclusive; in place of `after`. */
  between?: readonly [from: string, to: string];
  limit: number;
}

export interface RangePage<Row> {
  /** In ascending order of their sort keys. */
  rows: Row[];
  /** The sort key that DynamoDB read up to; absent when no row is left in the range. */
  reached: string | undefined;
}

type WireRow = Record<string, AttributeValue>;

/**
 * Reads a range, eventually consistent, and returns the requested attributes; `keyName` is the field for the sort key. Not by the
 * document client, which would copy each value again.
 */
export async function queryRange<Row>(
  table: Table,
  { partition, after, between, limit }: Range,
  keyName: string,
  attributes: readonly string[],
  signal: AbortSignal,
): Promise<RangePage<Row>> {
  const begins = after === undefined ? undefined : expression` AND sk > ${{ S: after }}`;
  const range = between ? expression` AND sk BETWEEN ${{ S: between[0] }} AND ${{ S: between[1] }}` : begins;
  const command = new QueryCommand({
    TableName: table.name,
    ...(expressionsOf({
      KeyConditionExpression: expression`pk = ${{ S: partition }}${range}`,
      ProjectionExpression: projection(['sk', ...attributes]),
    }) as Pick<QueryCommandInput, 'KeyConditionExpression'>),
    Limit: limit,
  });
  const { Items = [], LastEvaluatedKey } = await table.client.send(command, { abortSignal: signal });
  return { rows: Items.map((item) => plainRow(table, item, keyName) as Row), reached: LastEvaluatedKey?.sk?.S };
}

/** An attribute that is null counts as absent. */
function plainRow(table: Table, item: WireRow, keyName: string): Record<string, unknown> {
  const row: Record<string, unknown> = { [keyName]: item.sk?.S };
  for (const name in item) {
    const value = item[name] as AttributeValue;
    if (name !== 'sk' && value.NULL === undefined) row[name] = plainValue(table, value);
  }
  return row;
}

function plainValue(table: Table, value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return /^-?\d+$/.test(value.N) ? toInt64(value.N) : Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  // Types that the service does not write are read like the document client does.
  return table.unmarshall<{ value: unknown }>({ value }).value;
}
