import type { DynamoDBRecord } from 'aws-lambda';
import type { Table } from '../../../../lib/table/client.ts';
import type { Key } from '../../../../lib/table/keys.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { openStream } from '../../stream.ts';

/** All records of the table's stream, as Lambda passes them on. */
export async function recordsOf(table: Table): Promise<DynamoDBRecord[]> {
  const stream = await openStream(dynamodbEndpoint(), table.name);
  const all: DynamoDBRecord[] = [];
  for (const shardId of await stream.shardIds()) {
    let emptyPages = 0;
    for await (const records of stream.pagesOf(shardId)) {
      all.push(...records);
      emptyPages = records.length > 0 ? 0 : emptyPages + 1;
      if (emptyPages === 2) break;
    }
  }
  stream.close();
  return all;
}

/** The records of a row's insertions in the table's stream. */
export const insertsOf = async (table: Table, key: Key): Promise<DynamoDBRecord[]> =>
  (await recordsOf(table)).filter(
    ({ eventName, dynamodb }) =>
      eventName === 'INSERT' && dynamodb?.Keys?.pk?.S === key.pk && dynamodb.Keys.sk?.S === key.sk,
  );
