import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { HttpRequest } from '@smithy/core/protocols';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';
import { connectTable, createSigner, Endpoint, type TableOptions } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { getRow } from '../../../lib/table/read.ts';
import { listen } from '../../support/listen.ts';
import { silentServer } from '../../support/wire.ts';

/** No attempt times out, however busy the machine is. */
const PATIENT = { connectionTimeout: 60_000, requestTimeout: 60_000 };
const HURRIED = { ...PATIENT, requestTimeout: 600 };

/** A server in place of DynamoDB that keeps what it receives. */
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
let reply: (response: ServerResponse, attempt: number) => unknown;
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await Array.fromAsync(request)).toString();
  received.push({ headers: request.headers, body });
  reply(response, received.length);
});
let endpoint: string;

beforeAll(async () => {
  endpoint = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => {
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
      .writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

const TableName = 't';
const Key = { pk: 'a', sk: 'b' };
const get = () => new GetCommand({ TableName, Key });

/** A client of the server, until the test ends. */
function connect(timeouts: NonNullable<TableOptions['timeouts']> = PATIENT, at = endpoint): DynamoDBDocumentClient {
  const { client } = connectTable({ name: 't', endpoint: at, timeouts });
  onTestFinished(() => client.destroy());
  return client;
}

/** Sends a command of any kind. */
const send = (client: DynamoDBDocumentClient, command: object, options = {}) =>
  client.send(command as never, options) as Promise<{ $metadata: object }>;

/** The output or the error of a read. */
const outcomeOf = (client: DynamoDBDocumentClient) =>
  send(client, get()).then(
    (output) => ({ output, metadata: output.$metadata }),
    (error) => ({ name: error.name, code: error.code, metadata: error.$metadata }),
  );

it('takes percent-encoded credentials from its endpoint, which prints itself without them', () => {
  const withCredentials = new Endpoint('http://a%2Fb:c%2Fd%3D@127.0.0.1:8000');
  expect(withCredentials.credentials).toEqual({ accessKeyId: 'a/b', secretAccessKey: 'c/d=' });
  expect(String(withCredentials)).toBe('http://127.0.0.1:8000');
  expect(inspect(withCredentials)).toBe("Endpoint { url: 'http://127.0.0.1:8000' }");
  expect(JSON.stringify(withCredentials)).toBe('{"url":"http://127.0.0.1:8000"}');
  for (const wrong of ['id:secret@127.0.0.1:8000', 'ftp://id:secret@127.0.0.1', '//id:secret@127.0.0.1', 'secret'])
    expect(() => new Endpoint(wrong)).toThrow(/^an endpoint must be a URL, such as http:\/\/localhost:8000$/);
});

it('gives each of three attempts 800 ms for its reply, together less than a call has', async () => {
  const timer = vi.spyOn(globalThis, 'setTimeout');
  const unreachable = connectTable({ name: 't', endpoint: 'http://127.0.0.1:9' });
  await expect(getRow(unreachable, keys.member(1, 2))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(timer.mock.calls.filter(([, ms]) => ms === 800)).toHaveLength(3);
  timer.mockRestore();
  expect(3 * 800).toBeLessThan(TIME_LIMITS.callMs);
});

it('keeps its connection, and reads integers beyond 2^53 exactly', async () => {
  const sockets = new Set<unknown>();
  reply = (response) => {
    sockets.add(response.socket);
    answering({ Item: { n: { N: '9223372036854775807' }, part: { N: '-2.5' } } })(response);
  };
  const client = connect();
  for (let call = 0; call < 3; call += 1)
    expect(await send(client, get())).toMatchObject({ Item: { n: 9223372036854775807n, part: -2.5 } });
  expect(sockets.size).toBe(1);
});

it('gives a transaction one token for all its attempts', async () => {
  reply = (response, attempt) => answering({}, attempt < 3 ? 500 : 200)(response);
  const client = connect();
  await send(client, new TransactWriteCommand({ TransactItems: [{ Delete: { TableName, Key } }] }));
  const tokens = received.map(({ body }) => JSON.parse(body).ClientRequestToken);
  expect(tokens[0]).toMatch(/^[\da-f-]{36}$/);
  expect(tokens).toEqual([tokens[0], tokens[0], tokens[0]]);
});

describe('an error', () => {
  type Reply = typeof reply;
  const refusal = (name: string, more = {}) =>
    answering({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, ...more }, 400);
  const halfReply = (response: ServerResponse, then = () => {}) =>
    void response.writeHead(200, { 'Content-Length': 100 }).write('{"Item":', then);
  const throttling = refusal('ProvisionedThroughputExceededException');
  it.each<[what: string, reply: Reply, attempts: number, error?: object, timeouts?: typeof PATIENT]>([
    ['a cancelled transaction', refusal('TransactionCanceledException', { CancellationReasons: [] }), 1],
    ['a conflict with a transaction', refusal('TransactionConflictException'), 3],
    ['throttling', throttling, 3],
    ['no JSON', answering('<html>', 503), 3],
    ['a connection that ends', (response) => response.destroy(), 3, { name: 'TimeoutError', code: 'ECONNRESET' }],
    ['a server that says nothing', () => {}, 3, { name: 'TimeoutError', code: 'ETIMEDOUT' }, HURRIED],
    ['a reply that stops half-way', (response) => halfReply(response), 3, { name: 'TimeoutError' }, HURRIED],
    [
      'a reply that ends half-way',
      (response) => halfReply(response, () => response.destroy()),
      3,
      { code: 'ECONNRESET' },
    ],
  ])(
    '(%s) is thrown after as many attempts as may help',
    async (_what, answer, attempts, error = {}, timeouts = PATIENT) => {
      reply = answer;
      expect(await outcomeOf(connect(timeouts))).toMatchObject({ ...error, metadata: { attempts } });
      expect(received).toHaveLength(attempts);
    },
  );

  it('of a lost reply is retried even after a storm of throttled calls', async () => {
    const client = connect();
    reply = throttling;
    await Promise.all(Array.from({ length: 60 }, () => outcomeOf(client)));
    received.length = 0;
    reply = (response, attempt) => (attempt === 1 ? response.destroy() : answering({})(response));
    expect(await outcomeOf(client)).toMatchObject({ metadata: { attempts: 2 } });
  });

  it('is a time-out when no TLS connection is made in time', async () => {
    const silent = await silentServer();
    onTestFinished(silent.close);
    const client = connect({ ...PATIENT, connectionTimeout: 50 }, `https://127.0.0.1:${silent.port}`);
    await expect(send(client, get())).rejects.toMatchObject({ name: 'TimeoutError', code: 'ETIMEDOUT' });
  });

  it('is AbortError when a call is aborted, before or while it is sent', async () => {
    reply = () => {};
    const aborted = { name: 'AbortError', message: 'Request aborted' };
    const client = connect();
    await expect(send(client, get(), { abortSignal: AbortSignal.timeout(50) })).rejects.toMatchObject(aborted);
    const { requestHandler } = client.config;
    const { hostname, port } = new URL(endpoint);
    const request = new HttpRequest({ protocol: 'http:', hostname, port: Number(port), method: 'POST', body: '' });
    for (const abortSignal of [AbortSignal.abort(), AbortSignal.timeout(50)])
      await expect(requestHandler.handle(request, { abortSignal })).rejects.toMatchObject(aborted);
  });

  it('is not thrown for a reply that is slow but never pauses for long', async () => {
    reply = async (response) => {
      for (const part of ['{', '"Item"', ':', '{"a"', ':', '{"S"', ':"b"}}', '}']) {
        response.write(part);
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      response.end();
    };
    const client = connect({ connectionTimeout: 1_000, requestTimeout: 1_000 });
    expect(await outcomeOf(client)).toMatchObject({ output: { Item: { a: 'b' } } });
    expect(received).toHaveLength(1);
  });

  it('for a wrong clock leads to another attempt, with the time of DynamoDB', async () => {
    const aheadMs = 3_600_000;
    const wrong = { __type: 'com.amazon.coral.service#RequestTimeTooSkewed', message: 'm' };
    reply = (response, attempt) =>
      answering(attempt === 1 ? wrong : {}, attempt === 1 ? 400 : 200, {
        Date: new Date(Date.now() + aheadMs).toUTCString(),
      })(response);
    await outcomeOf(connect());
    const [first, second] = received.map(({ headers }) => String(headers['x-amz-date']));
    const time = (text = '') => Date.parse(text.replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'));
    expect(time(second) - time(first)).toBeGreaterThan(aheadMs - 60_000);
  });
});

describe('a signature', () => {
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret/key+' };
  const signingDate = new Date('2026-02-03T04:05:06.789Z');
  let current: DynamoDBClient['config'];
  const signer = createSigner(() => current);
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
    ['long-lived credentials', credentials, new TextEncoder().encode('{}')],
    ['other credentials', { accessKeyId: 'AKID', secretAccessKey: 'other' }, '{}'],
  ])('with %s, on any day and in any region, equals that of the SDK’s signer', async (_what, ownCredentials, body) => {
    const { config } = new DynamoDBClient({ region: 'eu-west-1', credentials: ownCredentials });
    // One signer for all: the key that it keeps must be that of the day, the region and the credentials.
    current = config;
    for (const date of [signingDate, new Date(signingDate.getTime() + 86_400_000), signingDate])
      for (const signingRegion of ['eu-west-1', 'eu-north-1']) {
        const options = { signingDate: date, signingRegion };
        const { headers } = await (await config.signer()).sign(request(body), options);
        const unsigned = request(body, { 'x-amz-content-sha256': headers['x-amz-content-sha256'] });
        expect((await signer.sign(unsigned, options)).headers).toEqual(headers);
        // It may be signed again.
        expect(unsigned.headers).not.toHaveProperty('authorization');
      }
  });
});
