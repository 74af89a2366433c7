/** The local gateway does what docs/internals/aws-behaviour.md says of API Gateway. Its functions only record their events. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, inject, it } from 'vitest';
import { listen } from '../../../../test/support/listen.ts';
import { readDeployment } from '../../deployment.ts';
import { docsPage, exactJson } from '../../docs.ts';
import { createGateway } from '../../gateway.ts';
import { createUsagePlans } from '../../usage-plans.ts';

const deployment = readDeployment(inject('template'), 'a-table');
const OK = { statusCode: 200, headers: {}, body: '{"request_id":"r","data":null}' };
const allow = (usageIdentifierKey: string) => ({ principalId: '1', policyDocument: {}, usageIdentifierKey });
const MERGE = 'POST /alert/merge?app_key=k HTTP/1.1';
const MIB = 1024 * 1024;

/**
 * Starts a gateway, which runs as long as the tests' process.
 * @returns sends a request as it stands; gives its answer, the functions that were called for it, and the last event
 */
async function startGateway(authorize: () => unknown = () => allow('local-account-1'), answer: object = OK) {
  const called: string[] = [];
  let event: APIGatewayProxyEvent | undefined;
  async function invoke(name: string, sent: unknown) {
    called.push(name);
    if (name === 'usage-key-authorizer') return authorize();
    event = sent as APIGatewayProxyEvent;
    return answer;
  }
  const gateway = createGateway({ deployment, invoke });
  const port = await listen(gateway.unref());
  return async (
    head: string,
    body: string | Buffer = '',
    host = 'Host: x\r\n',
    beforeBody = async (_gateway: Server) => {},
  ) => {
    const before = called.length;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}); // the answer is what was received before the error
    socket.write(`${head}\r\n${host}Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`);
    await beforeBody(gateway);
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

it('an event has headers and parameters as they were sent, single and as lists, and the context', async () => {
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
    body: null,
    isBase64Encoded: false,
    // Only here the path has all its slashes.
    requestContext: { path: '/local//alert/merge/', identity: { sourceIp: '127.0.0.1', userAgent: 'test' } },
  });
});

it('an event has the time at which its call arrived, before its body', async () => {
  let bodySentMs = 0;
  const { event } = await send(MERGE, '{}', 'Host: x\r\n', async (gateway) => {
    await once(gateway, 'request');
    await sleep(5);
    bodySentMs = Date.now();
  });
  expect(event?.requestContext.requestTimeEpoch).toBeLessThan(bodySentMs);
});

it.each([
  ['POST http://127.0.0.1/alert/merge', '/alert/merge', 'merge-alerts', null],
  ['POST /alert/merge//', '/{proxy+}', 'fallback-route', 'alert/merge/'],
  ['POST /alert%2fmerge', '/{proxy+}', 'fallback-route', 'alert%2fmerge'],
  ['POST /alert/./merge', '/{proxy+}', 'fallback-route', 'alert/./merge'],
  ['POST /alert/merge', '/alert/merge', 'fallback-route', null, 'X-HTTP-Method-Override: DELETE'],
  ['POST /alert/merge', '/alert/merge', 'merge-alerts', null, 'X-Method-Override: DELETE'],
])('%s is the route %s of %s', async (target, resource, name, proxy, headers = 'X-Any: x') => {
  const { event, called } = await send(`${target}?app_key=k HTTP/1.1\r\n${headers}`);
  expect(called.at(-1)).toBe(name);
  expect(event).toMatchObject({ resource, pathParameters: proxy && { proxy } });
});

const withQuery = (query: string) => MERGE.replace('app_key=k', query);
it.each([
  ['BadRequest', 400, 'post /alert/merge?app_key=k HTTP/1.1'],
  ['BadRequest', 400, 'nonsense'],
  ['BadRequest', 400, withQuery(`app_key=${'k'.repeat(10_240)}`)],
  ['BadRequest', 400, withQuery(`app_key=${'k'.repeat(200_000)}`)],
  ['BadRequest', 400, `${MERGE}\r\nX-Long: ${'x'.repeat(10_240)}`],
  ['BadRequest', 400, MERGE, ''],
  ['MethodNotAllowed', 405, MERGE.replace('POST', 'TRACE')],
  ['MethodNotAllowed', 405, MERGE.replace('POST', 'CONNECT')],
  ['Unauthorized', 401, withQuery('App_Key=k')],
])(
  '%s (%i) is answered in the envelope, and no function is called: %.60s',
  async (code, status, head, host?: string) => {
    const { text, headers, called, ...answer } = await send(head, '', host);
    expect([answer.status, answer.code, called]).toEqual([status, code, []]);
    expect(headers.get('svc-request-id')).toBe(JSON.parse(text).request_id);
  },
);

it('a request id is the UUID that the caller chose, and otherwise new', async () => {
  const uuid = '9C29CCD0-8a26-4dba-b194-9e140490c3c1';
  const { headers, event } = await send(`${MERGE}\r\nx-amzn-requestid: ${uuid}`);
  expect([headers.get('x-amzn-requestid'), event?.requestContext.requestId]).toEqual([uuid, uuid]);
  expect(event?.requestContext.extendedRequestId).not.toMatch(uuid);
  const other = await send(`${MERGE}\r\nx-amzn-requestid: ${uuid}x`);
  expect(other.headers.get('x-amzn-requestid')).toMatch(/^(?!9c29ccd0)[\da-f-]{36}$/);
});

describe('a body', () => {
  const large = Buffer.from(randomBytes(1024).toString('hex'));
  it.each<[what: string, headers: string, sent: string | Buffer, arrives?: Buffer]>([
    ['that is not UTF-8', 'X: x', Buffer.from([0x7b, 0xff, 0x7d])],
    ['in gzip', 'Content-Encoding: GZIP', gzipSync(large), large],
    ['in deflate', 'Content-Encoding: deflate', deflateSync(large), large],
    // The function refuses it.
    ['in gzip, below the minimum size', 'Content-Encoding: gzip', gzipSync('{}')],
  ])('%s arrives in base64', async (_what, headers, sent, arrives = Buffer.from(sent)) => {
    const { event } = await send(`${MERGE}\r\n${headers}`, sent);
    expect(event?.isBase64Encoded).toBe(true);
    expect(Buffer.from(event?.body ?? '', 'base64').equals(arrives)).toBe(true);
  });

  const tooLarge = 'HTTP content length exceeded 10485760 bytes.';
  const whole = 10 * MIB + 1;
  it.each<[what: string, headers: string, sent: Buffer, status: number, text: string, ...called: string[]]>([
    ['over 10 MB', 'X: x', Buffer.alloc(whole), 413, tooLarge],
    ['over 10 MB when decompressed', 'Content-Encoding: gzip', gzipSync(Buffer.alloc(whole)), 413, tooLarge],
    ['of an event over 6 MB', 'X: x', Buffer.alloc(4.6 * MIB), 413, 'Request Too Long', 'usage-key-authorizer'],
    ['that is not in its coding', 'Content-Encoding: deflate', gzipSync(large), 400, 'Content-Encoding'],
  ])('%s is refused', async (what, headers, sent, status, text, ...called) => {
    const answer = await send(`POST /alert/merge?app_key=${encodeURI(what)} HTTP/1.1\r\n${headers}`, sent);
    expect(answer).toMatchObject({ status, text: expect.stringContaining(text), called });
  });
});

it.each([
  ['deflate', 1024, 'deflate'],
  ['gzip, deflate, br', 1024, 'gzip'],
  ['gzip', 1023, null],
  ['br', 1024, null],
  ['gzip', 1024, 'br', 'content-encoding'],
])('for Accept-Encoding: %s an answer of %i bytes has the coding %s', async (accept, size, coding, own = 'x-own') => {
  const body = 'x'.repeat(size);
  const sendTo = await startGateway(undefined, { ...OK, headers: { [own]: 'br' }, body });
  const { headers, content } = await sendTo(`${MERGE}\r\nAccept-Encoding: ${accept}`);
  expect(headers.get('content-encoding')).toBe(coding);
  const decoded = coding === 'gzip' ? gunzipSync(content) : coding === 'deflate' ? inflateSync(content) : content;
  expect(decoded.toString()).toBe(body);
});

it('the authorizer is asked once for a key, and again when it failed; its gateway key must be in a plan', async () => {
  const answers = [() => Promise.reject(new Error('secret')), () => allow('local-account-1'), () => allow('nobody')];
  const sendTo = await startGateway(() => answers.shift()?.());
  expect(await sendTo(MERGE)).toMatchObject({ status: 503, code: 'ServiceUnavailable' });
  expect((await sendTo(MERGE)).called).toEqual(['usage-key-authorizer', 'merge-alerts']);
  expect((await sendTo(MERGE)).called).toEqual(['merge-alerts']);
  expect(await sendTo(withQuery('app_key=other'))).toMatchObject({ status: 503, called: ['usage-key-authorizer'] });
});

it('the usage plans admit the rate and the burst of the template, for each account and method on its own', () => {
  const clock = { now: 0 };
  const admit = createUsagePlans(deployment, () => clock.now);
  const admitted = (key: string, path: string) =>
    Array.from({ length: 1_000 }, () => admit(key, `${path}/POST`)).filter((verdict) => verdict === 'passed').length;
  const shared = deployment.functions['usage-key-authorizer']?.environment.SHARED_GATEWAY_KEY ?? '';
  for (const [key, path, rate, burst] of [
    ['local-account-1', '/alert/merge', 20, 40],
    ['local-account-1', '/rum/resource/info', 50, 100],
    ['local-account-2', '/alert/merge', 20, 40],
    [shared, '/alert/merge', 200, 400],
  ] as const) {
    expect(admitted(key, path)).toBe(burst);
    clock.now += 1000;
    expect(admitted(key, path)).toBe(rate);
  }
});

it('the gateway reports the name and the error of a function that fails', async () => {
  const failures: string[] = [];
  const gateway = createGateway({
    deployment,
    invoke: () => Promise.reject(new Error('no such table')),
    onFailed: (name, { message }) => failures.push(`${name}: ${message}`),
  });
  const port = await listen(gateway.unref());
  expect((await fetch(`http://127.0.0.1:${port}/openapi.json`)).status).toBe(503);
  expect(failures).toEqual(['openapi-document: no such table']);
});

it('the reference page shows the numbers of an answer as they were sent', () => {
  const text = '{"id":9223372036854775807,"n":[1.0,1e3],"s":"a\\u0041"}';
  expect(exactJson(text)).toBe('{\n  "id": 9223372036854775807,\n  "n": [\n    1.0,\n    1e3\n  ],\n  "s": "aA"\n}');
  for (const notJson of ['no JSON', undefined, { size: 3 }]) expect(exactJson(notJson as string)).toBeUndefined();
  const page = docsPage('k', 'n');
  // The copy in the page works without this module, so the function uses nothing outside itself.
  const source = page.slice(page.indexOf('function exactJson'), page.indexOf('// Swagger UI parses'));
  expect(new Function(`${source}; return exactJson('[9007199254740993]')`)()).toBe('[\n  9007199254740993\n]');
  expect(page).toContain('plugins: [showExactly]');
});
