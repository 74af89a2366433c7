/** How the local gateway reads requests: as docs/aws-behaviour.md says that API Gateway does. */
import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { resourcesOf } from '../../infra/local/template.ts';
import { edited, OK, startGateway } from '../support/fake-functions.ts';

const MIB = 1024 * 1024;
const KEY = '?app_key=k';
type Gateway = Awaited<ReturnType<typeof startGateway>>;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** What became of a request: the answer, the function that was called, and its event. */
async function sent(head: string, body: string | Buffer = '', to = gateway) {
  const before = to.called.length;
  const answer = await to.sendRaw(`${head}`, body);
  return { ...answer, text: answer.body.toString(), name: to.called.slice(before).at(-1), event: to.events.at(-1) };
}

const envelope = (text: string) => JSON.parse(text) as { request_id: string; error?: { code: string } };

it('becomes an event with both header maps, both query maps and the context', async () => {
  const query = 'app_key=a%20b&x=1&x=2';
  const fields = 'X-One: 1\r\nX-One: 2\r\naccept: */*\r\nUser-Agent: test';
  const { event } = await sent(`POST /alert/merge?${query} HTTP/1.1\r\n${fields}`);
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
    const { name, event, status } = await sent(`POST ${path}${KEY} HTTP/1.1`);
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
    const { name, event } = await sent(`POST ${path}${KEY} HTTP/1.1`);
    expect(name).toBe('refuse-route');
    expect(event).toMatchObject({ resource: '/{proxy+}', pathParameters: { proxy } });
  });

  it('keeps the slashes that were sent in the path of the context', async () => {
    const { event } = await sent(`POST //alert/merge/${KEY} HTTP/1.1`);
    expect(event?.requestContext.path).toBe('/local//alert/merge/');
  });

  it('of no path is the root', async () => {
    expect((await sent('POST http://127.0.0.1 HTTP/1.1')).event?.resource).toBe('/');
    expect((await sent('POST http://127.0.0.1?x=1 HTTP/1.1')).event).toMatchObject({
      resource: '/',
      queryStringParameters: { x: '1' },
    });
  });
});

describe('a method', () => {
  it.each(['HEAD', 'POST', 'OPTIONS', 'PATCH'])('%s of the description goes to refuse-route', async (method) => {
    const { name, event } = await sent(`${method} /openapi.json HTTP/1.1`);
    expect(name).toBe('refuse-route');
    expect(event?.resource).toBe('/openapi.json');
  });

  it.each(['post', 'Post', 'BREW', '?'])('%s, which is none, is BadRequest in the envelope', async (method) => {
    const { status, text, headers } = await sent(`${method} /alert/merge${KEY} HTTP/1.1`);
    expect([status, envelope(text).error?.code]).toEqual([400, 'BadRequest']);
    expect(headers.get('svc-request-id')).toBe(envelope(text).request_id);
  });

  it.each(['TRACE', 'PROPFIND', 'CONNECT'])('%s, which no route has, is MethodNotAllowed', async (method) => {
    const { status, text, headers } = await sent(`${method} /alert/merge${KEY} HTTP/1.1`);
    expect([status, envelope(text).error?.code]).toEqual([405, 'MethodNotAllowed']);
    expect(headers.get('allow')).toBe('POST');
  });

  it('is that of X-HTTP-Method-Override, and of no other header', async () => {
    const overridden = await sent(`POST /alert/merge${KEY} HTTP/1.1\r\nX-HTTP-Method-Override: DELETE`);
    expect(overridden.name).toBe('refuse-route');
    expect(overridden.event?.httpMethod).toBe('DELETE');
    const others = 'X-HTTP-Method: DELETE\r\nX-Method-Override: DELETE';
    expect((await sent(`POST /alert/merge${KEY} HTTP/1.1\r\n${others}`)).name).toBe('merge-alerts');
  });
});

describe('a head', () => {
  it('with a key of 9 KB reaches the authorizer and the function', async () => {
    expect((await sent(`POST /alert/merge?app_key=${'k'.repeat(9_000)} HTTP/1.1`)).name).toBe('merge-alerts');
  });

  it.each([17_000, 60_000, 200_000])('with a key of %i bytes is BadRequest in the envelope', async (length) => {
    const { status, text, name } = await sent(`POST /alert/merge?app_key=${'k'.repeat(length)} HTTP/1.1`);
    expect([status, envelope(text).error?.code, name]).toEqual([400, 'BadRequest', undefined]);
  });

  it('with more than 10,240 bytes of headers is BadRequest in the envelope', async () => {
    const header = `X-Long: ${'x'.repeat(10_240)}`;
    const { status, text } = await sent(`POST /alert/merge${KEY} HTTP/1.1\r\n${header}`);
    expect([status, envelope(text).error?.code]).toEqual([400, 'BadRequest']);
  });

  it('without a host is BadRequest in the envelope', async () => {
    const { status, body } = await gateway.sendRaw(`POST /alert/merge${KEY} HTTP/1.1`, '', { host: '' });
    expect([status, envelope(body.toString()).error?.code]).toEqual([400, 'BadRequest']);
  });

  it.each(['POST /alert/merge HTTP/7.7', 'nonsense', 'POST /alert/merge HTTP/1.1\r\nno colon'])(
    '%j is BadRequest in the envelope',
    async (head) => {
      const { status, text } = await sent(head);
      expect([status, envelope(text).error?.code]).toEqual([400, 'BadRequest']);
    },
  );

  it.each(['App_Key=k', 'APP_KEY=k', 'app_key=', 'app_key', ''])('with the query %j has no key', async (query) => {
    const { status, text, name } = await sent(`POST /alert/merge?${query} HTTP/1.1`);
    expect([status, envelope(text).error?.code, name]).toEqual([401, 'Unauthorized', undefined]);
  });
});

describe('a body', () => {
  const post = (body: string | Buffer, headers = 'Content-Type: application/json') =>
    sent(`POST /alert/merge${KEY} HTTP/1.1${headers && `\r\n${headers}`}`, body);

  it.each(['application/json', 'text/plain; charset=utf-8', ''])('of type %j arrives in base64', async (type) => {
    const { event } = await post('{"é":1}', type && `Content-Type: ${type}`);
    expect(event).toMatchObject({ body: Buffer.from('{"é":1}').toString('base64'), isBase64Encoded: true });
  });

  it('that is no UTF-8 arrives byte for byte', async () => {
    const { event } = await post(Buffer.from([0x7b, 0xff, 0x7d]));
    expect(Buffer.from(event?.body ?? '', 'base64')).toEqual(Buffer.from([0x7b, 0xff, 0x7d]));
  });

  it('arrives as text with U+FFFD in it, where the template names no binary media types', async () => {
    const textual = await startGateway(
      edited((copy) => {
        for (const { Properties } of Object.values(resourcesOf(copy, 'AWS::ApiGateway::RestApi')))
          delete Properties.BinaryMediaTypes;
      }),
    );
    const { event } = await sent(`POST /alert/merge${KEY} HTTP/1.1`, Buffer.from([0x7b, 0xff, 0x7d]), textual);
    textual.stop();
    expect(event).toMatchObject({ body: '{\ufffd}', isBase64Encoded: false });
  });

  it('that is empty arrives as null', async () => {
    expect((await post('')).event).toMatchObject({ body: null, isBase64Encoded: false });
  });

  it("over 10 MB gets API Gateway's own text, whatever the path", async () => {
    for (const path of [`/alert/merge${KEY}`, '/alert/merge', '/nowhere']) {
      const { status, headers, text, name } = await sent(`POST ${path} HTTP/1.1`, Buffer.alloc(40 * MIB, 0x20));
      expect([status, text, name]).toEqual([413, 'HTTP content length exceeded 10485760 bytes.', undefined]);
      expect(headers.get('svc-request-id')).toBeNull();
    }
  });

  it("that makes an event over 6 MB gets API Gateway's own message, after the authorizer", async () => {
    const large = Buffer.alloc(4.6 * MIB, 0x20);
    const { status, headers, text, name } = await sent('POST /alert/merge?app_key=new HTTP/1.1', large);
    expect([status, text, name]).toEqual([413, '{"message": "Request Too Long"}', 'label-caller']);
    expect(headers.get('content-type')).toBe('application/json');
    expect((await sent('POST /alert/merge HTTP/1.1', large)).status).toBe(401);
  });

  it('of the largest size that a deployment can allow makes no event that is too large, whatever it holds', async () => {
    for (const byte of [0x00, 0x22, 0x20, 0xff]) {
      const { status, name } = await post(Buffer.alloc(3 * MIB, byte));
      expect([status, name]).toEqual([200, 'merge-alerts']);
    }
  });
});

describe('a request id', () => {
  const idOf = async (header: string) => {
    const answer = await sent(`POST /alert/merge HTTP/1.1${header}`);
    const ids = [answer.headers.get('x-amzn-requestid'), answer.headers.get('svc-request-id')];
    return [...ids, envelope(answer.text).request_id];
  };

  it('is new for each request', async () => {
    const [id, ...others] = await idOf('');
    expect(id).toMatch(/^[\da-f-]{36}$/);
    expect(others).toEqual([id, id]);
    expect(await idOf('')).not.toContain(id);
  });

  it("is the caller's where it chose one", async () => {
    expect(await idOf('\r\nX-Amzn-RequestId: chosen-$&')).toEqual(['chosen-$&', 'chosen-$&', 'chosen-$&']);
    expect((await sent(`POST /alert/merge${KEY} HTTP/1.1\r\nx-amzn-requestid: x`)).event?.requestContext).toMatchObject(
      {
        requestId: 'x',
        extendedRequestId: expect.stringMatching(/.{8}/),
      },
    );
  });
});

describe('an answer', () => {
  it.each(['', '*/*', 'image/png', 'application/json'])(
    'is the text of the function for Accept: %s',
    async (accept) => {
      const text = '{"data":"é"}';
      const answering = await startGateway(undefined, { answer: async () => ({ ...OK, body: text }) });
      const answer = await sent(`POST /alert/merge${KEY} HTTP/1.1${accept && `\r\nAccept: ${accept}`}`, '', answering);
      answering.stop();
      expect(answer.text).toBe(text);
    },
  );

  it('that takes more than 29 s is ServiceUnavailable', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const called = Promise.withResolvers<void>();
    const answer = () => {
      called.resolve();
      return new Promise(() => {});
    };
    const silent = await startGateway(undefined, { answer });
    const late = silent.sendRaw(`POST /alert/merge${KEY} HTTP/1.1`);
    await called.promise;
    vi.advanceTimersByTime(28_999);
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    const { status, body } = await late;
    vi.useRealTimers();
    silent.stop();
    expect([status, envelope(body.toString()).error?.code]).toEqual([503, 'ServiceUnavailable']);
  });
});

describe('compression', () => {
  const minCompressionSize = 1024;
  const large = `{"x":"${randomBytes(minCompressionSize).toString('hex')}"}`;
  const post = (body: Buffer, coding: string) =>
    sent(`POST /alert/merge${KEY} HTTP/1.1\r\nContent-Encoding: ${coding}`, body);

  it('of a request is undone', async () => {
    for (const coding of ['gzip', 'GZIP']) {
      const { event } = await post(gzipSync(large), coding);
      expect(Buffer.from(event?.body ?? '', 'base64').toString()).toBe(large);
    }
  });

  it('of a request of fewer bytes than the setting is left to the function', async () => {
    const { event } = await post(gzipSync('{}'), 'gzip');
    expect(event?.body).toBe(gzipSync('{}').toString('base64'));
  });

  it('that API Gateway does not have, or that is not what it says, is refused', async () => {
    for (const [body, coding] of [
      [Buffer.from('{}'), 'br'],
      [randomBytes(2 * minCompressionSize), 'gzip'],
      [gzipSync(large), 'deflate'],
    ] as const) {
      const { status, text } = await post(body, coding);
      expect([status, envelope(text).error?.code]).toEqual([400, 'InvalidContentType']);
    }
  });

  it('of a request does not lift the limit of 10 MB', async () => {
    expect((await post(gzipSync(Buffer.alloc(10 * MIB + 1)), 'gzip')).status).toBe(413);
  });

  describe('of an answer', () => {
    const bodyOf = (size: number) => 'x'.repeat(size);
    async function answered(accept: string, size: number, headers: Record<string, string> = {}) {
      const answering = await startGateway(undefined, { answer: async () => ({ ...OK, headers, body: bodyOf(size) }) });
      const fields = accept && `\r\nAccept-Encoding: ${accept}`;
      const answer = await sent(`POST /alert/merge${KEY} HTTP/1.1${fields}`, '', answering);
      answering.stop();
      return answer;
    }

    it.each([
      ['gzip', 'gzip'],
      ['deflate', 'deflate'],
      ['gzip, deflate, br', 'gzip'],
      ['deflate;q=0.5, gzip', 'gzip'],
      ['br;q=0.1, *;q=0, gzip;q=0.2', 'gzip'],
    ])('is done for Accept-Encoding: %s', async (accept, coding) => {
      const { headers, body } = await answered(accept, minCompressionSize);
      expect(headers.get('content-encoding')).toBe(coding);
      const undo = coding === 'gzip' ? gunzipSync : inflateSync;
      expect(undo(body).toString()).toBe(bodyOf(minCompressionSize));
    });

    it.each(['', 'identity', 'br', 'br, gzip;q=0.5', '*', 'gzip;q=0'])(
      'is not done for Accept-Encoding: %s',
      async (accept) => {
        const { headers, text } = await answered(accept, minCompressionSize);
        expect(headers.get('content-encoding')).toBeNull();
        expect(text).toBe(bodyOf(minCompressionSize));
      },
    );

    it('is not done below the size of the template, or where the function did it', async () => {
      expect((await answered('gzip', minCompressionSize - 1)).headers.get('content-encoding')).toBeNull();
      const own = await answered('gzip', minCompressionSize, { 'content-encoding': 'br' });
      expect(own.headers.get('content-encoding')).toBe('br');
    });
  });
});
