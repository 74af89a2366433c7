import { type AttributeValue, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { toInt64 } from '../shared/json.ts';
import type { Table } from './client.ts';
import { expression, expressionsOf, projection } from './expression.ts';

/** A range of sort keys of one partition. */
export interface Range {
  partition: string;
  /** Exclusive; absent: from the first row. */
  after?: string | undefined;
  /** Both inclusive; takes precedence over `after`. */
  between?: readonly [from: string, to: string];
  limit: number;
}

export interface RangePage<Row> {
  /** In ascending order of their sort keys. */
  rows: Row[];
  /** The last sort key that DynamoDB read; absent when the range has no further row. */
  reached: string | undefined;
}

type WireRow = Record<string, AttributeValue>;

/**
 * Reads one page of a range, eventually consistent. It converts the values itself: the document
 * client would copy each one again.
 * @param keyName field of the result that gets the sort key
 * @param attributes those to read beside the sort key
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

/** Converts a row. An attribute that is null counts as absent. */
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
  // The service does not write other types.
  return table.unmarshall<{ value: unknown }>({ value }).value;
}
