/** A document client whose calls go to a function in place of the network. The code under test cannot tell. */
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { connectTable, type Table } from '../../lib/table/client.ts';
import type { Request } from './table-double.ts';

export const TABLE_NAME = 'double';

/** Takes a request, and answers as the client would after the last of its own attempts. */
export type Send = (request: Request, signal: AbortSignal | undefined) => Promise<unknown>;

/** Never sends anything. */
const { unmarshall } = connectTable({ name: TABLE_NAME, endpoint: 'http://127.0.0.1:9' });

export function connectDouble(send: Send): Table {
  // The SDK's paginators ask for an instance of the class.
  const client: DynamoDBDocumentClient = Object.create(DynamoDBDocumentClient.prototype);
  const own = (command: { constructor: { name: string }; input: unknown }, options?: { abortSignal?: AbortSignal }) =>
    send({ name: command.constructor.name, input: command.input }, options?.abortSignal);
  return { name: TABLE_NAME, client: Object.assign(client, { send: own }), unmarshall };
}
