import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { Row } from './batch-get.ts';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';

/** All rows of a partition in ascending order, strongly consistent, a page of DynamoDB at a time. */
export async function* queryAll(table: Table, partition: string): AsyncGenerator<Key & Row> {
  const pages = paginateQuery(
    { client: table.client },
    {
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': partition },
      ConsistentRead: true,
    },
  );
  for await (const { Items = [] } of pages) yield* Items as (Key & Row)[];
}
