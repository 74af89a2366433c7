/** The worked examples of openapi.json, which the documents show too, are what the service answers. */

import { expect, it } from 'vitest';
import { operations } from '../../../lib/operations/index.ts';
import { loadData } from '../../../packages/admin/data/load.ts';
import { createLocalGatewayKeys } from '../../../packages/admin/local-service/local-gateway-keys.ts';
import { DEMO_KEYS, sampleData } from '../../../packages/local/sample.ts';
import { expectData } from '../../support/answers.ts';
import { callAlone, handlersOver, newTable, testDeps } from '../../support/service.ts';

/** The time of the examples' answers, and of the sample data. */
const NOW = 1_795_231_227_854;

const table = await newTable();
await loadData(table, 'test', sampleData(NOW), { nowMs: NOW, gatewayKeys: createLocalGatewayKeys(table) });
const handlers = handlersOver(testDeps(table, { now: () => NOW }));

/** A cursor differs with each load of the sample: it is signed with the account's secret, which is random. */
const withoutCursor = (data: unknown) =>
  data && typeof data === 'object' && 'next_cursor' in data ? { ...data, next_cursor: 'opaque' } : data;

it.each(operations)('the worked example of $name has the response that the service gives', async (operation) => {
  const { request, data } = operation.example;
  const answer = await callAlone(handlers, operation, { appKey: DEMO_KEYS.demo, body: request });
  expect(withoutCursor(expectData(operation, answer))).toEqual(withoutCursor(data));
});
