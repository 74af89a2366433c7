import { paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { optionsOf, type Table } from './client.ts';
import { expression, expressionsOf, projection } from './expression.ts';
import type { AttributeOf, PartitionOf, Read, RowKind, Stored } from './keys.ts';

export interface QueryOptions<Name> {
  /** Only sort keys that begin so. */
  prefix?: string;
  /** Only sort keys from this one on. */
  from?: string;
  /** Absent: all. */
  attributes?: readonly Name[];
}

/** All rows of a partition in ascending order, strongly consistent, a page of DynamoDB at a time. */
export async function* queryAll<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options?: QueryOptions<Name>,
): AsyncGenerator<Read<Kind, Name>> {
  for await (const rows of pagesOf(table, partition, options)) yield* rows;
}

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
  /** Sort key after which to begin, exclusive; undefined: at the end that comes first. */
  after?: string | undefined;
  /** The highest sort keys first. */
  descending?: boolean;
}

/** Some rows of a partition, strongly consistent. `next` is the `after` of the following page; absent after the last row. */
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
