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
  newTable,
  testDeps,
} from '../support/service.ts';

const MAX_BYTES = 262_144;
const table = await newTable();
const handlers = handlersOver(testDeps(table));
const { appKey } = await newCaller(table);

const call = (options: EventOptions): Promise<Answer> =>
  callOperation(handlers, getRumResource, { appKey, ...options });
/** The body passed all checks: the account has no RUM resource. */
const expectAccepted = (answer: Answer) => expectEnvelope(answer, 400, 'ResourceNotFound');
const base64 = (bytes: Uint8Array | string) => ({
  rawBody: Buffer.from(bytes).toString('base64'),
  isBase64Encoded: true,
});
/** A body of this many bytes, made mostly of two-byte characters. */
const ofSize = (bytes: number) => `{"x":"${'é'.repeat((bytes - 8 - (bytes % 2)) / 2)}${bytes % 2 ? 'y' : ''}"}`;
/** A body with nested arrays or objects in a field that is ignored. */
const nested = (levels: number, open = '[', inner = '1') =>
  `{"x":${open.repeat(levels - 1)}${inner}${(open === '[' ? ']' : '}').repeat(levels - 1)}}`;

it.each<[string, ...EventOptions[]]>([
  ['that is absent or empty, which counts as {}', { rawBody: null }, { rawBody: '' }, base64('')],
  ['of the largest size, counted in decoded bytes', { rawBody: ofSize(MAX_BYTES) }, base64(ofSize(MAX_BYTES))],
  ['in base64, which is decoded,', base64('{"no_cache":true,"é":1}')],
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
    'with unknown fields, which are ignored whatever their names',
    // One field at a time: some make the exact parser read the whole body.
    ...[
      ...['"x":1e400', '"x":9007199254740993', '"x":[[],{},{"y":null}]', '"":0', '"\\ud800":1', '"valueOf":"\\ud800"'],
      ...['constructor', 'prototype', 'toString', 'hasOwnProperty'].map((name) => `"${name}":1`),
      ...['"constructor":{"prototype":{"no_cache":7}}', '"__proto__":1', '"x":{"__proto__":{"no_cache":7}}'],
      ...['"__proto__":{"no_cache":7}', '"\\u005f_proto__":{"no_cache":7}'],
    ].flatMap((field) =>
      [`{${field}}`, `{"no_cache":true,${field}}`, `{${field},"no_cache":true}`].map((rawBody) => ({ rawBody })),
    ),
  ],
  [
    'with an Idempotency-Key of any form, which this operation ignores',
    ...['', 'x'.repeat(256), ['a', 'b']].map((key) => ({ headers: { 'Idempotency-Key': key } })),
  ],
])('a body %s is accepted', async (_what, ...requests) => {
  for (const options of requests) expectAccepted(await call(options));
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
  [malformed(1, 1), { rawBody: '\ufeff{}' }],
  [
    'The request body may be nested at most 1000 levels deep. Reduce the nesting.',
    ...[1_001, 30_000].flatMap((levels) =>
      ['[', '{"a":', '{"é":'].map((open) => ({ rawBody: nested(levels, open, '"[{"') })),
    ),
  ],
  // Bytes that are not UTF-8.
  ['UTF-8', ...['7bff7d', '7b22c3223a317d', '7b22eda080223a317d'].map((hex) => base64(Buffer.from(hex, 'hex')))],
  // If a field occurs twice, its last value counts.
  ['no_cache', base64('{"no_cache":"é"}'), { rawBody: '{"no_cache":true,"no_cache":7}' }],
])('a body is InvalidParameter: %s', async (message, ...bodies) => {
  for (const options of bodies) {
    const answer = await call(options);
    expectEnvelope(answer, 400, 'InvalidParameter');
    expect(answer.body.error.message).toContain(message);
  }
});

describe('the content type', () => {
  const send = (headers: Record<string, string> | null, body: string | null) =>
    invoke(handlers.getRumResource, { ...eventFor(getRumResource, { appKey }), headers: headers as never, body });
  const JSON_TYPES = ['application/json', 'APPLICATION/Json', ' application/json ', 'application/json ; x=y'];
  const OTHER_TYPES = [
    ...['text/plain', 'application/jsonp', 'application/json, text/plain', 'application/json-patch+json'],
    ...['application/problem+json', 'text/plain; application/json', 'application /json'],
  ];

  it('is JSON in any spelling, and with parameters', async () => {
    for (const type of [...JSON_TYPES, 'application/json;charset=utf-8'])
      for (const body of ['{}', null]) expectAccepted(await send({ 'CONTENT-type': type }, body));
  });

  it('of any other kind is InvalidContentType, with a body or without', async () => {
    for (const type of OTHER_TYPES)
      for (const body of ['{}', null])
        expectEnvelope(await send({ 'Content-Type': type }, body), 400, 'InvalidContentType');
  });

  it('may be absent or empty only without a body', async () => {
    for (const headers of [{}, null, { 'Content-Type': '' }]) {
      expectEnvelope(await send(headers, '{}'), 400, 'InvalidContentType');
      for (const body of [null, '']) expectAccepted(await send(headers, body));
    }
  });
});

it('the largest size of a body is 256 KiB, counted decoded, or what the setting says', async () => {
  const handlersWithSmallLimit = handlersOver(testDeps(table, { settings: { maxBodyBytes: 1_024 } }));
  expectAccepted(await callOperation(handlersWithSmallLimit, getRumResource, { appKey, rawBody: ofSize(1_024) }));
  for (const [options, sentTo, maxBytes] of [
    [{ rawBody: ofSize(MAX_BYTES + 1) }, handlers, MAX_BYTES],
    [base64(ofSize(MAX_BYTES + 1)), handlers, MAX_BYTES],
    [{ rawBody: ofSize(1_025) }, handlersWithSmallLimit, 1_024],
  ] as const) {
    const answer = await callOperation(sentTo, getRumResource, { appKey, ...options });
    expectEnvelope(answer, 413, 'EntityTooLarge');
    expect(answer.body.error.message).toContain(String(maxBytes));
  }
});
