import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { getRumResource } from '../../lib/http/operations.ts';
import { newCaller } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import {
  type Answer,
  callOperation,
  type EventOptions,
  eventFor,
  handlersOver,
  invoke,
  invokeAlone,
  newTable,
  testDeps,
} from '../support/service.ts';

const MAX = 262_144;
const table = await newTable();
const handlers = handlersOver(testDeps(table));
const { appKey } = await newCaller(table);

const call = (options: EventOptions): Promise<Answer> =>
  callOperation(handlers, getRumResource, { appKey, ...options });
/** The body passed all checks: the account has no RUM resource. */
const accepted = (answer: Answer) => expectEnvelope(answer, 400, 'ResourceNotFound');
const base64 = (bytes: Uint8Array | string) => ({
  rawBody: Buffer.from(bytes).toString('base64'),
  isBase64Encoded: true,
});

describe('the content type', () => {
  it.each([
    'application/json',
    'APPLICATION/Json',
    'application/json; charset=utf-8',
    'application/json;charset=utf-8',
    'application/json ; x=y',
    ' application/json ',
  ])('%j is accepted', async (type) => accepted(await call({ headers: { 'Content-Type': type } })));

  it('is found whatever the letter case of its name', async () => {
    const event = eventFor(getRumResource, { appKey });
    accepted(await invoke(handlers.getRumResource, { ...event, headers: { 'CONTENT-type': 'application/json' } }));
  });

  it.each([
    'text/plain',
    'application/jsonp',
    'application/json, text/plain',
    'application/json-patch+json',
    'application/problem+json',
    'text/plain; application/json',
    'application /json',
  ])('%j is InvalidContentType', async (type) => {
    for (const rawBody of ['{}', null])
      expectEnvelope(await call({ headers: { 'Content-Type': type }, rawBody }), 400, 'InvalidContentType');
  });

  const NONE = [{}, null, { 'Content-Type': '' }] as { 'Content-Type'?: string }[];
  it.each(NONE)('that is absent or empty (%j) is InvalidContentType with a body', async (headers) => {
    const event = eventFor(getRumResource, { appKey, rawBody: '{}' });
    expectEnvelope(await invoke(handlers.getRumResource, { ...event, headers }), 400, 'InvalidContentType');
  });

  it.each(NONE)('is not needed without a body (%j), which counts as {}', async (headers) => {
    const event = eventFor(getRumResource, { appKey });
    for (const body of [null, '']) accepted(await invoke(handlers.getRumResource, { ...event, headers, body }));
  });
});

describe('the size of the body', () => {
  const ofSize = (bytes: number) => `{"x":"${'é'.repeat((bytes - 8 - (bytes % 2)) / 2)}${bytes % 2 ? 'y' : ''}"}`;

  it('is measured in bytes: exactly the maximum passes, one more is EntityTooLarge', async () => {
    expect(Buffer.byteLength(ofSize(MAX))).toBe(MAX);
    accepted(await call({ rawBody: ofSize(MAX) }));
    const answer = await call({ rawBody: ofSize(MAX + 1) });
    expectEnvelope(answer, 413, 'EntityTooLarge');
    expect(answer.body.error.message).toContain('262144');
  });

  it('is measured decoded when it comes as base64', async () => {
    accepted(await call(base64(ofSize(MAX))));
    expectEnvelope(await call(base64(ofSize(MAX + 1))), 413, 'EntityTooLarge');
  });

  it('is a setting', async () => {
    const table = await newTable();
    const small = handlersOver(testDeps(table, { settings: { maxBodyBytes: 1024 } }));
    const caller = await newCaller(table);
    const sendBytes = (bytes: number) =>
      callOperation(small, getRumResource, { appKey: caller.appKey, rawBody: ofSize(bytes) });
    accepted(await sendBytes(1024));
    expectEnvelope(await sendBytes(1025), 413, 'EntityTooLarge');
  });
});

describe('a body', () => {
  it.each([null, ''])('that is %j counts as {}', async (rawBody) => accepted(await call({ rawBody })));

  it('that is empty in base64 counts as {}', async () => accepted(await call(base64(''))));

  it.each(['null', '[]', '[{}]', '1', '"{}"', 'true'])('%s is no JSON object: InvalidParameter', async (rawBody) => {
    const answer = await call({ rawBody });
    expectEnvelope(answer, 400, 'InvalidParameter');
    expect(answer.body.error.message).toBe('The request body must be a JSON object.');
  });

  it.each([
    ['{', 1, 2],
    ['{"a":}', 1, 6],
    ["{'a':1}", 1, 2],
    ['{\n  "a": 1,\r\n}', 3, 1],
    ['{}{}', 1, 3],
    [' ', 1, 2],
    ['{"a":01}', 1, 7],
    ['{"a":NaN}', 1, 6],
    ['{"😀":"\n"}', 1, 7],
    ['\ufeff{}', 1, 1],
  ])('%j is malformed: InvalidParameter that says where and does not quote it', async (rawBody, line, column) => {
    const answer = await call({ rawBody });
    expectEnvelope(answer, 400, 'InvalidParameter');
    expect(answer.body.error.message).toBe(
      `The request body must be valid JSON in UTF-8: it is not at line ${line}, column ${column}.`,
    );
  });

  it.each([
    [0x7b, 0xff, 0x7d],
    [0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d],
    [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d],
  ])('that is not UTF-8 is InvalidParameter: %i %i %i', async (...bytes) => {
    expectEnvelope(await call(base64(Uint8Array.from(bytes))), 400, 'InvalidParameter');
  });

  it('that is still encoded is BadRequest, which names the encoding', async () => {
    for (const [name, coding, bytes] of [
      ['Content-Encoding', 'gzip', gzipSync('{}')],
      ['content-encoding', 'BR', brotliCompressSync('{}')],
      ['Content-Encoding', 'x-own', Buffer.from('own')],
    ] as const) {
      const event = eventFor(getRumResource, { appKey, headers: { [name]: coding }, ...base64(bytes) });
      const answer = await invokeAlone(handlers.getRumResource, event);
      expectEnvelope(answer, 400, 'BadRequest');
      expect(answer.body.error.message).toContain(`Content-Encoding ${coding}`);
    }
  });

  it('that is JSON is read whatever its Content-Encoding says, since API Gateway has decoded it', async () => {
    for (const coding of ['gzip', 'identity'])
      accepted(await call({ headers: { 'Content-Encoding': coding }, rawBody: '{}' }));
  });

  it('in base64 is read as the text it holds', async () => {
    expectEnvelope(await call(base64('{"no_cache":"é"}')), 400, 'InvalidParameter');
    accepted(await call(base64('{"no_cache":true,"é":1}')));
  });

  it('may be nested 1,000 levels deep, also in an ignored field; deeper is InvalidParameter that says so', async () => {
    for (const open of ['[', '{"a":', '{"é":'])
      for (const inner of ['1', '1e3', '"[{"']) {
        const nested = (levels: number) =>
          call({ rawBody: `{"x":${open.repeat(levels - 1)}${inner}${(open === '[' ? ']' : '}').repeat(levels - 1)}}` });
        accepted(await nested(1_000));
        for (const levels of [1_001, 10_000, 30_000]) {
          const answer = await nested(levels);
          expectEnvelope(answer, 400, 'InvalidParameter');
          expect(answer.body.error.message).toBe(
            'The request body may be nested at most 1000 levels deep. Reduce the nesting.',
          );
        }
      }
  });

  // One field at a time: some make the exact parser read the whole body.
  it.each([
    '"x":1e400',
    '"x":9007199254740993',
    '"x":[[],{},{"y":null}]',
    '"":0',
    '"constructor":{"prototype":{"no_cache":7}}',
    '"constructor":1',
    '"prototype":1',
    '"toString":1',
    '"hasOwnProperty":1',
    '"__proto__":{"no_cache":7}',
    '"__proto__":1',
    '"\\u005f_proto__":{"no_cache":7}',
    '"x":{"__proto__":{"no_cache":7}}',
    '"valueOf":"\\ud800"',
    '"\\ud800":1',
  ])('with the unknown field %s is accepted', async (field) => {
    accepted(await call({ rawBody: `{${field}}` }));
    accepted(await call({ rawBody: `{"no_cache":true,${field}}` }));
    accepted(await call({ rawBody: `{${field},"no_cache":true}` }));
  });
});

describe('an Idempotency-Key', () => {
  it.each(['', 'x'.repeat(256), ['a', 'b']])('is ignored by an operation that takes none: %j', async (key) => {
    accepted(await call({ headers: { 'Idempotency-Key': key } }));
  });
});
