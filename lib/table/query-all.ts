import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { Row } from './batch-get.ts';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';

export interface QueryOptions {
  /** Only sort keys that begin so. */
  prefix?: string;
  signal?: AbortSignal | undefined;
  /** Absent: all. */
  attributes?: readonly string[];
}

/** All rows of a partition in ascending order, strongly consistent, a page of DynamoDB at a time. */
export async function* queryAll(
  table: Table,
  partition: string,
  { prefix, signal, attributes }: QueryOptions = {},
): AsyncGenerator<Key & Row> {
  const pages = paginateQuery(
    { client: table.client },
    {
      TableName: table.name,
      KeyConditionExpression: prefix === undefined ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': partition, ...(prefix !== undefined && { ':prefix': prefix }) },
      ConsistentRead: true,
      ...(attributes && {
        ProjectionExpression: attributes.map((_name, at) => `#${at}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(attributes.map((name, at) => [`#${at}`, name])),
      }),
    },
    signal ? { abortSignal: signal } : {},
  );
  for await (const { Items = [] } of pages) yield* Items as (Key & Row)[];
}
