import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { getRumResource } from '../../lib/http/operations.ts';
import { newCaller } from '../support/accounts.ts';
import { expectEnvelope } from '../support/answers.ts';
import {
  type Answer,
  callAlone,
  callOperation,
  type EventOptions,
  eventFor,
  handlersOver,
  invoke,
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
const typed = (type: string, rawBody: string | null = null) => ({ headers: { 'Content-Type': type }, rawBody });
/** A body of so many bytes, most of them of characters of two bytes. */
const ofSize = (bytes: number) => `{"x":"${'é'.repeat((bytes - 8 - (bytes % 2)) / 2)}${bytes % 2 ? 'y' : ''}"}`;
/** Arrays or objects in each other, in a field that is ignored. */
const nested = (levels: number, open = '[', inner = '1') =>
  `{"x":${open.repeat(levels - 1)}${inner}${(open === '[' ? ']' : '}').repeat(levels - 1)}}`;

it.each<[string, ...EventOptions[]]>([
  [
    'in any spelling of its content type',
    ...['application/json', 'APPLICATION/Json', 'application/json; charset=utf-8', ' application/json '].map((type) =>
      typed(type),
    ),
    ...['application/json;charset=utf-8', 'application/json ; x=y'].map((type) => typed(type, '{}')),
  ],
  ['that is absent or empty, which counts as {}', { rawBody: null }, { rawBody: '' }, base64('')],
  ['of the largest size, counted in decoded bytes', { rawBody: ofSize(MAX) }, base64(ofSize(MAX))],
  ['in base64, as the text that it holds', base64('{"no_cache":true,"é":1}')],
  [
    'that is JSON whatever its Content-Encoding says, since API Gateway has decoded it',
    ...['gzip', 'identity'].map((coding) => ({ headers: { 'Content-Encoding': coding }, rawBody: '{}' })),
  ],
  [
    'nested 1,000 levels deep',
    ...['[', '{"a":', '{"é":'].flatMap((open) =>
      ['1', '1e3', '"[{"'].map((inner) => ({ rawBody: nested(1_000, open, inner) })),
    ),
  ],
  [
    'with an Idempotency-Key of any form, which this operation ignores',
    ...['', 'x'.repeat(256), ['a', 'b']].map((key) => ({ headers: { 'Idempotency-Key': key } })),
  ],
])('a body %s is accepted', async (_what, ...all) => {
  for (const options of all) accepted(await call(options));
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
])('a body with the unknown field %s is accepted', async (field) => {
  for (const rawBody of [`{${field}}`, `{"no_cache":true,${field}}`, `{${field},"no_cache":true}`])
    accepted(await call({ rawBody }));
});

const malformed = (line: number, column: number) =>
  `The request body must be valid JSON in UTF-8: it has a syntax error at line ${line}, column ${column}.`;
it.each<[message: string, ...bodies: EventOptions[]]>([
  [
    'The request body must be a JSON object.',
    ...['null', '[]', '[{}]', '1', '"{}"', 'true'].map((rawBody) => ({ rawBody })),
  ],
  [malformed(1, 2), { rawBody: '{' }, { rawBody: ' ' }, { rawBody: "{'a':1}" }],
  [malformed(3, 1), { rawBody: '{\n  "a": 1,\r\n}' }],
  [malformed(1, 7), { rawBody: '{"😀":"\n"}' }],
  [malformed(1, 1), { rawBody: '\ufeff{}' }],
  [
    'The request body may be nested at most 1000 levels deep. Reduce the nesting.',
    ...[1_001, 10_000, 30_000].flatMap((levels) =>
      ['[', '{"a":', '{"é":'].map((open) => ({ rawBody: nested(levels, open, '"[{"') })),
    ),
  ],
  // Bytes that are not UTF-8.
  [
    'UTF-8',
    base64(Uint8Array.from([0x7b, 0xff, 0x7d])),
    base64(Uint8Array.from([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d])),
    base64(Uint8Array.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])),
  ],
  ['no_cache', base64('{"no_cache":"é"}')],
])('a body is InvalidParameter: %s', async (message, ...bodies) => {
  for (const options of bodies) {
    const answer = await call(options);
    expectEnvelope(answer, 400, 'InvalidParameter');
    expect(answer.body.error.message).toContain(message);
  }
});

it('a body that is still encoded is BadRequest, which names the encoding', async () => {
  for (const [name, coding, bytes] of [
    ['Content-Encoding', 'gzip', gzipSync('{}')],
    ['content-encoding', 'BR', brotliCompressSync('{}')],
    ['Content-Encoding', 'x-own', Buffer.from('own')],
  ] as const) {
    const options = { appKey, headers: { [name]: coding }, ...base64(bytes) };
    const answer = await callAlone(handlers, getRumResource, options);
    expectEnvelope(answer, 400, 'BadRequest');
    expect(answer.body.error.message).toContain(`Content-Encoding ${coding}`);
  }
});

describe('the content type', () => {
  const sent = (headers: Record<string, string> | null, body: string | null) =>
    invoke(handlers.getRumResource, { ...eventFor(getRumResource, { appKey }), headers: headers as never, body });

  it.each([
    'text/plain',
    'application/jsonp',
    'application/json, text/plain',
    'application/json-patch+json',
    'application/problem+json',
    'text/plain; application/json',
    'application /json',
  ])('%j is InvalidContentType, with a body or without', async (type) => {
    for (const rawBody of ['{}', null]) expectEnvelope(await call(typed(type, rawBody)), 400, 'InvalidContentType');
  });

  it.each([{}, null, { 'Content-Type': '' }])('may be absent or empty (%j) only without a body', async (headers) => {
    expectEnvelope(await sent(headers, '{}'), 400, 'InvalidContentType');
    for (const body of [null, '']) accepted(await sent(headers, body));
  });

  it('is found whatever the letter case of its name', async () => {
    accepted(await sent({ 'CONTENT-type': 'application/json' }, '{}'));
  });
});

describe('the largest size of a body', () => {
  it('is 256 KiB, counted decoded: one byte more is EntityTooLarge', async () => {
    for (const options of [{ rawBody: ofSize(MAX + 1) }, base64(ofSize(MAX + 1))]) {
      const answer = await call(options);
      expectEnvelope(answer, 413, 'EntityTooLarge');
      expect(answer.body.error.message).toContain(String(MAX));
    }
  });

  it('is a setting', async () => {
    const small = handlersOver(testDeps(table, { settings: { maxBodyBytes: 1_024 } }));
    const sendBytes = (bytes: number) => callOperation(small, getRumResource, { appKey, rawBody: ofSize(bytes) });
    accepted(await sendBytes(1_024));
    expectEnvelope(await sendBytes(1_025), 413, 'EntityTooLarge');
  });
});
