import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../../lib/http/errors.ts';
import { createFallbackRoute } from '../../../lib/http/fallback-route.ts';
import { CATALOGS } from '../../../lib/http/messages/index.ts';
import { allowedMethods, operationIdOf, operations } from '../../../lib/operations/index.ts';
import { newCaller } from '../../support/accounts.ts';
import { anyText } from '../../support/chance.ts';
import { type Answer, createHandlers, eventFor, invokeAlone, NOW, newDouble, testDeps } from '../../support/service.ts';

type Event = ReturnType<typeof eventFor>;

const clock = { now: NOW };
const table = newDouble();
const deps = testDeps(table, { now: () => clock.now });
const handlers = createHandlers(deps);
const fallbackRoute = createFallbackRoute(deps, allowedMethods());
const { appKey } = await newCaller(table);
/** Where a caller may put the app key by mistake, besides the query. */
const withKey = [`{"a":"${appKey}"`, `"${appKey}"`, `{"${appKey}":1,"limit":"x","version":"x","cursor":"${appKey}"}`];

function expectWellFormed({ status, headers, body }: Answer, { requestContext, ...event }: Event): void {
  // Code that could log the event finds no key in its query.
  const query = [event.queryStringParameters, event.multiValueQueryStringParameters];
  const seen = [headers, body, query, deps.log.lines.splice(0), deps.metrics.calls.splice(0)];
  expect(JSON.stringify(seen)).not.toContain(appKey);
  expect([body.request_id, headers['Svc-Request-Id']]).toEqual([requestContext.requestId, requestContext.requestId]);
  for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/);
  expect(Object.keys(body)).toEqual(['request_id', status === 200 ? 'data' : 'error']);
  if (status === 200) return;
  expect(status).toBeLessThan(500);
  const { code, message } = body.error as { code: ErrorCode; message: string };
  expect(ERROR_CODES[code]).toEqual({ status });
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
  fc.oneof(nearlyValid, fc.json(), fc.constantFrom(null, ...withKey)).map((body) => ({ body, isBase64Encoded: false })),
  fc.oneof(nearlyValid, fc.uint8Array({ maxLength: 300 })).map(inBase64),
  fc.record({ body: anyText, isBase64Encoded: fc.boolean() }),
);
const headerName = fc.oneof(
  fc.constantFrom('Accept-Language', 'accept-language', 'content-type', 'Idempotency-Key', 'Host', '__proto__'),
  anyText,
);
const headerValue = fc.oneof({ weight: 9, arbitrary: anyText }, fc.constant(appKey));
const anyHeaders = fc.option(fc.dictionary(headerName, headerValue), { nil: null });
const anyRequest = fc.record({
  ...{ operation: fc.constantFrom(...operations), body: anyBody, headers: anyHeaders },
  contentType: fc.constantFrom('application/json', undefined, 'text/plain'),
  appKeys: fc.constantFrom([appKey], [appKey], [appKey], ['other'], [appKey, appKey], []),
  query: fc.dictionary(anyText, anyText),
});

it('whatever body, headers and query are, the answer is well-formed and never a 5xx, and nothing shows the app key', async () => {
  const reached = new Set<string>();
  const property = fc.asyncProperty(anyRequest, async ({ operation, body, headers, contentType, appKeys, query }) => {
    clock.now += 2_500; // stays within the rate limit of fleet browse
    const listed = (texts: Record<string, string>) =>
      Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, [text]]));
    const lastKey = appKeys.at(-1);
    const event = {
      ...{ ...eventFor(operation), ...body },
      headers: headers && { ...headers, ...(contentType && { 'Content-Type': contentType }) },
      multiValueHeaders: headers && listed(headers),
      queryStringParameters: { ...query, ...(lastKey && { app_key: lastKey }) },
      multiValueQueryStringParameters: { ...listed(query), ...(lastKey && { app_key: appKeys }) },
    } as Event;
    const answer = await invokeAlone(handlers[operationIdOf(operation.name)], event);
    expectWellFormed(answer, event);
    reached.add(`${operation.name} ${answer.body.error?.code ?? 'OK'}`);
  });
  await fc.assert(property, { numRuns: 1_000 });
  // The calls got past the check of the app key.
  for (const outcome of ['browse-fleet OK', 'get-rum-resource ResourceNotFound', 'merge-alerts InvalidParameter'])
    expect(reached).toContain(outcome);
});

it('so is the answer on any other path and method', () =>
  fc.assert(
    fc.asyncProperty(anyText, anyText, anyHeaders, async (path, httpMethod, headers) => {
      const event = { ...eventFor(operations[0]), path, httpMethod, headers } as Event;
      expectWellFormed(await invokeAlone(fallbackRoute, event), event);
    }),
  ));
