import { afterAll, beforeAll } from 'vitest';
import { type DynamoDb, startDynamoDb } from '../../infra/local/dynamodb-local.ts';

let running: DynamoDb | undefined;

// For a Java that lives for seconds, optimizing takes more time than it saves.
process.env.JAVA_TOOL_OPTIONS ??= '-XX:+UseSerialGC -XX:TieredStopAtLevel=1';

// Each file has a DynamoDB Local of its own, unless DYNAMODB_ENDPOINT names one for all: one that serves file after file
// gets slower with each, and files that share one at a time slow each other down.
beforeAll(async () => {
  running = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
});
afterAll(() => running?.stop());

/** Where this test file's DynamoDB answers. */
export function dynamodbEndpoint(): string {
  if (!running) throw new Error('DynamoDB is not started before the first hook of a test file');
  return running.endpoint;
}
