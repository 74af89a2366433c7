/** How the local gateway handles bodies: as docs/aws-behaviour.md says that API Gateway does. */
import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codeIn, OK, startGateway } from './fake-functions.ts';

const MIB = 1024 * 1024;
const MERGE = 'POST /alert/merge?app_key=k HTTP/1.1';
const gateway = await startGateway();

describe('a body', () => {
  const post = (body: string | Buffer, headers = 'Content-Type: application/json') =>
    gateway.sendRaw(`${MERGE}${headers && `\r\n${headers}`}`, body);

  it.each(['application/json', 'text/plain; charset=utf-8', ''])('of type %j arrives in base64', async (type) => {
    const { event } = await post('{"é":1}', type && `Content-Type: ${type}`);
    expect(event).toMatchObject({ body: Buffer.from('{"é":1}').toString('base64'), isBase64Encoded: true });
  });

  it('that is not UTF-8 arrives byte for byte, an empty one as null', async () => {
    const { event } = await post(Buffer.from([0x7b, 0xff, 0x7d]));
    expect(Buffer.from(event?.body ?? '', 'base64')).toEqual(Buffer.from([0x7b, 0xff, 0x7d]));
    expect((await post('')).event).toMatchObject({ body: null, isBase64Encoded: false });
  });

  it("over 10 MB gets API Gateway's own text, whatever the path", async () => {
    for (const path of ['/alert/merge?app_key=k', '/alert/merge', '/nowhere']) {
      const { status, headers, text, name } = await gateway.sendRaw(
        `POST ${path} HTTP/1.1`,
        Buffer.alloc(40 * MIB, 0x20),
      );
      expect([status, text, name]).toEqual([413, 'HTTP content length exceeded 10485760 bytes.', undefined]);
      expect([headers.get('svc-request-id'), headers.get('x-amzn-requestid')]).toEqual([null, null]);
    }
  });

  it("that makes an event over 6 MB gets API Gateway's own message, after the authorizer", async () => {
    const largeBody = Buffer.alloc(4.6 * MIB, 0x20);
    const { status, headers, text, name } = await gateway.sendRaw('POST /alert/merge?app_key=new HTTP/1.1', largeBody);
    expect([status, text, name]).toEqual([413, '{"message": "Request Too Long"}', 'usage-key-authorizer']);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('x-amzn-requestid')).toMatch(/^[\da-f-]{36}$/);
    expect((await gateway.sendRaw('POST /alert/merge HTTP/1.1', largeBody)).status).toBe(401);
  });

  it('of the largest allowed size never makes an event that is too large', async () => {
    for (const byte of [0x00, 0xff]) expect((await post(Buffer.alloc(3 * MIB, byte))).status).toBe(200);
  });
});

describe('compression', () => {
  const minCompressionSize = 1024;
  const largeBody = `{"x":"${randomBytes(minCompressionSize).toString('hex')}"}`;
  const post = (body: Buffer, coding: string) => gateway.sendRaw(`${MERGE}\r\nContent-Encoding: ${coding}`, body);

  it('of a request body is removed', async () => {
    for (const coding of ['gzip', 'GZIP']) {
      const { event } = await post(gzipSync(largeBody), coding);
      expect(Buffer.from(event?.body ?? '', 'base64').toString()).toBe(largeBody);
    }
  });

  it('of a request body below the minimum size is left to the function', async () => {
    const { event } = await post(gzipSync('{}'), 'gzip');
    expect(event?.body).toBe(gzipSync('{}').toString('base64'));
  });

  it('that is unknown, or that the body does not have, is refused', async () => {
    for (const [body, coding] of [
      [Buffer.from('{}'), 'br'],
      [randomBytes(2 * minCompressionSize), 'gzip'],
      [gzipSync(largeBody), 'deflate'],
    ] as const) {
      const { status, text } = await post(body, coding);
      expect([status, codeIn(text)]).toEqual([400, 'BadRequest']);
      expect(text).toContain('Content-Encoding');
    }
  });

  it('of a request body does not raise the limit of 10 MB', async () => {
    expect((await post(gzipSync(Buffer.alloc(10 * MIB + 1)), 'gzip')).status).toBe(413);
  });

  const bodyOf = (size: number) => 'x'.repeat(size);
  async function answered(accept: string, size: number, headers: Record<string, string> = {}) {
    const answering = await startGateway(undefined, { answer: async () => ({ ...OK, headers, body: bodyOf(size) }) });
    const answer = await answering.sendRaw(`${MERGE}${accept && `\r\nAccept-Encoding: ${accept}`}`);
    return { ...answer, coding: answer.headers.get('content-encoding') };
  }

  it.each([
    ['deflate', 'deflate'],
    ['gzip, deflate, br', 'gzip'],
    ['deflate;q=0.5, gzip', 'gzip'],
    ['br;q=0.1, *;q=0, gzip;q=0.2', 'gzip'],
  ])('of an answer is done for Accept-Encoding: %s', async (accept, expected) => {
    const { coding, body } = await answered(accept, minCompressionSize);
    expect(coding).toBe(expected);
    const decompress = coding === 'gzip' ? gunzipSync : inflateSync;
    expect(decompress(body).toString()).toBe(bodyOf(minCompressionSize));
  });

  it.each(['', 'br', 'br, gzip;q=0.5', '*', 'gzip;q=0'])(
    'of an answer is not done for Accept-Encoding: %s',
    async (accept) => {
      const { coding, text } = await answered(accept, minCompressionSize);
      expect([coding, text]).toEqual([null, bodyOf(minCompressionSize)]);
    },
  );

  it('of an answer is not done below the minimum size, or if the function did it', async () => {
    expect((await answered('gzip', minCompressionSize - 1)).coding).toBeNull();
    expect((await answered('gzip', minCompressionSize, { 'content-encoding': 'br' })).coding).toBe('br');
  });
});
