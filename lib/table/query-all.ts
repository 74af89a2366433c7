import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { Row } from './batch-get.ts';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';

export interface QueryOptions {
  /** Only sort keys that begin so. */
  prefix?: string;
  /** Only sort keys from this one on. */
  from?: string;
  signal?: AbortSignal | undefined;
  /** Absent: all. */
  attributes?: readonly string[];
}

/** All rows of a partition in ascending order, strongly consistent, a page of DynamoDB at a time. */
export async function* queryAll(
  table: Table,
  partition: string,
  { prefix, from, signal, attributes }: QueryOptions = {},
): AsyncGenerator<Key & Row> {
  const range = prefix === undefined ? (from === undefined ? '' : ' AND sk >= :sk') : ' AND begins_with(sk, :sk)';
  const pages = paginateQuery(
    { client: table.client },
    {
      TableName: table.name,
      KeyConditionExpression: `pk = :pk${range}`,
      ExpressionAttributeValues: { ':pk': partition, ...(range !== '' && { ':sk': prefix ?? from }) },
      ConsistentRead: true,
      ...(attributes && {
        ProjectionExpression: attributes.map((_name, index) => `#${index}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(attributes.map((name, index) => [`#${index}`, name])),
      }),
    },
    signal ? { abortSignal: signal } : {},
  );
  for await (const { Items = [] } of pages) yield* Items as (Key & Row)[];
}
