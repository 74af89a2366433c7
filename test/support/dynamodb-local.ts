/** Starts the DynamoDB that all tests share, unless DYNAMODB_ENDPOINT names one. */
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

/** Where the run's DynamoDB answers. */
export const dynamodbEndpoint = () => inject('dynamodbEndpoint');
