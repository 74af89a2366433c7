/** The worked examples of openapi.json, which the documents show too, and its examples of errors are what the service answers. */
import { expect, it } from 'vitest';
import { errorExamples } from '../../../infra/generate/examples.ts';
import { type ListedOperation, operations } from '../../../lib/operations/index.ts';
import { SETTINGS } from '../../../lib/shared/settings.ts';
import openapi from '../../../openapi.json' with { type: 'json' };
import { loadData } from '../../../packages/admin/data/load.ts';
import { createLocalGatewayKeys } from '../../../packages/admin/local-service/local-gateway-keys.ts';
import { DEMO_KEYS, sampleData } from '../../../packages/local/sample.ts';
import { expectData } from '../../support/answers.ts';
import { callAlone, createHandlers, type EventOptions, newTable, testDeps } from '../../support/service.ts';

/** The time of the examples' answers, and of the sample data. */
const NOW = 1_795_231_227_854;

const table = await newTable();
await loadData(table, 'test', sampleData(NOW), { nowMs: NOW, gatewayKeys: createLocalGatewayKeys(table) });
const handlers = createHandlers(testDeps(table, { now: () => NOW }));

/** A cursor differs with each load of the sample: it is signed with the account's secret, which is random. */
const withoutCursor = (data: unknown) =>
  data && typeof data === 'object' && 'next_cursor' in data ? { ...data, next_cursor: 'opaque' } : data;

it.each(operations)('the worked example of $name has the response that the service gives', async (operation) => {
  const { request, data } = operation.example;
  const answer = await callAlone(handlers, operation, { appKey: DEMO_KEYS.demo, body: request });
  expect(withoutCursor(expectData(operation, answer))).toEqual(withoutCursor(data));
});

/** Calls that get an error of which openapi.json has an example, by the summary of that. */
const CALLS: Readonly<Record<string, (operation: ListedOperation) => EventOptions>> = {
  'The body is a JSON array': () => ({ rawBody: '[]' }),
  'A body is sent as text/plain': () => ({ rawBody: '{}', headers: { 'Content-Type': 'text/plain' } }),
  'The app_key is unknown': () => ({ appKey: 'unknown' }),
  'The body has a byte more than': ({ maxBodyBytes = SETTINGS.maxBodyBytes.default }) => ({
    rawBody: '0'.repeat(maxBodyBytes + 1),
  }),
  'The only record has no title': () => ({ body: { records: [{ kind: 'alert', alert_key: 'a' }] } }),
  'The only alert has no start': () => ({ body: { alerts: [{ labels: { alertname: 'A' } }] } }),
};
const EXAMPLES = operations.flatMap((operation) =>
  errorExamples(operation).flatMap(([code, { summary, ...error }]) => {
    const [, optionsOf] = Object.entries(CALLS).find(([beginning]) => summary.startsWith(beginning)) ?? [];
    return optionsOf ? [[operation.name, summary, operation, optionsOf, { code, ...error }] as const] : [];
  }),
);

it.each(EXAMPLES)('%s, %s: the example is what is served', async (_name, _summary, operation, optionsOf, error) => {
  const answer = await callAlone(handlers, operation, { appKey: DEMO_KEYS.demo, ...optionsOf(operation) });
  expect(answer.body.error).toEqual(error);
});

it('each call is of an example', () => {
  const summaries = EXAMPLES.map(([, summary]) => summary);
  for (const beginning of Object.keys(CALLS)) expect(summaries.some((text) => text.startsWith(beginning))).toBe(true);
});

it('the reference says which answers API Gateway gives, in English whatever the language of the call', () => {
  const { responses, schemas } = openapi.components;
  expect(responses.Unauthorized.description).toContain(
    'API Gateway itself responds, in English, to a missing or empty `app_key`.',
  );
  expect(schemas.Error.properties.message.description).toMatch(/in English where API Gateway itself responds$/);
});
