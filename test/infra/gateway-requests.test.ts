/** How the local gateway reads requests: as docs/aws-behaviour.md says that API Gateway does. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/fake-functions.ts';

const KEY = '?app_key=k';
type Gateway = Awaited<ReturnType<typeof startGateway>>;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const envelope = (text: string) => JSON.parse(text) as { request_id: string; error?: { code: string } };

it('a request becomes an event with both header maps, both query maps and the context', async () => {
  const query = 'app_key=a%20b&x=1&x=2';
  const fields = 'X-One: 1\r\nX-One: 2\r\naccept: */*\r\nUser-Agent: test';
  const { event } = await gateway.sent(`POST /alert/merge?${query} HTTP/1.1\r\n${fields}`);
  expect(event).toMatchObject({
    resource: '/alert/merge',
    path: '/alert/merge',
    httpMethod: 'POST',
    headers: { 'X-One': '2', accept: '*/*' },
    multiValueHeaders: { 'X-One': ['1', '2'], accept: ['*/*'] },
    queryStringParameters: { app_key: 'a b', x: '2' },
    multiValueQueryStringParameters: { app_key: ['a b'], x: ['1', '2'] },
    requestContext: { stage: 'local', identity: { sourceIp: '127.0.0.1', userAgent: 'test' } },
  });
});

describe('a path', () => {
  it.each([
    ['/alert/merge/', '/alert/merge', '/alert/merge/'],
    ['//alert/merge', '/alert/merge', '/alert/merge'],
    ['///alert/merge/', '/alert/merge', '/alert/merge/'],
    ['http://127.0.0.1/alert/merge', '/alert/merge', '/alert/merge'],
  ])('%s is the route %s', async (path, resource, eventPath) => {
    const { name, event, status } = await gateway.sent(`POST ${path}${KEY} HTTP/1.1`);
    expect([status, name]).toEqual([200, 'merge-alerts']);
    expect(event).toMatchObject({ resource, path: eventPath, pathParameters: null });
  });

  it.each([
    ['/alert/merge//', 'alert/merge/'],
    ['/alert//merge', 'alert//merge'],
    ['/alert%2fmerge', 'alert%2fmerge'],
    ['/alert/%6derge', 'alert/%6derge'],
    ['/ALERT/MERGE', 'ALERT/MERGE'],
    ['/alert/./merge', 'alert/./merge'],
    ['/alert/merge/x', 'alert/merge/x'],
    ['/nowhere/', 'nowhere'],
  ])('%s is the proxy route', async (path, proxy) => {
    const { name, event } = await gateway.sent(`POST ${path}${KEY} HTTP/1.1`);
    expect(name).toBe('fallback-route');
    expect(event).toMatchObject({ resource: '/{proxy+}', pathParameters: { proxy } });
  });

  it('keeps the slashes that were sent in the path of the context', async () => {
    const { event } = await gateway.sent(`POST //alert/merge/${KEY} HTTP/1.1`);
    expect(event?.requestContext.path).toBe('/local//alert/merge/');
  });

  it('that is absent is the root', async () => {
    expect((await gateway.sent('POST http://127.0.0.1 HTTP/1.1')).event?.resource).toBe('/');
    expect((await gateway.sent('POST http://127.0.0.1?x=1 HTTP/1.1')).event).toMatchObject({
      resource: '/',
      queryStringParameters: { x: '1' },
    });
  });
});

describe('a method', () => {
  it.each(['HEAD', 'POST', 'OPTIONS', 'PATCH'])('%s on /openapi.json goes to fallback-route', async (method) => {
    const { name, event } = await gateway.sent(`${method} /openapi.json HTTP/1.1`);
    expect(name).toBe('fallback-route');
    expect(event?.resource).toBe('/openapi.json');
  });

  it.each(['post', 'Post', 'BREW', '?'])('%s, which is malformed, is BadRequest in the envelope', async (method) => {
    const { status, text, headers } = await gateway.sent(`${method} /alert/merge${KEY} HTTP/1.1`);
    expect([status, envelope(text).error?.code]).toEqual([400, 'BadRequest']);
    expect(headers.get('svc-request-id')).toBe(envelope(text).request_id);
  });

  it.each(['TRACE', 'PROPFIND', 'CONNECT'])('%s, which no route has, is MethodNotAllowed', async (method) => {
    const { status, text, headers } = await gateway.sent(`${method} /alert/merge${KEY} HTTP/1.1`);
    expect([status, envelope(text).error?.code]).toEqual([405, 'MethodNotAllowed']);
    expect(headers.get('allow')).toBe('POST');
  });

  it('is that of X-HTTP-Method-Override, and of no other header', async () => {
    const overridden = await gateway.sent(`POST /alert/merge${KEY} HTTP/1.1\r\nX-HTTP-Method-Override: DELETE`);
    expect(overridden.name).toBe('fallback-route');
    expect(overridden.event?.httpMethod).toBe('DELETE');
    const others = 'X-HTTP-Method: DELETE\r\nX-Method-Override: DELETE';
    expect((await gateway.sent(`POST /alert/merge${KEY} HTTP/1.1\r\n${others}`)).name).toBe('merge-alerts');
  });
});

describe('a head', () => {
  it('with a key of 9 KB reaches the authorizer and the function', async () => {
    expect((await gateway.sent(`POST /alert/merge?app_key=${'k'.repeat(9_000)} HTTP/1.1`)).name).toBe('merge-alerts');
  });

  it.each([17_000, 60_000, 200_000])('with a key of %i bytes is BadRequest in the envelope', async (length) => {
    const { status, text, name } = await gateway.sent(`POST /alert/merge?app_key=${'k'.repeat(length)} HTTP/1.1`);
    expect([status, envelope(text).error?.code, name]).toEqual([400, 'BadRequest', undefined]);
  });

  it('with more than 10,240 bytes of headers is BadRequest in the envelope', async () => {
    const header = `X-Long: ${'x'.repeat(10_240)}`;
    const { status, text } = await gateway.sent(`POST /alert/merge${KEY} HTTP/1.1\r\n${header}`);
    expect([status, envelope(text).error?.code]).toEqual([400, 'BadRequest']);
  });

  it('without a host is BadRequest in the envelope', async () => {
    const { status, body } = await gateway.sent(`POST /alert/merge${KEY} HTTP/1.1`, '', { host: '' });
    expect([status, envelope(body.toString()).error?.code]).toEqual([400, 'BadRequest']);
  });

  it.each(['POST /alert/merge HTTP/7.7', 'nonsense', 'POST /alert/merge HTTP/1.1\r\nno colon'])(
    '%j is BadRequest in the envelope',
    async (head) => {
      const { status, text } = await gateway.sent(head);
      expect([status, envelope(text).error?.code]).toEqual([400, 'BadRequest']);
    },
  );

  it.each(['App_Key=k', 'APP_KEY=k', 'app_key=', 'app_key', ''])('with the query %j has no key', async (query) => {
    const { status, text, name } = await gateway.sent(`POST /alert/merge?${query} HTTP/1.1`);
    expect([status, envelope(text).error?.code, name]).toEqual([401, 'Unauthorized', undefined]);
  });
});

describe('a request id', () => {
  const idOf = async (header: string) => {
    const answer = await gateway.sent(`POST /alert/merge HTTP/1.1${header}`);
    const ids = [answer.headers.get('x-amzn-requestid'), answer.headers.get('svc-request-id')];
    return [...ids, envelope(answer.text).request_id];
  };

  it('is new for each request', async () => {
    const [id, ...others] = await idOf('');
    expect(id).toMatch(/^[\da-f-]{36}$/);
    expect(others).toEqual([id, id]);
    expect(await idOf('')).not.toContain(id);
  });

  it("is the caller's where it chose a UUID", async () => {
    const chosen = '9C29CCD0-8a26-4dba-b194-9e140490c3c1';
    expect(await idOf(`\r\nX-Amzn-RequestId: ${chosen}`)).toEqual([chosen, chosen, chosen]);
    const { event } = await gateway.sent(`POST /alert/merge${KEY} HTTP/1.1\r\nx-amzn-requestid: ${chosen}`);
    expect(event?.requestContext).toMatchObject({
      requestId: chosen,
      extendedRequestId: expect.not.stringMatching(chosen),
    });
  });

  it.each(['x', '$&', '"', '9C29CCD0-8a26-4dba-b194-9e140490c3c1x'])(
    'is not the one that was sent: %s',
    async (chosen) => {
      expect(await idOf(`\r\nX-Amzn-RequestId: ${chosen}`)).not.toContain(chosen);
    },
  );
});
