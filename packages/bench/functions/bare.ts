/**
 * The baseline that a careful user would write for the same calls to DynamoDB: the document client, kept connections, a minified bundle.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';

const { origin: endpoint, username: accessKeyId } = new URL(process.env.DYNAMODB_ENDPOINT ?? '');
const credentials = { accessKeyId, secretAccessKey: 'local' };
const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'local', credentials }));

const COMMANDS = { BatchGetCommand, GetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand };

/** A command of the document client. */
export interface Command {
  name: keyof typeof COMMANDS;
  input: object;
}

/** Sends rounds of concurrent commands. @returns the results of the last round */
export async function sendRounds(rounds: readonly Command[][]): Promise<unknown> {
  let lastResults: unknown;
  for (const round of rounds)
    lastResults = await Promise.all(
      round.map(({ name, input }) => client.send(new COMMANDS[name](input as never) as never)),
    );
  return lastResults;
}

export const handler = async ({ rounds }: { rounds: Command[][] }) => ({
  statusCode: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ data: await sendRounds(rounds) }, asText),
});

const asText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
