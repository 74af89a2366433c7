import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { optionsOf, type Table } from './client.ts';
import { expression, expressionsOf, projection } from './expression.ts';
import type { AttributeOf, PartitionOf, Read, RowKind } from './keys.ts';

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

/** The rows that {@link queryAll} gives, together. */
export async function queryRows<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  table: Table,
  partition: PartitionOf<Kind>,
  options?: QueryOptions<Name>,
): Promise<Read<Kind, Name>[]> {
  return (await Array.fromAsync(pagesOf(table, partition, options))).flat();
}

async function* pagesOf<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  { client, name, signal }: Table,
  partition: PartitionOf<Kind>,
  { prefix, from, attributes }: QueryOptions<Name> = {},
): AsyncGenerator<Read<Kind, Name>[]> {
  const begins = prefix === undefined ? undefined : expression` AND begins_with(sk, ${prefix})`;
  const range = from === undefined ? begins : expression` AND sk >= ${from}`;
  const input = {
    TableName: name,
    ConsistentRead: true,
    ...expressionsOf({
      KeyConditionExpression: expression`pk = ${partition}${range}`,
      ProjectionExpression: attributes && projection(attributes),
    }),
  };
  for await (const { Items = [] } of paginateQuery({ client }, input, optionsOf(signal)))
    yield Items as Read<Kind, Name>[];
}
