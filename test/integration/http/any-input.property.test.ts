import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../../lib/http/errors.ts';
import { createFallbackRoute } from '../../../lib/http/fallback-route.ts';
import { CATALOGS } from '../../../lib/http/messages/index.ts';
import { allowedMethods, operationIdOf, operations } from '../../../lib/operations/index.ts';
import { newCaller } from '../../support/accounts.ts';
import { anyText } from '../../support/chance.ts';
import { type Answer, eventFor, handlersOver, invokeAlone, NOW, newTable, testDeps } from '../../support/service.ts';

type Event = ReturnType<typeof eventFor>;

const clock = { now: NOW };
const table = await newTable();
const deps = testDeps(table, { now: () => clock.now });
const handlers = handlersOver(deps);
const fallbackRoute = createFallbackRoute(deps, allowedMethods());
const { appKey } = await newCaller(table);

function expectWellFormed({ status, headers, body }: Answer, { requestContext }: Event): void {
  expect(status).toBeLessThan(500);
  expect([body.request_id, headers['Svc-Request-Id']]).toEqual([requestContext.requestId, requestContext.requestId]);
  expect(headers['Content-Type']).toMatch(/^application\/json/);
  for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/);
  expect(Object.keys(body)).toEqual(['request_id', status === 200 ? 'data' : 'error']);
  if (status === 200) return;
  const { code, message } = body.error as { code: ErrorCode; message: string };
  expect(ERROR_CODES[code].status).toBe(status);
  expect('reserved' in ERROR_CODES[code]).toBe(false);
  expect(message.length).toBeGreaterThan(0);
  expect(CATALOGS.map(({ language }) => language)).toContain(headers['Content-Language']);
}

const fieldNames = operations.flatMap(({ request }) => Object.keys(request.properties));
const objectId = fc.stringMatching(/^[0-9a-fA-F]{24}$/);
const fieldValue = fc.oneof(
  ...[fc.jsonValue(), fc.bigInt().map(String), fc.integer(), objectId],
  fc.array(fc.oneof(anyText, fc.integer(), objectId), { maxLength: 22 }),
);
const nearlyValid = fc
  .dictionary(fc.oneof(fc.constantFrom(...fieldNames), anyText), fieldValue)
  .map((body) => JSON.stringify(body));
const inBase64 = (bytes: Uint8Array | string) => ({
  body: Buffer.from(bytes).toString('base64'),
  isBase64Encoded: true,
});
const anyBody = fc.oneof(
  fc.oneof(nearlyValid, fc.json(), fc.constant(null)).map((body) => ({ body, isBase64Encoded: false })),
  fc.oneof(nearlyValid, fc.uint8Array({ maxLength: 300 })).map(inBase64),
  fc.record({ body: anyText, isBase64Encoded: fc.boolean() }),
);
const headerName = fc.oneof(
  fc.constantFrom('Accept-Language', 'accept-language', 'content-type', 'Idempotency-Key', 'Host', '__proto__'),
  anyText,
);
const anyHeaders = fc.oneof(fc.dictionary(headerName, anyText), fc.constant(null));
const contentType = fc.constantFrom('application/json', undefined, 'text/plain');
const appKeys = fc.constantFrom([appKey], [appKey], [appKey], ['other'], [appKey, appKey], []);

describe('any bytes as body, any headers, any query', () => {
  it('give a well-formed envelope with the request_id, never a 5xx, on every operation', async () => {
    const reached = new Set<string>();
    const requests = fc.record({
      ...{ operation: fc.constantFrom(...operations), body: anyBody, headers: anyHeaders },
      ...{ contentType, appKeys, query: fc.dictionary(anyText, anyText) },
    });
    const property = fc.asyncProperty(requests, async ({ operation, body, headers, contentType, appKeys, query }) => {
      clock.now += 2_500; // stays within the rate limit of fleet browse
      const listed = (texts: Record<string, string>) => Object.entries(texts).map(([name, text]) => [name, [text]]);
      const lastKey = appKeys.at(-1);
      const event = {
        ...eventFor(operation),
        ...body,
        headers: headers && { ...headers, ...(contentType && { 'Content-Type': contentType }) },
        multiValueHeaders: headers && Object.fromEntries(listed(headers)),
        queryStringParameters: { ...query, ...(lastKey && { app_key: lastKey }) },
        multiValueQueryStringParameters: { ...Object.fromEntries(listed(query)), ...(lastKey && { app_key: appKeys }) },
      } as Event;
      const answer = await invokeAlone(handlers[operationIdOf(operation.name)], event);
      expectWellFormed(answer, event);
      reached.add(`${operation.name} ${answer.body.error?.code ?? 'OK'}`);
    });
    await fc.assert(property, { numRuns: 1_000 });
    // The calls got past the check of the app key.
    expect([...reached]).toEqual(
      expect.arrayContaining([
        ...['browse-fleet OK', 'get-rum-resource ResourceNotFound', 'delete-work-item InvalidParameter'],
        ...['merge-alerts InvalidParameter', 'merge-alerts Unauthorized'],
      ]),
    );
  });

  it('give a well-formed envelope on any other path and method, too', async () => {
    const property = fc.asyncProperty(anyText, anyText, anyHeaders, async (path, httpMethod, headers) => {
      const event = { ...eventFor(operations[0]), path, httpMethod, headers } as Event;
      expectWellFormed(await invokeAlone(fallbackRoute, event), event);
    });
    await fc.assert(property);
  });
});
