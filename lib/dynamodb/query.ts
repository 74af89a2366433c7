import { paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { optionsOf, type Table } from './client.ts';
import { expression, expressionsOf, projection } from './expression.ts';
import type { AttributeOf, PartitionOf, Read, RowKind, Stored } from './keys.ts';

export interface QueryOptions<Name> {
  /** Only rows whose sort key begins with this. */
  prefix?: string;
  /** Only rows with this sort key or a higher one. */
  from?: string;
  /** Attributes to read; absent: all. */
  attributes?: readonly Name[];
}

/** Reads the rows of a partition in ascending order, strongly consistent, a page of DynamoDB at a time. */
export async function* queryAll<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options?: QueryOptions<Name>,
): AsyncGenerator<Read<Kind, Name>> {
  for await (const rows of pagesOf(table, partition, options)) yield* rows;
}

/** Like {@link queryAll}, as an array. */
export async function queryRows<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options?: QueryOptions<Name>,
): Promise<Read<Kind, Name>[]> {
  return (await Array.fromAsync(pagesOf(table, partition, options))).flat();
}

async function* pagesOf<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options: QueryOptions<Name> = {},
): AsyncGenerator<Read<Kind, Name>[]> {
  const { client, signal } = table;
  for await (const { Items = [] } of paginateQuery({ client }, inputOf(table, partition, options), optionsOf(signal)))
    yield Items as Read<Kind, Name>[];
}

export interface PageOptions {
  limit: number;
  /** The page begins after this sort key; undefined: with the first row of the order. */
  after?: string | undefined;
  /** Highest sort keys first. */
  descending?: boolean;
}

/** Reads one page of a partition, strongly consistent. `next` is the `after` of the next page; undefined on the last one. */
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
  const begins = prefix === undefined ? undefined : expression` AND begins_with(sk, ${prefix})`;
  const range = from === undefined ? begins : expression` AND sk >= ${from}`;
  return {
    TableName: name,
    ConsistentRead: true,
    ...expressionsOf({
      KeyConditionExpression: expression`pk = ${partition}${range}`,
      ProjectionExpression: attributes && projection(attributes),
    }),
  };
}
