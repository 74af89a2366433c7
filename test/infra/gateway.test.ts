/** The local gateway does what the template says, and what docs/aws-behaviour.md says of API Gateway. Its functions only record their events. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { operations } from '../../lib/operations/index.ts';
import { type Deployment, readDeployment } from '../../packages/local/deployment.ts';
import { createGateway } from '../../packages/local/gateway.ts';
import { answerOf } from '../../packages/local/gateway-response.ts';
import { resourcesOf } from '../../packages/local/template.ts';
import { createUsagePlans } from '../../packages/local/usage-plans.ts';
import { listen } from '../support/listen.ts';
import { deployed } from './stack.ts';

const deployment = readDeployment(deployed(), 'a-table');
const OK = { statusCode: 200, headers: {}, body: '{"request_id":"r","data":null}' };
const allow = (usageIdentifierKey: string) => ({ principalId: '1', policyDocument: {}, usageIdentifierKey });
const MERGE = 'POST /alert/merge?app_key=k HTTP/1.1';
const MIB = 1024 * 1024;

interface Fakes {
  started?: Deployment;
  authorize?: () => unknown;
  /** Answers for every function but the authorizer. */
  answer?: () => Promise<unknown>;
}

/**
 * Starts a gateway, which runs as long as the tests' process.
 * @returns sends a request as it stands; gives its answer, the functions that were called for it, and the last event
 */
async function startGateway({
  started = deployment,
  authorize = () => allow('local-account-1'),
  answer = async () => OK,
}: Fakes = {}) {
  const called: string[] = [];
  let event: APIGatewayProxyEvent | undefined;
  async function invoke(name: string, sent: unknown) {
    called.push(name);
    if (name === 'usage-key-authorizer') return authorize();
    event = sent as APIGatewayProxyEvent;
    return answer();
  }
  const port = await listen(createGateway({ deployment: started, invoke }).unref());
  return async (head: string, body: string | Buffer = '', host = 'Host: x\r\n') => {
    const before = called.length;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}); // the answer is what was received before the error
    socket.write(`${head}\r\n${host}Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`);
    socket.write(body);
    const answered = Buffer.concat(await Array.fromAsync(socket));
    const headEnd = answered.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = answered.subarray(0, headEnd).toString().split('\r\n');
    const content = answered.subarray(headEnd + 4);
    return {
      status: Number(statusLine.split(' ')[1]),
      headers: new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string])),
      content,
      text: content.toString(),
      /** The code of an error. */
      code: /"code":"(\w+)"/.exec(content.toString())?.[1],
      called: called.slice(before),
      event,
    };
  };
}
const send = await startGateway();

describe("API Gateway's own answers", () => {
  const CODES: Record<string, ErrorCode> = {
    ACCESS_DENIED: 'AccessDenied',
    DEFAULT_4XX: 'BadRequest',
    DEFAULT_5XX: 'ServiceUnavailable',
    INVALID_API_KEY: 'ServiceUnavailable',
    MISSING_AUTHENTICATION_TOKEN: 'MethodNotAllowed',
    REQUEST_TOO_LARGE: 'EntityTooLarge',
    THROTTLED: 'RequestTooFrequently',
    UNAUTHORIZED: 'Unauthorized',
    UNSUPPORTED_MEDIA_TYPE: 'BadRequest',
    WAF_FILTERED: 'AccessDenied',
  };
  const FAILURES = ['API_CONFIGURATION_ERROR', 'AUTHORIZER_CONFIGURATION_ERROR', 'AUTHORIZER_FAILURE'];
  const ofFailures = [...FAILURES, 'INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT'].map(
    (type) => [type, 'ServiceUnavailable'] as const,
  );

  it('are these; DEFAULT_5XX stands for all failures', () => {
    expect(deployment.responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(Object.keys(CODES));
  });

  it.each([...Object.entries(CODES), ...ofFailures])('%s is %s in the envelope', (type, code) => {
    const { statusCode, headers, body } = answerOf(deployment.responses, type, 'an-id');
    const { status } = ERROR_CODES[code];
    const { message } = JSON.parse(body).error;
    expect([statusCode, JSON.parse(body)]).toEqual([status, { request_id: 'an-id', error: { code, message } }]);
    expect(message).toMatch(type === 'UNSUPPORTED_MEDIA_TYPE' ? /Content-Encoding.*gzip or deflate/ : en.codes[code]);
    // API Gateway would take it for a variable.
    expect(message).not.toContain('$');
    expect(headers).toEqual({
      'Content-Type': 'application/json',
      'x-amzn-RequestId': 'an-id',
      'Svc-Request-Id': 'an-id',
      'Content-Language': 'en',
      Vary: 'Accept-Language',
      'Cache-Control': 'no-store',
      ...(status === 405 && { Allow: 'POST' }),
      ...([429, 503].includes(status) && { 'Retry-After': '1' }),
    });
  });
});

it('a request becomes an event with both header maps, both query maps and the context', async () => {
  const fields = 'X-One: 1\r\nX-One: 2\r\naccept: */*\r\nUser-Agent: test';
  const { event } = await send(`POST //alert/merge/?app_key=a%20b&x=1&x=2 HTTP/1.1\r\n${fields}`);
  expect(event).toMatchObject({
    resource: '/alert/merge',
    path: '/alert/merge/',
    httpMethod: 'POST',
    headers: { 'X-One': '2', accept: '*/*' },
    multiValueHeaders: { 'X-One': ['1', '2'], accept: ['*/*'] },
    queryStringParameters: { app_key: 'a b', x: '2' },
    multiValueQueryStringParameters: { app_key: ['a b'], x: ['1', '2'] },
    // Only here the path has all its slashes.
    requestContext: {
      ...{ stage: 'local', path: '/local//alert/merge/' },
      identity: { sourceIp: '127.0.0.1', userAgent: 'test' },
    },
  });
});

it.each([
  ['POST /alert/merge/', '/alert/merge', 'merge-alerts', null],
  ['POST ///alert/merge/', '/alert/merge', 'merge-alerts', null],
  ['POST http://127.0.0.1/alert/merge', '/alert/merge', 'merge-alerts', null],
  ['POST http://127.0.0.1', '/', 'fallback-route', null],
  ['POST /alert/merge//', '/{proxy+}', 'fallback-route', 'alert/merge/'],
  ['POST /alert//merge', '/{proxy+}', 'fallback-route', 'alert//merge'],
  ['POST /alert%2fmerge', '/{proxy+}', 'fallback-route', 'alert%2fmerge'],
  ['POST /alert/%6derge', '/{proxy+}', 'fallback-route', 'alert/%6derge'],
  ['POST /ALERT/MERGE', '/{proxy+}', 'fallback-route', 'ALERT/MERGE'],
  ['POST /alert/./merge', '/{proxy+}', 'fallback-route', 'alert/./merge'],
  ['POST /nowhere/', '/{proxy+}', 'fallback-route', 'nowhere'],
  ['HEAD /openapi.json', '/openapi.json', 'fallback-route', null],
  ['PATCH /openapi.json', '/openapi.json', 'fallback-route', null],
  ['POST /alert/merge', '/alert/merge', 'fallback-route', null, 'X-HTTP-Method-Override: DELETE'],
  ['POST /alert/merge', '/alert/merge', 'merge-alerts', null, 'X-HTTP-Method: DELETE\r\nX-Method-Override: DELETE'],
])('%s is the route %s of %s', async (target, resource, name, proxy, headers = 'X-Any: x') => {
  const { event, called } = await send(`${target}?app_key=k HTTP/1.1\r\n${headers}`);
  expect(called.at(-1)).toBe(name);
  const queryStringParameters = { app_key: 'k' };
  expect(event).toMatchObject({ resource, pathParameters: proxy && { proxy }, queryStringParameters });
});

const withQuery = (query: string) => MERGE.replace('app_key=k', query);
it.each<[code: string, status: number, heads: string[]]>([
  [
    // Malformed methods, lines and headers; too many bytes in the address or the headers.
    ...(['BadRequest', 400] as const),
    [
      ...['post', 'Post', 'BREW', '?'].map((method) => MERGE.replace('POST', method)),
      ...['POST /alert/merge HTTP/7.7', 'nonsense', 'POST /alert/merge HTTP/1.1\r\nno colon'],
      ...[17_000, 60_000, 200_000].map((length) => withQuery(`app_key=${'k'.repeat(length)}`)),
      `${MERGE}\r\nX-Long: ${'x'.repeat(10_240)}`,
    ],
  ],
  ['MethodNotAllowed', 405, ['TRACE', 'PROPFIND', 'CONNECT'].map((method) => MERGE.replace('POST', method))],
  ['Unauthorized', 401, ['App_Key=k', 'APP_KEY=k', 'app_key=', 'app_key', ''].map(withQuery)],
])('%s (%i) is answered in the envelope, and no function is called', async (code, status, heads) => {
  for (const head of heads) {
    const { text, headers, called, ...answer } = await send(head);
    expect([answer.status, answer.code, called], head.slice(0, 100)).toEqual([status, code, []]);
    expect(headers.get('svc-request-id')).toBe(JSON.parse(text).request_id);
  }
});

it('a request without a host is BadRequest in the envelope, one with a key of 9 KB reaches its function', async () => {
  expect(await send(MERGE, '', '')).toMatchObject({ status: 400, code: 'BadRequest', called: [] });
  expect((await send(withQuery(`app_key=${'k'.repeat(9_000)}`))).called).toContain('merge-alerts');
});

it('a request id is the UUID that the caller chose, and otherwise new', async () => {
  const idsFor = async (chosen: string) => {
    const { headers, text } = await send(`POST /alert/merge HTTP/1.1\r\nX-Amzn-RequestId: ${chosen}`);
    return [headers.get('x-amzn-requestid'), headers.get('svc-request-id'), JSON.parse(text).request_id];
  };
  const uuid = '9C29CCD0-8a26-4dba-b194-9e140490c3c1';
  expect(await idsFor(uuid)).toEqual([uuid, uuid, uuid]);
  for (const chosen of ['$&', `${uuid}x`]) {
    const [id, ...others] = await idsFor(chosen);
    expect(id).toMatch(/^(?!9c29ccd0)[\da-f-]{36}$/);
    expect(others).toEqual([id, id]);
  }
  const { event } = await send(`${MERGE}\r\nx-amzn-requestid: ${uuid}`);
  expect(event?.requestContext).toMatchObject({ requestId: uuid, extendedRequestId: expect.not.stringMatching(uuid) });
});

describe('a body', () => {
  const large = Buffer.from(randomBytes(1024).toString('hex'));
  it.each<[what: string, headers: string, sent: string | Buffer, arrives?: Buffer]>([
    ['of JSON', 'Content-Type: application/json', '{"é":1}'],
    ['of text', 'Content-Type: text/plain; charset=utf-8', '{"é":1}'],
    ['without a type', 'X: x', '{"é":1}'],
    ['that is not UTF-8', 'X: x', Buffer.from([0x7b, 0xff, 0x7d])],
    ['of the largest allowed size', 'X: x', Buffer.alloc(3 * MIB, 0xff)],
    ['in gzip', 'Content-Encoding: GZIP', gzipSync(large), large],
    ['in deflate', 'Content-Encoding: deflate', deflateSync(large), large],
    // The function refuses it.
    ['in gzip, below the minimum size', 'Content-Encoding: gzip', gzipSync('{}')],
  ])('%s arrives in base64', async (_what, headers, sent, arrives = Buffer.from(sent)) => {
    const { event } = await send(`${MERGE}\r\n${headers}`, sent);
    expect(event?.isBase64Encoded).toBe(true);
    expect(Buffer.from(event?.body ?? '', 'base64').equals(arrives)).toBe(true);
  });

  it('that is empty arrives as null', async () => {
    expect((await send(MERGE)).event).toMatchObject({ body: null, isBase64Encoded: false });
  });

  const tooLarge = 'HTTP content length exceeded 10485760 bytes.';
  const whole = 10 * MIB + 1;
  it.each<[what: string, headers: string, sent: Buffer, status: number, text: string, ...called: string[]]>([
    ['over 10 MB', 'X: x', Buffer.alloc(whole), 413, tooLarge],
    ['over 10 MB when decompressed', 'Content-Encoding: gzip', gzipSync(Buffer.alloc(whole)), 413, tooLarge],
    ['of an event over 6 MB', 'X: x', Buffer.alloc(4.6 * MIB), 413, 'Request Too Long', 'usage-key-authorizer'],
    ['in an unknown coding', 'Content-Encoding: br', Buffer.from('{}'), 400, 'Content-Encoding'],
    ['that is not in its coding', 'Content-Encoding: deflate', gzipSync(large), 400, 'Content-Encoding'],
  ])('%s is refused', async (what, headers, sent, status, text, ...called) => {
    const answer = await send(`POST /alert/merge?app_key=${encodeURI(what)} HTTP/1.1\r\n${headers}`, sent);
    expect(answer).toMatchObject({ status, text: expect.stringContaining(text), called });
  });
});

it.each([
  ['deflate', 1024, 'deflate'],
  ['gzip, deflate, br', 1024, 'gzip'],
  ['deflate;q=0.5, gzip', 1024, 'gzip'],
  ['br;q=0.1, *;q=0, gzip;q=0.2', 1024, 'gzip'],
  ['gzip', 1023, null],
  ['br', 1024, null],
  ['br, gzip;q=0.5', 1024, null],
  ['*', 1024, null],
  ['gzip;q=0', 1024, null],
  ['gzip', 1024, 'br', 'content-encoding'],
])('for Accept-Encoding: %s an answer of %i bytes has the coding %s', async (accept, size, coding, own = 'x-own') => {
  const body = 'x'.repeat(size);
  const sendTo = await startGateway({ answer: async () => ({ ...OK, headers: { [own]: 'br' }, body }) });
  const answer = await sendTo(`${MERGE}\r\nAccept-Encoding: ${accept}`);
  expect(answer.headers.get('content-encoding')).toBe(coding);
  const decode = { gzip: gunzipSync, deflate: inflateSync }[coding ?? ''] ?? ((content: Buffer) => content);
  expect(decode(answer.content).toString()).toBe(body);
});

it('the authorizer is asked once for a key, and again when it failed', async () => {
  let fails = true;
  const sendTo = await startGateway({
    authorize: () => (fails ? Promise.reject(new Error('secret')) : allow('local-account-1')),
  });
  expect(await sendTo(MERGE)).toMatchObject({ status: 503, code: 'ServiceUnavailable' });
  fails = false;
  const asked: boolean[] = [];
  for (const key of ['k', 'k', 'other'])
    asked.push((await sendTo(withQuery(`app_key=${key}`))).called.includes('usage-key-authorizer'));
  expect(asked).toEqual([true, false, true]);
});

it('a gateway key in no plan, or a function that fails, is answered with 503', async () => {
  for (const fakes of [{ authorize: () => allow('nobody') }, { answer: () => Promise.reject(new Error('secret')) }])
    expect(await (await startGateway(fakes))(MERGE)).toMatchObject({ status: 503, code: 'ServiceUnavailable' });
});

it('unknown callers are throttled together, and no function is called then', async () => {
  const shared = deployment.functions['usage-key-authorizer']?.environment.SHARED_GATEWAY_KEY ?? '';
  const throttles = { '/alert/merge/POST': { rate: 0.001, burst: 2 } };
  const otherPlans = deployment.otherPlans.map((plan) => ({ ...plan, throttles }));
  const sendTo = await startGateway({ started: { ...deployment, otherPlans }, authorize: () => allow(shared) });
  for (const status of [200, 200]) expect(await sendTo(MERGE)).toMatchObject({ status });
  expect(await sendTo(withQuery('app_key=other'))).toMatchObject({
    code: 'RequestTooFrequently',
    called: ['usage-key-authorizer'],
  });
});

it('the usage plans admit the rate and the burst of the template, for each account and method on its own', () => {
  const clock = { now: 0 };
  const admit = createUsagePlans(deployment, () => clock.now);
  const admitted = (key: string, method: string, calls: number) =>
    Array.from({ length: calls }, () => admit(key, method)).filter((verdict) => verdict === 'passed').length;
  for (const { path, throttle } of operations) {
    const method = `${path}/POST`;
    for (const key of ['local-account-1', 'local-account-2'])
      expect(admitted(key, method, 3 * throttle.burst)).toBe(throttle.burst);
    clock.now += 1000;
    expect(admitted('local-account-1', method, 3 * throttle.burst)).toBe(throttle.rate);
  }
});

it('a value that only AWS knows is refused', () => {
  const copy = structuredClone(deployed());
  for (const { Properties } of Object.values(resourcesOf(copy, 'AWS::Lambda::Function')))
    Properties.Environment = { Variables: { WHERE: { 'Fn::GetAtt': ['Other', 'Arn'] } } };
  expect(() => readDeployment(copy, 'a-table')).toThrow('the value of WHERE is known on AWS only');
});
