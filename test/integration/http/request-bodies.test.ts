/** How a function reads bodies in the forms that API Gateway passes on. The contract has the other rules of bodies. */
import { expect, it } from 'vitest';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { callAlone, type EventOptions, handlersOver, newTable, testDeps } from '../../support/service.ts';

const MAX_BYTES = 262_144;
const table = await newTable();
const handlers = handlersOver(testDeps(table));
const { appKey } = await newCaller(table);

const call = (options: EventOptions, sentTo = handlers) => callAlone(sentTo, getRumResource, { appKey, ...options });
const base64 = (bytes: Uint8Array | string) => ({
  rawBody: Buffer.from(bytes).toString('base64'),
  isBase64Encoded: true,
});
/** A body of this many bytes, made mostly of two-byte characters. */
const ofSize = (bytes: number) => `{"x":"${'é'.repeat((bytes - 8 - (bytes % 2)) / 2)}${bytes % 2 ? 'y' : ''}"}`;

it.each<[string, ...EventOptions[]]>([
  ['that is absent or empty, which counts as {}', { rawBody: null }, { rawBody: '' }, base64('')],
  ['of the largest size, counted in decoded bytes', { rawBody: ofSize(MAX_BYTES) }, base64(ofSize(MAX_BYTES))],
  [
    'that is JSON whatever its Content-Encoding says, since API Gateway has decoded it',
    ...['gzip', 'identity'].map((coding) => ({ headers: { 'Content-Encoding': coding }, rawBody: '{}' })),
  ],
  [
    'with an Idempotency-Key of any form, which this operation ignores',
    ...['', 'x'.repeat(256), ['a', 'b']].map((key) => ({ headers: { 'Idempotency-Key': key } })),
  ],
])('a body %s is accepted', async (_what, ...requests) => {
  // It passed all checks: the account has no RUM resource.
  for (const options of requests) expectEnvelope(await call(options), 400, 'ResourceNotFound');
});

it.each(['7bff7d', '7b22c3223a317d', '7b22eda080223a317d'])('a body of the bytes %s is not UTF-8', async (hex) => {
  const answer = await call(base64(Buffer.from(hex, 'hex')));
  expectEnvelope(answer, 400, 'InvalidParameter');
  expect(answer.body.error.message).toContain('UTF-8');
});

it('the largest size of a body is 256 KiB, counted decoded, or what the setting says', async () => {
  const smallHandlers = handlersOver(testDeps(table, { settings: { maxBodyBytes: 1_024 } }));
  expectEnvelope(await call({ rawBody: ofSize(1_024) }, smallHandlers), 400, 'ResourceNotFound');
  for (const [options, sentTo, maxBytes] of [
    [{ rawBody: ofSize(MAX_BYTES + 1) }, handlers, MAX_BYTES],
    [base64(ofSize(MAX_BYTES + 1)), handlers, MAX_BYTES],
    [{ rawBody: ofSize(1_025) }, smallHandlers, 1_024],
  ] as const) {
    const answer = await call(options, sentTo);
    expectEnvelope(answer, 413, 'EntityTooLarge');
    expect(answer.body.error.message).toContain(String(maxBytes));
  }
});
