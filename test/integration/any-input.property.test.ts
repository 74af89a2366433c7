import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../lib/http/errors.ts';
import { createFallbackRoute } from '../../lib/http/fallback-route.ts';
import { CATALOGS } from '../../lib/http/messages/index.ts';
import { allowedMethods, operationIdOf, operations } from '../../lib/http/operations.ts';
import { newCaller } from '../support/accounts.ts';
import { anyText } from '../support/any-text.ts';
import { type Answer, eventFor, handlersOver, invokeAlone, NOW, newTable, testDeps } from '../support/service.ts';

const clock = { now: NOW };
const table = await newTable();
const deps = testDeps(table, { now: () => clock.now });
const handlers = handlersOver(deps);
const refuse = createFallbackRoute(deps, allowedMethods());
const { appKey } = await newCaller(table);

function expectWellFormed(answer: Answer, requestId: string): void {
  const { status, headers, body } = answer;
  expect(status).toBeLessThan(500);
  expect(headers['Svc-Request-Id']).toBe(requestId);
  expect(body.request_id).toBe(requestId);
  expect(headers['Content-Type']).toMatch(/^application\/json/);
  for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/);
  if (status === 200) {
    expect(Object.keys(body)).toEqual(['request_id', 'data']);
    return;
  }
  expect(Object.keys(body)).toEqual(['request_id', 'error']);
  const { code, message } = body.error as { code: ErrorCode; message: string };
  expect(ERROR_CODES[code].status).toBe(status);
  expect('reserved' in ERROR_CODES[code]).toBe(false);
  expect(message.length).toBeGreaterThan(0);
  expect(CATALOGS.map(({ language }) => language)).toContain(headers['Content-Language']);
}

const FIELDS = operations.flatMap(({ request }) => Object.keys(request.properties));
const value = fc.oneof(
  fc.jsonValue(),
  fc.bigInt().map(String),
  fc.array(fc.oneof(anyText, fc.integer(), fc.stringMatching(/^[0-9a-f]{24}$/)), { maxLength: 22 }),
  fc.stringMatching(/^[0-9a-fA-F]{24}$/),
  fc.integer(),
);
const nearlyValid = fc
  .dictionary(fc.oneof(fc.constantFrom(...FIELDS), anyText), value)
  .map((body) => JSON.stringify(body));
const rawBody = fc.oneof(
  nearlyValid.map((body) => ({ body, isBase64Encoded: false })),
  nearlyValid.map((body) => ({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true })),
  fc.json().map((body) => ({ body, isBase64Encoded: false })),
  fc.record({ body: anyText, isBase64Encoded: fc.boolean() }),
  fc.uint8Array({ maxLength: 300 }).map((b) => ({ body: Buffer.from(b).toString('base64'), isBase64Encoded: true })),
  fc.constant({ body: null, isBase64Encoded: false }),
);
const headerName = fc.oneof(
  fc.constantFrom('Accept-Language', 'accept-language', 'content-type', 'Idempotency-Key', 'Host', '__proto__'),
  anyText,
);
const headers = fc.oneof(fc.dictionary(headerName, anyText), fc.constant(null));
const contentType = fc.constantFrom('application/json', undefined, 'text/plain');
const keyGiven = fc.constantFrom('valid', 'valid', 'valid', 'other', 'twice', 'none');
const query = fc.dictionary(anyText, anyText);

describe('any bytes as body, any headers, any query', () => {
  it('give a well-formed envelope whose request_id is also in the header Svc-Request-Id, never a 5xx, on every operation', async () => {
    const reached = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...operations),
        rawBody,
        headers,
        contentType,
        keyGiven,
        query,
        async (operation, body, given, type, key, more) => {
          clock.now += 2_500; // stays within the rate limit of fleet browse
          const keys = { valid: [appKey], other: ['other'], twice: [appKey, appKey], none: [] }[key] ?? [];
          const last = keys.at(-1);
          const event = {
            ...eventFor(operation),
            ...body,
            headers: given && { ...given, ...(type && { 'Content-Type': type }) },
            multiValueHeaders: given && Object.fromEntries(Object.entries(given).map(([name, one]) => [name, [one]])),
            queryStringParameters: { ...more, ...(last && { app_key: last }) },
            multiValueQueryStringParameters: {
              ...Object.fromEntries(Object.entries(more).map(([name, one]) => [name, [one]])),
              ...(last && { app_key: keys }),
            },
          } as ReturnType<typeof eventFor>;
          const answer = await invokeAlone(handlers[operationIdOf(operation.name)], event);
          expectWellFormed(answer, event.requestContext.requestId);
          reached.add(`${operation.name} ${answer.body.error?.code ?? 'OK'}`);
        },
      ),
      { numRuns: 1_000 },
    );
    // The calls got past the check of the app key.
    for (const outcome of [
      ...['browse-fleet OK', 'get-rum-resource ResourceNotFound', 'delete-work-item InvalidParameter'],
      ...['merge-alerts InvalidParameter', 'merge-alerts Unauthorized'],
    ])
      expect(reached).toContain(outcome);
  });

  it('give a well-formed envelope on any other path and method, too', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, headers, async (path, httpMethod, given) => {
        const event = { ...eventFor(operations[0]), path, httpMethod, headers: given } as ReturnType<typeof eventFor>;
        expectWellFormed(await invokeAlone(refuse, event), event.requestContext.requestId);
      }),
    );
  });
});
