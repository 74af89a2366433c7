import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Row } from './batch-get.ts';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';

export interface PageOptions {
  limit: number;
  /** Sort key after which to begin, exclusive; undefined: at the end that comes first. */
  after?: string | undefined;
  /** The highest sort keys first. */
  descending?: boolean;
}

/** Some rows of a partition, strongly consistent. `next` is the `after` of the following page; absent after the last row. */
export async function queryPage(
  table: Table,
  partition: string,
  { limit, after, descending = false }: PageOptions,
): Promise<{ rows: (Key & Row)[]; next: string | undefined }> {
  const { Items = [], LastEvaluatedKey } = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': partition },
      ConsistentRead: true,
      Limit: limit,
      ScanIndexForward: !descending,
      ...(after !== undefined && { ExclusiveStartKey: { pk: partition, sk: after } }),
    }),
  );
  return { rows: Items as (Key & Row)[], next: LastEvaluatedKey?.sk };
}
