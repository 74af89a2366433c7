import {
  DynamoDB,
  type KeySchemaElement,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../../infra/table-definition.ts';
import { PATIENT } from '../../../lib/aws/http-handler.ts';
import { ALERT_INDEX } from '../../../lib/table/alert-index.ts';
import { clientConfig } from '../../../lib/table/client.ts';

/** Name of the table that `npm start` makes. */
export const LOCAL_TABLE_NAME = 'incident-monitoring-rum';

const keySchemaOf = ({ partitionKey, sortKey }: { partitionKey: string; sortKey: string }): KeySchemaElement[] => [
  { AttributeName: partitionKey, KeyType: 'HASH' },
  { AttributeName: sortKey, KeyType: 'RANGE' },
];

/**
 * Creates the table at a local endpoint, as the stack would deploy it, unless it exists.
 * @param options `stream: false` leaves its stream out. With a stream, DynamoDB Local becomes slower with every
 *   write, since it searches all earlier records of all streams. `region`: without an endpoint, which has its own
 */
export async function createTable(
  endpoint: string | undefined,
  name: string,
  options: { stream?: boolean; region?: string } = {},
): Promise<void> {
  const client = new DynamoDB(clientConfig({ endpoint, region: options.region, ...PATIENT }));
  try {
    await client.createTable({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [TABLE, ALERT_INDEX].flatMap(({ partitionKey, sortKey }) => [
        { AttributeName: partitionKey, AttributeType: 'S' },
        { AttributeName: sortKey, AttributeType: 'S' },
      ]),
      KeySchema: keySchemaOf(TABLE),
      GlobalSecondaryIndexes: [
        {
          IndexName: ALERT_INDEX.name,
          KeySchema: keySchemaOf(ALERT_INDEX),
          Projection: { ProjectionType: ALERT_INDEX.projection },
        },
      ],
      ...(options.stream !== false && {
        StreamSpecification: { StreamEnabled: true, StreamViewType: TABLE.streamView },
      }),
    });
  } catch (error) {
    // The table exists, or an earlier attempt, whose reply was lost, has created it.
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  try {
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: name });
    const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName: name });
    if (TimeToLiveDescription?.TimeToLiveStatus === 'DISABLED')
      await client.updateTimeToLive({
        TableName: name,
        TimeToLiveSpecification: { Enabled: true, AttributeName: TABLE.timeToLive },
      });
  } finally {
    client.destroy();
  }
}
