import type { TestProject } from 'vitest/node';
import { startDynamoDb } from '../../infra/local/dynamodb-local.ts';

declare module 'vitest' {
  interface ProvidedContext {
    dynamodbEndpoint: string;
  }
}

/** One DynamoDB for the whole run: DYNAMODB_ENDPOINT, or DynamoDB Local started here. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dynamoDb = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
  project.provide('dynamodbEndpoint', dynamoDb.endpoint);
  return dynamoDb.stop;
}
