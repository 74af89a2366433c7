/** How the local gateway reads requests: as docs/aws-behaviour.md says that API Gateway does. */
import { describe, expect, it } from 'vitest';
import { codeIn, startGateway } from './fake-functions.ts';

const gateway = await startGateway();
const MERGE = 'POST /alert/merge?app_key=k HTTP/1.1';

it('a request becomes an event with both header maps, both query maps and the context', async () => {
  const query = 'app_key=a%20b&x=1&x=2';
  const fields = 'X-One: 1\r\nX-One: 2\r\naccept: */*\r\nUser-Agent: test';
  const { event } = await gateway.sendRaw(`POST /alert/merge?${query} HTTP/1.1\r\n${fields}`);
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

it.each([
  ['/alert/merge/', '/alert/merge', null],
  ['///alert/merge/', '/alert/merge', null],
  ['http://127.0.0.1/alert/merge', '/alert/merge', null],
  ['http://127.0.0.1', '/', null],
  ['/alert/merge//', '/{proxy+}', 'alert/merge/'],
  ['/alert//merge', '/{proxy+}', 'alert//merge'],
  ['/alert%2fmerge', '/{proxy+}', 'alert%2fmerge'],
  ['/alert/%6derge', '/{proxy+}', 'alert/%6derge'],
  ['/ALERT/MERGE', '/{proxy+}', 'ALERT/MERGE'],
  ['/alert/./merge', '/{proxy+}', 'alert/./merge'],
  ['/nowhere/', '/{proxy+}', 'nowhere'],
])('the path %s is the route %s', async (path, resource, proxy) => {
  const { name, event } = await gateway.sendRaw(`POST ${path}?app_key=k HTTP/1.1`);
  expect(name).toBe(resource === '/alert/merge' ? 'merge-alerts' : 'fallback-route');
  expect(event).toMatchObject({
    resource,
    pathParameters: proxy && { proxy },
    queryStringParameters: { app_key: 'k' },
  });
});

it('a path loses all but one of the slashes before it, but not in the request context', async () => {
  const { event } = await gateway.sendRaw('POST //alert/merge/?app_key=k HTTP/1.1');
  expect(event).toMatchObject({ path: '/alert/merge/', requestContext: { path: '/local//alert/merge/' } });
});

describe('a method', () => {
  it.each(['HEAD', 'PATCH'])('%s on /openapi.json goes to fallback-route', async (method) => {
    const { name, event } = await gateway.sendRaw(`${method} /openapi.json HTTP/1.1`);
    expect(name).toBe('fallback-route');
    expect(event?.resource).toBe('/openapi.json');
  });

  it('is replaced by X-HTTP-Method-Override, and by no other header', async () => {
    const overridden = await gateway.sendRaw(`${MERGE}\r\nX-HTTP-Method-Override: DELETE`);
    expect(overridden.name).toBe('fallback-route');
    expect(overridden.event?.httpMethod).toBe('DELETE');
    const others = 'X-HTTP-Method: DELETE\r\nX-Method-Override: DELETE';
    expect((await gateway.sendRaw(`${MERGE}\r\n${others}`)).name).toBe('merge-alerts');
  });
});

const withMethod = (method: string) => MERGE.replace('POST', method);
const withQuery = (query: string) => MERGE.replace('app_key=k', query);
it.each<[code: string, status: number, ...heads: string[]]>([
  [
    ...(['BadRequest', 400] as const),
    // Malformed methods, lines and headers; too many bytes in the address or the headers.
    ...['post', 'Post', 'BREW', '?'].map(withMethod),
    ...['POST /alert/merge HTTP/7.7', 'nonsense', 'POST /alert/merge HTTP/1.1\r\nno colon'],
    ...[17_000, 60_000, 200_000].map((length) => withQuery(`app_key=${'k'.repeat(length)}`)),
    `${MERGE}\r\nX-Long: ${'x'.repeat(10_240)}`,
  ],
  // Methods that no route has.
  ['MethodNotAllowed', 405, ...['TRACE', 'PROPFIND', 'CONNECT'].map(withMethod)],
  ['Unauthorized', 401, ...['App_Key=k', 'APP_KEY=k', 'app_key=', 'app_key', ''].map(withQuery)],
])('%s (%i) is answered in the envelope, and no function is called', async (code, status, ...heads) => {
  for (const head of heads) {
    const { text, headers, name, ...answer } = await gateway.sendRaw(head);
    expect([answer.status, codeIn(text), name], head.slice(0, 100)).toEqual([status, code, undefined]);
    expect(headers.get('svc-request-id')).toBe(JSON.parse(text).request_id);
    expect(headers.get('allow')).toBe(code === 'MethodNotAllowed' ? 'POST' : null);
  }
});

it('a request without a host is BadRequest in the envelope, one with a key of 9 KB reaches its function', async () => {
  const { status, text } = await gateway.sendRaw(MERGE, '', { host: '' });
  expect([status, codeIn(text)]).toEqual([400, 'BadRequest']);
  expect((await gateway.sendRaw(withQuery(`app_key=${'k'.repeat(9_000)}`))).name).toBe('merge-alerts');
});

describe('a request id', () => {
  const idOf = async (header: string) => {
    const answer = await gateway.sendRaw(`POST /alert/merge HTTP/1.1${header}`);
    const ids = [answer.headers.get('x-amzn-requestid'), answer.headers.get('svc-request-id')];
    return [...ids, JSON.parse(answer.text).request_id];
  };

  it('is new for each request', async () => {
    const [id, ...others] = await idOf('');
    expect(id).toMatch(/^[\da-f-]{36}$/);
    expect(others).toEqual([id, id]);
    expect(await idOf('')).not.toContain(id);
  });

  it("is the caller's if it sent a UUID", async () => {
    const chosen = '9C29CCD0-8a26-4dba-b194-9e140490c3c1';
    expect(await idOf(`\r\nX-Amzn-RequestId: ${chosen}`)).toEqual([chosen, chosen, chosen]);
    const { event } = await gateway.sendRaw(`${MERGE}\r\nx-amzn-requestid: ${chosen}`);
    expect(event?.requestContext).toMatchObject({
      requestId: chosen,
      extendedRequestId: expect.not.stringMatching(chosen),
    });
  });

  it.each(['$&', '9C29CCD0-8a26-4dba-b194-9e140490c3c1x'])('is new if the caller sent no UUID: %s', async (chosen) => {
    expect(await idOf(`\r\nX-Amzn-RequestId: ${chosen}`)).not.toContain(chosen);
  });
});
