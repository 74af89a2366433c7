import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';
import { clientConfig, type Table } from '../../../../lib/dynamodb/client.ts';
import type { Key } from '../../../../lib/dynamodb/keys.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { streamRecord } from '../../../admin/relay/stream-record.ts';

/** All records of the table's stream, as Lambda passes them on. */
export async function recordsOf(table: Table): Promise<DynamoDBRecord[]> {
  const { Table: description } = await table.client.send(new DescribeTableCommand({ TableName: table.name }));
  const StreamArn = description?.LatestStreamArn;
  const { credentials, region, endpoint } = clientConfig({ endpoint: dynamodbEndpoint() });
  const streams = new DynamoDBStreamsClient({
    ...(credentials && { credentials }),
    ...(region && { region }),
    ...(endpoint && { endpoint }),
  });
  const records: DynamoDBRecord[] = [];
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  for (const { ShardId } of StreamDescription?.Shards ?? []) {
    const start = await streams.send(
      new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
    );
    let iterator = start.ShardIterator;
    for (let empty = 0; iterator && empty < 2; ) {
      const page: GetRecordsCommandOutput = await streams.send(new GetRecordsCommand({ ShardIterator: iterator }));
      records.push(...(page.Records ?? []).map(streamRecord));
      empty = page.Records?.length ? 0 : empty + 1;
      iterator = page.NextShardIterator;
    }
  }
  streams.destroy();
  return records;
}

/** The records of a row's insertions in the table's stream. */
export const insertsOf = async (table: Table, key: Key): Promise<DynamoDBRecord[]> =>
  (await recordsOf(table)).filter(
    ({ eventName, dynamodb }) =>
      eventName === 'INSERT' && dynamodb?.Keys?.pk?.S === key.pk && dynamodb.Keys.sk?.S === key.sk,
  );
