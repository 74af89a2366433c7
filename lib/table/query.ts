/** Reads the rows of a partition. */
import {
  type AttributeValue,
  QueryCommand as RawQueryCommand,
  type QueryCommandInput as RawQueryInput,
} from '@aws-sdk/client-dynamodb';
import { paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { toInt64 } from '../shared/json.ts';
import { optionsOf, type Table } from './client.ts';
import { expression, expressionsOf, projection } from './expression.ts';
import type { AttributeOf, PartitionOf, ReadRow, RowKind, Stored } from './keys.ts';

export interface QueryOptions<Name> {
  /** Only rows whose sort key begins with this. */
  prefix?: string;
  /** Only rows with this sort key or a higher one; takes precedence over `prefix`. */
  from?: string;
  /** Attributes to read; absent: all. */
  attributes?: readonly Name[];
}

/** Reads the rows of a partition in ascending order, strongly consistent, a page of DynamoDB at a time. */
export async function* queryAll<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options?: QueryOptions<Name>,
): AsyncGenerator<ReadRow<Kind, Name>> {
  const { client, signal } = table;
  for await (const { Items = [] } of paginateQuery({ client }, inputOf(table, partition, options), optionsOf(signal)))
    yield* Items as ReadRow<Kind, Name>[];
}

/** Like {@link queryAll}, as an array. */
export const queryRows = <Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options?: QueryOptions<Name>,
): Promise<ReadRow<Kind, Name>[]> => Array.fromAsync(queryAll(table, partition, options));

export interface PageOptions {
  limit: number;
  /** The page begins after this sort key; undefined: with the first row, or the last if descending. */
  after?: string | undefined;
  /** Highest sort keys first. */
  descending?: boolean;
}

/** Reads one page of a partition, strongly consistent. `next` is the `after` of the next page, which may be empty; undefined: none follows. */
export async function queryPage<Kind extends RowKind>(
  table: Table,
  partition: PartitionOf<Kind>,
  { limit, after, descending = false }: PageOptions,
): Promise<{ rows: Stored<Kind>[]; next: string | undefined }> {
  const command = new QueryCommand({
    ...inputOf(table, partition),
    Limit: limit,
    ScanIndexForward: !descending,
    ...(after !== undefined && { ExclusiveStartKey: { pk: partition, sk: after } }),
  });
  const { Items = [], LastEvaluatedKey } = await table.client.send(command, optionsOf(table.signal));
  return { rows: Items as Stored<Kind>[], next: LastEvaluatedKey?.sk };
}

function inputOf({ name }: Table, partition: string, { prefix, from, attributes }: QueryOptions<string> = {}) {
  const prefixCondition = prefix === undefined ? undefined : expression` AND begins_with(sk, ${prefix})`;
  const sortKeyCondition = from === undefined ? prefixCondition : expression` AND sk >= ${from}`;
  return {
    TableName: name,
    ConsistentRead: true,
    ...expressionsOf({
      KeyConditionExpression: expression`pk = ${partition}${sortKeyCondition}`,
      ProjectionExpression: attributes && projection(attributes),
    }),
  };
}

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
  /** The last sort key that DynamoDB read; absent when it knows of no further row. */
  reached: string | undefined;
}

type WireRow = Record<string, AttributeValue>;

/**
 * Reads one page of a range, eventually consistent. It converts the values itself, since the document client would copy each one
 * again, and a page of the fleet has thousands of rows.
 * @param keyName field of the result that gets the sort key
 * @param attributes those to read besides the sort key
 */
export async function queryRange<Row>(
  table: Table,
  { partition, after, between, limit }: Range,
  keyName: string,
  attributes: readonly string[],
): Promise<RangePage<Row>> {
  const afterCondition = after === undefined ? undefined : expression` AND sk > ${{ S: after }}`;
  const sortKeyCondition = between
    ? expression` AND sk BETWEEN ${{ S: between[0] }} AND ${{ S: between[1] }}`
    : afterCondition;
  const command = new RawQueryCommand({
    TableName: table.name,
    ...(expressionsOf({
      KeyConditionExpression: expression`pk = ${{ S: partition }}${sortKeyCondition}`,
      ProjectionExpression: projection(['sk', ...attributes]),
    }) as Pick<RawQueryInput, 'KeyConditionExpression'>),
    Limit: limit,
  });
  const { Items = [], LastEvaluatedKey } = await table.client.send(command, optionsOf(table.signal));
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
  // The service's own fields have none of the remaining types, but rows that other systems write may.
  return table.unmarshall<{ value: unknown }>({ value }).value;
}
