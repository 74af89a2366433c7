import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { HttpRequest } from '@smithy/core/protocols';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectTable } from '../../lib/table/client.ts';
import { connectEarly } from '../../lib/table/connect-early.ts';
import { createHttpHandler } from '../../lib/table/http-handler.ts';
import { shortenPath } from '../../lib/table/lean-path.ts';
import { createSigner } from '../../lib/table/signer.ts';

/** No call is tried twice, however busy the machine is. */
const PATIENT = { connectionTimeout: 60_000, requestTimeout: 60_000 };
const HURRIED = { ...PATIENT, requestTimeout: 600 };

interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server in place of DynamoDB that keeps what it receives. */
const received: Received[] = [];
let reply: (response: ServerResponse, attempt: number) => void;
const listener: RequestListener = async (request, response) => {
  const body = Buffer.concat(await Array.fromAsync(request)).toString();
  received.push({ method: request.method, url: request.url, headers: request.headers, body });
  reply(response, received.length);
};
const server = createServer(listener);
let endpoint: string;
let ours: DynamoDBDocumentClient;
let plain: DynamoDBDocumentClient;

/** Of a server that begins to listen. */
async function urlOf(starting: Server, protocol = 'http'): Promise<string> {
  await once(starting, 'listening');
  return `${protocol}://127.0.0.1:${(starting.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  endpoint = await urlOf(server.listen(0, '127.0.0.1'));
  ours = connectTable({ name: 't', endpoint, timeouts: PATIENT }).client;
  plain = connectPlainly(PATIENT);
});
/** A client as anybody has it. */
function connectPlainly(timeouts: typeof PATIENT): DynamoDBDocumentClient {
  const bare = new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 3,
    requestHandler: { ...timeouts, throwOnRequestTimeout: true },
  });
  return DynamoDBDocumentClient.from(bare, { marshallOptions: { removeUndefinedValues: true } });
}

afterAll(() => {
  ours.destroy();
  plain.destroy();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received.length = 0;
});

const answering =
  (body: unknown, status = 200, headers = {}) =>
  (response: ServerResponse) =>
    response
      .writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0', 'x-amzn-RequestId': 'REQUEST', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

interface Answer {
  $metadata: { totalRetryDelay?: number };
}

/** Sends a command of any kind. */
const send = (client: DynamoDBDocumentClient, command: object, options = {}) =>
  client.send(command as never, options) as Promise<Answer>;

/** What a command receives or throws, with what the server has received by then. */
async function outcomeOf(client: DynamoDBDocumentClient, command: object) {
  received.length = 0;
  const outcome = await send(client, command).then(
    (output) => ({ output, metadata: output.$metadata }),
    (error) => ({ error, name: error.name, code: error.code, message: error.message, metadata: error.$metadata }),
  );
  delete outcome.metadata?.totalRetryDelay; // at random
  return { ...outcome, received: [...received] };
}

const TableName = 't';
const Key = { pk: 'ACCOUNT#1', sk: 'KEY#ü "quoted" \u2028' };
const Item = {
  ...Key,
  text: '日本語 \\ "B":',
  empty: '',
  whole: 3,
  part: -2.5e-7,
  large: 2n ** 80n,
  yes: true,
  nothing: null,
  absent: undefined,
  list: [1, ['a', undefined, { deep: null }]],
  binary: new Uint8Array([0, 200, 255]),
  buffer: Buffer.from('bytes'),
  strings: new Set(['a', 'b']),
  numbers: new Set([1, 2]),
  binaries: new Set([new Uint8Array([1])]),
};
const values = { ExpressionAttributeValues: { ':one': 1, ':binary': Buffer.from('x') } };
const COMMANDS = {
  get: () => new GetCommand({ TableName, Key, ConsistentRead: true, ProjectionExpression: undefined }),
  put: () => new PutCommand({ TableName, Item }),
  update: () => new UpdateCommand({ TableName, Key, UpdateExpression: 'SET a = :one', ...values }),
  delete: () => new DeleteCommand({ TableName, Key }),
  query: () => new QueryCommand({ TableName, KeyConditionExpression: 'pk = :one', Limit: 5, ...values }),
  scan: () => new ScanCommand({ TableName, ExclusiveStartKey: Key }),
  'batch get': () => new BatchGetCommand({ RequestItems: { t: { Keys: [Key, Key] } } }),
  'batch write': () =>
    new BatchWriteCommand({ RequestItems: { t: [{ PutRequest: { Item } }, { DeleteRequest: { Key } }] } }),
  'transact get': () => new TransactGetCommand({ TransactItems: [{ Get: { TableName, Key } }] }),
  'transact write': () =>
    new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName, Item } },
        { Update: { TableName, Key, UpdateExpression: 'SET a = :one', ...values } },
        { ConditionCheck: { TableName, Key, ConditionExpression: 'a = :one', ...values } },
      ],
      ClientRequestToken: 'token',
    }),
} as const;
const ALL = Object.entries(COMMANDS);

describe('a request', () => {
  it.each(ALL)('to %s is the one of a plain client', async (_name, command) => {
    reply = answering({});
    const [own] = (await outcomeOf(ours, command())).received;
    const [theirs] = (await outcomeOf(plain, command())).received;
    const [read, theirsRead] = [own, theirs].map((one) => [one?.method, one?.url, JSON.parse(one?.body ?? '')]);
    expect(read).toEqual(theirsRead);
    for (const name of ['host', 'content-type', 'content-length', 'x-amz-target', 'amz-sdk-request'])
      expect([name, own?.headers[name]]).toEqual([name, theirs?.headers[name]]);
    expect(own?.headers['user-agent']).toMatch(/^aws-sdk-js\/\d/);
    expect(own?.headers).not.toHaveProperty('transfer-encoding');
  });

  it('of a transaction has one token for all its attempts', async () => {
    reply = (response, attempt) => answering({}, attempt < 3 ? 500 : 200)(response);
    const { received: attempts } = await outcomeOf(
      ours,
      new TransactWriteCommand({ TransactItems: [{ Delete: { TableName, Key } }] }),
    );
    const tokens = attempts.map(({ body }) => JSON.parse(body).ClientRequestToken);
    expect(tokens[0]).toMatch(/^[\da-f-]{36}$/);
    expect(tokens).toEqual([tokens[0], tokens[0], tokens[0]]);
  });

  it('that reads no items is the SDK’s', async () => {
    reply = answering({ Table: { TableName, CreationDateTime: 1.5e9 } });
    const { Table } = await ours.send(new DescribeTableCommand({ TableName }));
    expect(Table?.CreationDateTime).toEqual(new Date(1.5e12));
    expect(received[0]?.headers['x-amz-target']).toBe('DynamoDB_20120810.DescribeTable');
  });
});

describe('a reply', () => {
  const row = { pk: { S: 'a' }, n: { N: '2' }, list: { L: [{ BOOL: true }, { NULL: true }, { M: { x: { S: '' } } }] } };
  const binary = { ...row, bytes: { B: 'AAH/' } };
  it.each([
    ['empty', {}],
    ['with a row', { Item: row, ConsumedCapacity: { TableName, CapacityUnits: 0.5 } }],
    ['with a binary value', { Item: binary }],
    ['with sets', { Item: { ...row, text: { SS: ['a'] }, numbers: { NS: ['1'] } } }],
    ['with a set of binary values', { Item: { ...row, all: { BS: ['AAE='] } } }],
    ['with a text that looks like a binary value', { Item: { ...row, text: { S: '{"B":"AAE="}' } } }],
    ['with a null', { Item: null }],
    ['without a body', ''],
    ['with rows', { Items: [row, binary, row], Count: 3, LastEvaluatedKey: { pk: { S: 'a' } } }],
    ['with unprocessed keys', { Responses: { t: [row] }, UnprocessedKeys: { t: { Keys: [{ pk: { S: 'b' } }] } } }],
    ['of a transaction', { Responses: [{ Item: row }, {}] }],
  ])('%s is read as a plain client reads it', async (_name, body) => {
    reply = answering(body);
    for (const command of [COMMANDS.get, COMMANDS.query, COMMANDS['batch get'], COMMANDS['transact get']]) {
      const { output: own } = (await outcomeOf(ours, command())) as { output?: unknown };
      const { output: theirs } = (await outcomeOf(plain, command())) as { output?: unknown };
      expect(theirs).toBeDefined();
      // Unknown members, which only ours keeps, are none of the command's.
      expect(own).toMatchObject(theirs as object);
    }
  });
});

describe('an error', () => {
  const type = (name: string) => `com.amazonaws.dynamodb.v20120810#${name}`;
  const cancelled = { __type: type('TransactionCanceledException'), CancellationReasons: [{ Code: 'None' }] };
  it.each([
    [
      'a failed condition',
      400,
      { __type: type('ConditionalCheckFailedException'), message: 'm', Item: { a: { S: 'b' } } },
    ],
    ['a cancelled transaction', 400, { ...cancelled, Message: 'cancelled' }],
    ['a conflict', 400, { __type: type('TransactionConflictException'), message: 'm' }],
    ['throttling', 400, { __type: type('ProvisionedThroughputExceededException'), message: 'slower' }],
    ['an unknown one', 400, { __type: 'SomethingNewException', message: 'm' }],
    ['a failing service', 500, { __type: type('InternalServerError'), message: 'm' }],
    ['no JSON', 503, '<html>'],
  ])('(%s) is the one of a plain client, after as many attempts', async (what, status, body) => {
    reply = answering(body, status);
    const own = await outcomeOf(ours, COMMANDS.update());
    const theirs = await outcomeOf(plain, COMMANDS.update());
    if (!('error' in own && 'error' in theirs)) throw new Error('an error was taken for an answer');
    expect(own.error.constructor).toBe(theirs.error.constructor);
    expect(own.error.Item).toEqual(theirs.error.Item);
    expect(own.error.CancellationReasons).toEqual(theirs.error.CancellationReasons);
    expect([own.name, own.code, own.message]).toEqual([theirs.name, theirs.code, theirs.message]);
    if (what === 'a conflict') return expect([own.received.length, theirs.received.length]).toEqual([3, 1]);
    expect(own.metadata).toEqual(theirs.metadata);
    expect(own.received).toHaveLength(theirs.received.length);
  });

  it.each([
    ['a connection that ends', (response: ServerResponse) => response.destroy(), 'TimeoutError', 'ECONNRESET'],
    ['a server that says nothing', () => {}, 'TimeoutError', 'ETIMEDOUT'],
  ])('(%s) is the one of a plain client', async (_what, act, name, code) => {
    reply = act;
    const own = connectTable({ name: 't', endpoint, timeouts: HURRIED }).client;
    for (const client of [own, connectPlainly(HURRIED)]) {
      const outcome = await outcomeOf(client, COMMANDS.get());
      expect(outcome).toMatchObject({ name, code, metadata: { attempts: 3 } });
      expect(outcome.received).toHaveLength(3);
      client.destroy();
    }
  });

  it('is a time-out when a reply stops half-way', async () => {
    reply = (response) => response.writeHead(200, { 'Content-Length': 100 }).write('{"Item":');
    const { client } = connectTable({ name: 't', endpoint, timeouts: HURRIED });
    expect(await outcomeOf(client, COMMANDS.get())).toMatchObject({ name: 'TimeoutError', metadata: { attempts: 3 } });
    client.destroy();
  });

  it('is a lost connection when a reply ends half-way', async () => {
    reply = (response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('{"Item":');
      setTimeout(() => response.destroy(), 20);
    };
    expect(await outcomeOf(ours, COMMANDS.get())).toMatchObject({ code: 'ECONNRESET', metadata: { attempts: 3 } });
  });

  it('is a lost connection when half of a reply ends as if it were whole', async () => {
    reply = answering('{"Item":{"pk":{"S');
    const outcome = await outcomeOf(ours, COMMANDS.get());
    expect(outcome).toMatchObject({ code: 'ECONNRESET', message: 'reply cut short', metadata: { attempts: 3 } });
  });

  it('is a time-out when no TLS connection is made in time', async () => {
    const silent = createTcpServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const timeouts = { connectionTimeout: 50, requestTimeout: 60_000 };
    const { client } = connectTable({ name: 't', endpoint: `https://127.0.0.1:${port}`, timeouts });
    await expect(send(client, COMMANDS.get())).rejects.toMatchObject({ name: 'TimeoutError', code: 'ETIMEDOUT' });
    client.destroy();
    silent.close();
  });

  it('is AbortError for a call that is given up, before and while it is sent', async () => {
    reply = () => {};
    const aborted = { name: 'AbortError', message: 'Request aborted' };
    for (const client of [ours, plain]) {
      await expect(send(client, COMMANDS.get(), { abortSignal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
      await expect(send(client, COMMANDS.get(), { abortSignal: AbortSignal.timeout(50) })).rejects.toMatchObject(
        aborted,
      );
    }
    const { requestHandler } = ours.config;
    const { hostname, port } = new URL(endpoint);
    const request = new HttpRequest({ protocol: 'http:', hostname, port: Number(port), method: 'POST', body: '' });
    for (const abortSignal of [AbortSignal.abort(), AbortSignal.timeout(50)])
      await expect(requestHandler.handle(request, { abortSignal })).rejects.toMatchObject(aborted);
  });

  it('is not what a reply is that comes slowly', async () => {
    reply = async (response) => {
      for (const part of ['{', '"Item"', ':', '{"a"', ':', '{"S"', ':"b"}}', '}']) {
        response.write(part);
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      response.end();
    };
    const timeouts = { connectionTimeout: 1_000, requestTimeout: 1_000 };
    const { client } = connectTable({ name: 't', endpoint, timeouts });
    expect(await outcomeOf(client, COMMANDS.get())).toMatchObject({ output: { Item: { a: 'b' } }, received: [{}] });
    client.destroy();
  });

  it('for a clock that is wrong leads to an attempt by the clock of DynamoDB', async () => {
    const ahead = 3_600_000;
    const wrong = { __type: 'com.amazon.coral.service#RequestTimeTooSkewed', message: 'm' };
    reply = (response, attempt) =>
      answering(attempt === 1 ? wrong : {}, attempt === 1 ? 400 : 200, {
        Date: new Date(Date.now() + ahead).toUTCString(),
      })(response);
    const { received: attempts } = await outcomeOf(connectTable({ name: 't', endpoint }).client, COMMANDS.get());
    const [first, second] = attempts.map(({ headers }) => String(headers['x-amz-date']));
    const time = (text = '') => Date.parse(text.replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'));
    expect(time(second) - time(first)).toBeGreaterThan(ahead - 60_000);
  });
});

describe('connecting early', () => {
  const UNHURRIED = { longestMs: 60_000 };

  it('opens connections that the first calls take, by reads of a row that no table has', async () => {
    const sockets: unknown[] = [];
    const counting = createServer(listener)
      .on('connection', (socket) => sockets.push(socket))
      .listen(0, '127.0.0.1');
    const url = await urlOf(counting);
    let release = () => {};
    // Each on a connection of its own, however fast the first reply comes.
    const bothAreThere = new Promise<void>((resolve) => {
      release = resolve;
    });
    reply = async (response, attempt) => {
      if (attempt === 2) release();
      await bothAreThere;
      answering({})(response);
    };
    const table = await connectEarly({ name: 't', endpoint: url }, { url, connections: 2, ...UNHURRIED });
    expect(received.map(({ body }) => JSON.parse(body).Key.pk)).toEqual([{ S: 'APP_KEY#' }, { S: 'APP_KEY#' }]);
    await Promise.all([COMMANDS.get(), COMMANDS.update()].map((command) => send(table.client, command)));
    expect([sockets.length, received.length]).toEqual([2, 4]);
    table.client.destroy();
    counting.closeAllConnections();
    counting.close();
  });

  it('sends nothing for no connection', async () => {
    await connectEarly({ name: 't', endpoint }, { url: endpoint, connections: 0 });
    expect(received).toEqual([]);
  });

  it.each(['http:', 'https:'])('over %s ends without an error when DynamoDB refuses', async (protocol) => {
    const url = `${protocol}//127.0.0.1:9`;
    await connectEarly({ name: 't', endpoint: url }, { url, connections: 1 });
  });

  it('ends without an error when DynamoDB does not answer', async () => {
    reply = () => {};
    const { client } = await connectEarly(
      { name: 't', endpoint, timeouts: PATIENT },
      { url: endpoint, connections: 1 },
    );
    await vi.waitFor(() => expect(received).toHaveLength(1), { timeout: 10_000 });
    client.destroy();
    server.closeAllConnections();
  });

  describe('over TLS', () => {
    let sockets: Socket[];
    let silent: Server;
    beforeEach(() => {
      sockets = [];
      silent = createTcpServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
    });
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const requestTo = (url: string) => {
      const { hostname, port } = new URL(url);
      return new HttpRequest({ protocol: 'https:', hostname, port: Number(port), method: 'POST', body: '' });
    };

    it('opens connections before there is a client, to where DynamoDB is expected', async () => {
      const url = await urlOf(silent.listen(0, '127.0.0.1'), 'https');
      reply = answering({});
      const { client } = await connectEarly(
        { name: 't', endpoint, timeouts: PATIENT },
        { url, connections: 2, ...UNHURRIED },
      );
      await vi.waitFor(() => expect(sockets).toHaveLength(2), { timeout: 10_000 });
      expect(received).toHaveLength(2);
      client.destroy();
    });

    it('closes them if no request takes them', async () => {
      const url = await urlOf(silent.listen(0, '127.0.0.1'), 'https');
      createHttpHandler({ ...PATIENT, connectionTimeout: 100 }).open(new URL(url), 1);
      const [socket] = await once(silent, 'connection');
      await once(socket, 'end');
    });

    it('gives them to requests to the same server', async () => {
      const url = await urlOf(silent.listen(0, '127.0.0.1'), 'https');
      const handler = createHttpHandler(HURRIED);
      await handler.open(new URL(url), 1).connected;
      const elsewhere = handler.handle(requestTo('https://127.0.0.1:9'));
      await expect(elsewhere).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await expect(handler.handle(requestTo(url))).rejects.toMatchObject({ name: 'TimeoutError' });
      expect(sockets).toHaveLength(1);
    });

    it('gives none that has failed', async () => {
      const url = await urlOf(silent.listen(0, '127.0.0.1'), 'https');
      await new Promise((resolve) => silent.close(resolve));
      const handler = createHttpHandler(HURRIED);
      await handler.open(new URL(url), 1).connected;
      await urlOf(silent.listen(Number(new URL(url).port), '127.0.0.1'));
      await expect(handler.handle(requestTo(url))).rejects.toMatchObject({ name: 'TimeoutError' });
      expect(sockets).toHaveLength(1);
    });
  });
});

describe('a signature', () => {
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret/key+' };
  const signingDate = new Date('2026-02-03T04:05:06.789Z');
  const request = (body: string | Uint8Array, headers = {}) =>
    new HttpRequest({
      protocol: 'https:',
      hostname: 'dynamodb.eu-west-1.amazonaws.com',
      method: 'POST',
      path: '/',
      headers: {
        host: 'dynamodb.eu-west-1.amazonaws.com',
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDB_20120810.GetItem',
        ...headers,
      },
      body,
    });

  it.each([
    ['short-lived credentials', { ...credentials, sessionToken: 'token==' }, '{"a":"ü"}'],
    ['lasting ones', credentials, new TextEncoder().encode('{}')],
  ])('with %s is that of the SDK’s signer', async (_what, own, body) => {
    const { config } = new DynamoDBClient({ region: 'eu-west-1', credentials: own });
    const signer = createSigner(() => config);
    for (const date of [signingDate, new Date(signingDate.getTime() + 86_400_000)]) {
      const theirs = await (await config.signer()).sign(request(body), { signingDate: date });
      const { 'x-amz-content-sha256': sum } = theirs.headers;
      const given = request(body, { 'x-amz-content-sha256': sum });
      const signed = await signer.sign(given, { signingDate: date });
      expect(signed.headers).toEqual(theirs.headers);
      // It may be signed again.
      expect(given.headers).not.toHaveProperty('authorization');
    }
  });

  it('has the key of its day, region and credentials', async () => {
    let own = credentials;
    const signer = createSigner(() => ({ credentials: async () => own, region: async () => 'eu-west-1' }) as never);
    const signature = async (date: Date, signingRegion?: string) =>
      (await signer.sign(request('{}'), { signingDate: date, ...(signingRegion && { signingRegion }) })).headers
        .authorization;
    const nextDay = new Date(signingDate.getTime() + 86_400_000);
    const all = [await signature(signingDate), await signature(nextDay), await signature(signingDate, 'eu-north-1')];
    own = { accessKeyId: 'AKID', secretAccessKey: 'other' };
    all.push(await signature(signingDate));
    expect(new Set(all).size).toBe(4);
    own = credentials;
    expect(await signature(signingDate)).toBe(all[0]);
  });
});

describe('where calls go', () => {
  it('is found out once for a client, by the SDK', async () => {
    const { client } = connectTable({ name: 't', endpoint, timeouts: PATIENT });
    const { endpointProvider } = client.config;
    const asked: unknown[] = [];
    client.config.endpointProvider = (...args) => {
      asked.push(args);
      return endpointProvider(...args);
    };
    reply = answering({});
    const plainCommand = () => new DescribeTableCommand({ TableName });
    for (const command of [plainCommand(), COMMANDS.get(), COMMANDS['transact write']()]) await send(client, command);
    await Promise.all([COMMANDS.query(), plainCommand()].map((command) => send(client, command)));
    client.destroy();
    expect(asked).toHaveLength(1);
  });

  it('is asked for again after it could not be found out', async () => {
    const { client } = connectTable({ name: 't', endpoint, timeouts: PATIENT });
    const { endpointProvider } = client.config;
    client.config.endpointProvider = () => {
      throw new Error('no region');
    };
    await expect(send(client, COMMANDS.get())).rejects.toThrow('no region');
    client.config.endpointProvider = endpointProvider;
    reply = answering({});
    await expect(send(client, COMMANDS.get())).resolves.toBeDefined();
    client.destroy();
  });
});

describe('another release of the SDK', () => {
  const newClient = () => new DynamoDBClient({ region: 'local' });
  it('has the middlewares that the shorter path was made for, and no others', () => {
    expect(
      newClient()
        .middlewareStack.identify()
        .map((line) => line.replace(/ .*/, '')),
    ).toEqual([
      'loggerMiddleware',
      'serializerMiddleware',
      'contentLengthMiddleware',
      'getUserAgentMiddleware',
      'hostHeaderMiddleware',
      'recursionDetectionMiddleware',
      'retryMiddleware',
      'httpSigningMiddleware',
      'deserializerMiddleware',
    ]);
  });

  it('does not go unnoticed when it has others', () => {
    const client = newClient();
    client.middlewareStack.remove('hostHeaderMiddleware');
    expect(() => shortenPath(client)).toThrow('hostHeaderMiddleware');
    const other = newClient();
    Object.assign(other.config, { httpAuthSchemes: [] });
    expect(() => shortenPath(other)).toThrow('schemes of authentication');
  });
});
