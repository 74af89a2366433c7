/** What a careful user would write by hand, to compare with: one read through the document client. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = async ({ id }: { id: string }) => {
  const { Item } = await client.send(new GetCommand({ TableName: process.env.TABLE_NAME, Key: { pk: id, sk: id } }));
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(Item ?? {}) };
};
