import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { connectTable } from '../../lib/table/client.ts';

/** Begins `<name> - <step>`. */
const ofLogger = (line: string) => line.startsWith('loggerMiddleware ');

it('copies no input and no output for a logger, as a client of the SDK does', () => {
  const plain = new DynamoDBClient({ region: 'local' });
  expect(plain.middlewareStack.identify().filter(ofLogger)).toHaveLength(1);
  expect(connectTable({ name: 't' }).client.middlewareStack.identify().filter(ofLogger)).toEqual([]);
});
