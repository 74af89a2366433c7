/** What the client of the table sends and reads, beside a client with the SDK's own codec. */
import { json } from 'node:stream/consumers';
import {
  type AttributeValue,
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { connectTable } from '../../../lib/table/client.ts';
import { anyText } from '../../support/chance.ts';
import { serve } from '../../support/serve.ts';

type Json = Record<string, unknown>;
type Item = Record<string, AttributeValue>;

/** The bodies that the server received. */
const bodies: Json[] = [];
let reply: { status?: number; body: string };
let clients: { sdk: DynamoDBDocumentClient; ours: DynamoDBDocumentClient };
beforeEach(async () => {
  const endpoint = await serve(async (request, response) => {
    bodies.push((await json(request)) as Json);
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/x-amz-json-1.0' }).end(reply.body);
  });
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const sdk = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'local', credentials }));
  clients = { sdk, ours: connectTable({ name: 't', endpoint }).client };
});

type Send = (client: DynamoDBDocumentClient) => Promise<object>;

/** Sends a command by both clients. @returns what the server got, and what the clients return or throw */
async function sendByBoth(send: Send, answer: Json = {}, indent = 0) {
  const status = '__type' in answer ? 400 : 200;
  reply = { status, body: JSON.stringify(answer, undefined, indent) };
  bodies.length = 0;
  const outcomeOf = async (client: DynamoDBDocumentClient) => {
    const outcome = await send(client).catch((error: Error) => error);
    const { name, message } = outcome as Partial<Error>;
    return { name, message, ...outcome, $metadata: undefined };
  };
  const outcomes = [await outcomeOf(clients.sdk), await outcomeOf(clients.ours)];
  return { bodies: [...bodies], outcomes };
}

const name = fc.oneof(fc.constantFrom('B', 'BS', 'S', 'M', '__proto__', 'toJSON', '__type', ''), anyText);
const number = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
/** Also views into a larger buffer. */
const bytes = fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.nat(3), fc.boolean()).map(([array, from, isBuffer]) => {
  const view = array.subarray(Math.min(from, array.length));
  return isBuffer ? Buffer.from(view.buffer, view.byteOffset, view.byteLength) : view;
});
const string = fc.oneof(fc.constantFrom('', '"B":"YQ=="', ':null', '\ud800', '\ufeff'), anyText);
const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.record({ S: string }),
    fc.record({ N: number }),
    fc.record({ BOOL: fc.boolean() }),
    fc.record({ NULL: fc.constant(true as const) }),
    fc.record({ B: bytes }),
    fc.record({ SS: fc.array(string, { minLength: 1, maxLength: 3 }) }),
    fc.record({ NS: fc.array(number, { minLength: 1, maxLength: 3 }) }),
    fc.record({ BS: fc.array(bytes, { minLength: 1, maxLength: 3 }) }),
    fc.record({ L: fc.array(tie('value'), { maxLength: 3 }) }),
    fc.record({ M: fc.dictionary(name, tie('value'), { maxKeys: 3 }) }),
  ) as fc.Arbitrary<AttributeValue>,
}));
const item: fc.Arbitrary<Item> = fc.dictionary(name, value, { maxKeys: 5 });

/** The JSON of DynamoDB, with its bytes in base64. */
const wire = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(wire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, wire(member)]));
};

const [TableName, Key] = ['t', { pk: { S: 'a' }, sk: { S: 'b' } }];

describe('beside the SDK’s own codec', () => {
  it('the JSON of any request is the same, except for the token of a transaction', async () => {
    const sends: ((row: Item) => Send)[] = [
      (row) => (client) => client.send(new PutItemCommand({ TableName, Item: row, ReturnValues: undefined })),
      (row) => (client) => client.send(new QueryCommand({ TableName, Limit: 5, ExclusiveStartKey: row })),
      (row) => (client) => client.send(new BatchGetItemCommand({ RequestItems: { t: { Keys: [row, Key] } } })),
      (row) => (client) => {
        const ExpressionAttributeValues = { ':map': { M: row }, ':list': { L: Object.values(row) } };
        return client.send(new UpdateItemCommand({ TableName, Key, ExpressionAttributeValues }));
      },
      (row) => (client) => {
        const TransactItems = [{ Put: { TableName, Item: row } }, { Delete: { TableName, Key } }];
        return client.send(new TransactWriteItemsCommand({ TransactItems, ClientRequestToken: undefined }));
      },
    ];
    await fc.assert(
      fc.asyncProperty(item, fc.constantFrom(...sends), async (row, send) => {
        const { bodies } = await sendByBoth(send(row));
        const tokens = bodies.map(({ ClientRequestToken: token }) => /^[\da-f-]{36}$/.test(String(token)));
        expect(tokens).toEqual(Array(2).fill(send === sends.at(-1)));
        const [sdk, ours] = bodies.map((body) => ({ ...body, ClientRequestToken: undefined }));
        expect(ours).toStrictEqual(sdk);
      }),
    );
  });

  it('any reply is read as the same, and so is an error with rows', async () => {
    const get: Send = (client) => client.send(new GetItemCommand({ TableName, Key }));
    const query: Send = (client) => client.send(new QueryCommand({ TableName }));
    const getMany: Send = (client) => client.send(new BatchGetItemCommand({ RequestItems: {} }));
    const update: Send = (client) => client.send(new UpdateItemCommand({ TableName, Key }));
    const transact: Send = (client) => client.send(new TransactWriteItemsCommand({ TransactItems: [] }));
    const cases: [Send, answer: (row: Item) => Json][] = [
      [get, (row) => ({ Item: row, ConsumedCapacity: { CapacityUnits: 0.5 } })],
      [query, (row) => ({ Items: [row, {}], Count: 2, LastEvaluatedKey: row })],
      [query, () => ({ Items: [], Count: 0, LastEvaluatedKey: null })],
      [getMany, (row) => ({ Responses: { t: [row], B: [] }, UnprocessedKeys: { t: { Keys: [row] } } })],
      [update, (row) => ({ Attributes: row })],
      [update, (row) => ({ __type: 'a#ConditionalCheckFailedException', message: 'm', Item: row })],
      [transact, (row) => ({ __type: 'a#TransactionCanceledException', CancellationReasons: [{ Item: row }] })],
      [transact, () => ({ __type: 'a#TransactionCanceledException', CancellationReasons: [{ Item: null }] })],
    ];
    await fc.assert(
      fc.asyncProperty(item, fc.constantFrom(...cases), fc.nat(1), async (row, [send, answer], indent) => {
        const [sdk, ours] = (await sendByBoth(send, wire(answer(row)) as Json, indent)).outcomes;
        expect(ours).toStrictEqual(sdk);
      }),
    );
  });

  it('only ours keeps members that the SDK does not know: a release of the SDK that no longer uses our protocol fails here', async () => {
    const unknown = { NotInTheSchema: 1 };
    const command = () => new GetItemCommand({ TableName, Key, ...unknown });
    const { bodies, outcomes } = await sendByBoth((client) => client.send(command()), { Item: {}, ...unknown });
    expect(bodies.map((body) => 'NotInTheSchema' in body)).toEqual([false, true]);
    expect(outcomes.map((outcome) => 'NotInTheSchema' in outcome)).toEqual([false, true]);
  });
});

it('a row of the document client is read as it was written', async () => {
  const row = {
    ...{ empty: '', int64: 2n ** 63n - 1n, fraction: -2.5, flag: false, nothing: null, bytes: Buffer.from([0, 255]) },
    ...{
      texts: new Set(['a', '']),
      numbers: new Set([1, -2.5]),
      list: [[], { B: 'b', deep: [1, [{ BS: ['c'] }]] }],
    },
  };
  const { ours } = clients;
  reply = { body: '{}' };
  bodies.length = 0;
  await ours.send(new PutCommand({ TableName, Item: row }));
  reply = { body: JSON.stringify({ Item: bodies[0]?.Item }) };
  const { Item } = await ours.send(new GetCommand({ TableName, Key: {} }));
  expect(Item).toEqual({ ...row, bytes: new Uint8Array(row.bytes) });
});
