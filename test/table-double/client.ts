/** A document client whose calls go to a function instead of the network, and the requests that it hands over. */
import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { connectTable, type Table } from '../../lib/table/client.ts';
import type { Key } from '../../lib/table/keys.ts';
import type { Item } from './values.ts';

/** A command of the document client: the name of its class, and its input. */
export interface Request {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: the inputs of all commands
  readonly input: any;
}

export interface Expressions {
  ConditionExpression?: string;
  FilterExpression?: string;
  KeyConditionExpression?: string;
  ProjectionExpression?: string;
  UpdateExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** One write or condition, of a transaction or a single request. */
export interface Write extends Expressions {
  Item?: Record<string, unknown>;
  Key?: Key;
  ReturnValues?: string;
  ReturnValuesOnConditionCheckFailure?: string;
}
export type ActionKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';

export interface Transaction {
  TransactItems: Partial<Record<ActionKind, Write>>[];
  ClientRequestToken?: string;
}

export interface KeysAndAttributes extends Expressions {
  Keys: Key[];
  ConsistentRead?: boolean;
}

export interface BatchWrite {
  PutRequest?: { Item: Item };
  DeleteRequest?: { Key: Key };
}

/** The placeholder of a query's partition key. @throws if the query has none */
export function partitionPlaceholder({ KeyConditionExpression = '' }: { KeyConditionExpression?: string }): string {
  const [, placeholder] = /^\w+ = (:\w+)/.exec(KeyConditionExpression) ?? [];
  if (placeholder === undefined) throw new Error(`no partition key in ${KeyConditionExpression}`);
  return placeholder;
}

const TABLE_NAME = 'double';

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
export function connectDouble(send: Send, name = TABLE_NAME): Table {
  // The SDK's paginators require an instance of the class.
  const client: DynamoDBDocumentClient = Object.create(DynamoDBDocumentClient.prototype);
  const sendCommand = (command: Command, options?: { abortSignal?: AbortSignal }) => {
    const sendInput = (input: unknown) => send({ name: command.constructor.name, input }, options?.abortSignal);
    return command instanceof QueryCommand ? sendRaw(command, sendInput) : sendInput(command.input);
  };
  return { name, client: Object.assign(client, { send: sendCommand }), unmarshall, now: Date.now };
}
