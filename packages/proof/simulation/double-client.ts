/** A document client whose calls go to a function instead of the network. */
import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { connectTable, type Table } from '../../../lib/dynamodb/client.ts';
import type { Request } from './requests.ts';

export const TABLE_NAME = 'double';

/** Answers a request as the client does after its last attempt. */
export type Send = (request: Request, signal: AbortSignal | undefined) => Promise<unknown>;

/** The real client is used only to decode rows: it never sends anything. */
const { unmarshall } = connectTable({ name: TABLE_NAME, endpoint: 'http://127.0.0.1:9' });

interface Command {
  constructor: { name: string };
  input: unknown;
}

/** A query with values in the wire format, as reads of fleets send it. */
async function sendRaw({ input }: QueryCommand, send: (input: unknown) => Promise<unknown>): Promise<unknown> {
  const ExpressionAttributeValues = input.ExpressionAttributeValues && unmarshall(input.ExpressionAttributeValues);
  const reply = (await send({ ...input, ExpressionAttributeValues })) as QueryCommandOutput;
  const onWire = (row: unknown) => marshall(row, { allowImpreciseNumbers: true });
  const { Items = [], LastEvaluatedKey: last } = reply;
  return { ...reply, Items: Items.map(onWire), ...(last && { LastEvaluatedKey: onWire(last) }) };
}

/** A table whose client hands each call to `send`. */
export function connectDouble(send: Send): Table {
  // The SDK's paginators require an instance of the class.
  const client: DynamoDBDocumentClient = Object.create(DynamoDBDocumentClient.prototype);
  const sendCommand = (command: Command, options?: { abortSignal?: AbortSignal }) => {
    const sendInput = (input: unknown) => send({ name: command.constructor.name, input }, options?.abortSignal);
    return command instanceof QueryCommand ? sendRaw(command, sendInput) : sendInput(command.input);
  };
  return { name: TABLE_NAME, client: Object.assign(client, { send: sendCommand }), unmarshall };
}
