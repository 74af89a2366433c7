import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';
import { connectTable } from '../../../lib/table/client.ts';
import { serve } from '../../support/serve.ts';
import { silentServer } from '../../support/wire.ts';

/** No attempt times out, however busy the machine is. */
const PATIENT = { connectionTimeout: 60_000, requestTimeout: 60_000 };
const HURRIED = { ...PATIENT, requestTimeout: 600 };
const TIMED_OUT = { name: 'TimeoutError' };

type Reply = (response: ServerResponse, attempt: number) => unknown;
/** A server in place of DynamoDB that keeps what it receives. */
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
let reply: Reply;
let endpoint: string;
beforeEach(async () => {
  received.length = 0;
  endpoint = await serve(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    reply(response, received.length);
  });
});

const answering =
  (body: unknown, status = 200, headers = {}): Reply =>
  (response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));

const row = { TableName: 't', Key: { pk: 'a', sk: 'b' } };

/** A client of the server, until the test ends. */
function connect(timeouts = PATIENT, at = endpoint): DynamoDBDocumentClient {
  const { client } = connectTable({ name: 't', endpoint: at, timeouts });
  onTestFinished(() => client.destroy());
  return client;
}
const read = (client = connect(), options = {}) => client.send(new GetCommand(row), options);

it('gives each of three attempts 800 ms for its reply, together less than a call has', async () => {
  const timer = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timer.mockRestore());
  const { client } = connectTable({ name: 't', endpoint: 'http://127.0.0.1:9' });
  await expect(read(client)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(timer.mock.calls.filter(([, ms]) => ms === 800)).toHaveLength(3);
  expect(3 * 800).toBeLessThan(TIME_LIMITS.callMs);
});

it('reads integers beyond 2^53 exactly', async () => {
  reply = answering({ Item: { n: { N: '9223372036854775807' }, part: { N: '-2.5' } } });
  expect(await read()).toMatchObject({ Item: { n: 9223372036854775807n, part: -2.5 } });
});

describe("of the SDK's middlewares", () => {
  it.each(['loggerMiddleware', 'recursionDetectionMiddleware'])('it lacks %s, which every other client has', (name) => {
    const has = ({ middlewareStack }: Pick<DynamoDBClient, 'middlewareStack'>) =>
      middlewareStack.identify().some((description) => description.startsWith(name));
    // If an ordinary client no longer has it, remove the line in connectTable.
    expect([has(new DynamoDBClient({ region: 'eu-west-1' })), has(connect())]).toEqual([true, false]);
  });

  it('it signs with its own signer, and only the headers that must be', async () => {
    reply = answering({});
    await read();
    expect(received[0]?.headers.authorization).toMatch(/SignedHeaders=content-type;host;x-amz-date;x-amz-target,/);
  });

  it('it replaces the one that composes the user agent', async () => {
    reply = answering({});
    await read();
    expect(received[0]?.headers).toMatchObject({ 'user-agent': 'incident-monitoring-rum-service' });
    expect(received[0]?.headers).not.toHaveProperty('x-amz-user-agent');
  });
});

it('gives a transaction one token for all its attempts', async () => {
  reply = (response, attempt) => answering({}, attempt < 3 ? 500 : 200)(response, attempt);
  await connect().send(new TransactWriteCommand({ TransactItems: [{ Delete: row }] }));
  const tokens = received.map(({ body }) => JSON.parse(body).ClientRequestToken);
  expect(tokens).toEqual(Array(3).fill(expect.stringMatching(/^[\da-f-]{36}$/)));
  expect(new Set(tokens).size).toBe(1);
});

describe('an error', () => {
  const refusal = (name: string) => answering({ __type: `com.amazonaws.dynamodb.v20120810#${name}` }, 400);
  const halfReply = (response: ServerResponse) => response.writeHead(200, { 'Content-Length': 100 }).write('{"Item":');
  const throttling = refusal('ProvisionedThroughputExceededException');
  it.each<[what: string, reply: Reply, attempts: number, error?: object, timeouts?: typeof PATIENT]>([
    ['a cancelled transaction', refusal('TransactionCanceledException'), 1],
    ['a conflict with a transaction', refusal('TransactionConflictException'), 3],
    ['throttling', throttling, 3],
    ['a connection that ends', (response) => response.destroy(), 3, { ...TIMED_OUT, code: 'ECONNRESET' }],
    ['a server that says nothing', () => {}, 3, { ...TIMED_OUT, code: 'ETIMEDOUT' }, HURRIED],
    ['a reply that stops half-way', halfReply, 3, TIMED_OUT, HURRIED],
  ])('(%s) is thrown after as many attempts as may help', async (_what, answer, attempts, error, timeouts) => {
    reply = answer;
    await expect(read(connect(timeouts))).rejects.toMatchObject({ ...error, $metadata: { attempts } });
    expect(received).toHaveLength(attempts);
  });

  it('of a lost reply is retried even after a storm of throttled calls', async () => {
    const client = connect();
    reply = throttling;
    await Promise.allSettled(Array.from({ length: 60 }, () => read(client)));
    received.length = 0;
    reply = (response, attempt) => (attempt === 1 ? response.destroy() : answering({})(response, attempt));
    expect(await read(client)).toMatchObject({ $metadata: { attempts: 2 } });
  });

  it('is a time-out when no TLS connection is made in time', async () => {
    const silent = await silentServer();
    onTestFinished(silent.close);
    const client = connect({ ...PATIENT, connectionTimeout: 50 }, `https://127.0.0.1:${silent.port}`);
    await expect(read(client)).rejects.toMatchObject({ ...TIMED_OUT, code: 'ETIMEDOUT' });
  });

  it('for a wrong clock leads to another attempt, with the time of DynamoDB', async () => {
    const aheadMs = 3_600_000;
    const skewed = { __type: 'com.amazon.coral.service#RequestTimeTooSkewed', message: 'm' };
    const headers = { Date: new Date(Date.now() + aheadMs).toUTCString() };
    reply = (response, attempt) => (attempt === 1 ? answering(skewed, 400, headers) : answering({}))(response, attempt);
    await read();
    const [first = 0, second = 0] = received.map(({ headers }) =>
      Date.parse(String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:')),
    );
    expect(second - first).toBeGreaterThan(aheadMs - 60_000);
  });

  it('is AbortError when a call is aborted, before or while it is sent', async () => {
    reply = () => {};
    const client = connect();
    for (const abortSignal of [AbortSignal.abort(), AbortSignal.timeout(50)])
      await expect(read(client, { abortSignal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});
