import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { optionsOf, type Table } from './client.ts';
import { expression, expressionsOf } from './expression.ts';
import type { PartitionOf, RowKind, Stored } from './keys.ts';

export interface PageOptions {
  limit: number;
  /** Sort key after which to begin, exclusive; undefined: at the end that comes first. */
  after?: string | undefined;
  /** The highest sort keys first. */
  descending?: boolean;
}

/** Some rows of a partition, strongly consistent. `next` is the `after` of the following page; absent after the last row. */
export async function queryPage<Kind extends RowKind>(
  { client, name, signal }: Table,
  partition: PartitionOf<Kind>,
  { limit, after, descending = false }: PageOptions,
): Promise<{ rows: Stored<Kind>[]; next: string | undefined }> {
  const { Items = [], LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: name,
      ...expressionsOf({ KeyConditionExpression: expression`pk = ${partition}` }),
      ConsistentRead: true,
      Limit: limit,
      ScanIndexForward: !descending,
      ...(after !== undefined && { ExclusiveStartKey: { pk: partition, sk: after } }),
    }),
    optionsOf(signal),
  );
  return { rows: Items as Stored<Kind>[], next: LastEvaluatedKey?.sk };
}
