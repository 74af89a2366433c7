/** Starts the DynamoDB Local that all tests share, unless DYNAMODB_ENDPOINT names another server. */
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { startDynamoDb } from '../../packages/local/dynamodb-local.ts';

declare module 'vitest' {
  interface ProvidedContext {
    dynamodbEndpoint: string;
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { endpoint, stop } = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
  provide('dynamodbEndpoint', endpoint);
  return stop;
}

/** The endpoint of the run's DynamoDB. */
export const dynamodbEndpoint = () => inject('dynamodbEndpoint');
