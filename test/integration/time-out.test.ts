import type { Context } from 'aws-lambda';
import { expect, it } from 'vitest';
import { createOperationHandler } from '../../lib/api/operation-handler.ts';
import { deleteWorkItem } from '../../lib/api/operations.ts';
import validate from '../../lib/api/validators/delete-work-item.ts';
import { ON_TIME } from '../support/measured.ts';
import { eventFor, newTable, putAppKey, testDeps } from '../support/service.ts';

it('an operation that does not end is ServiceUnavailable before the function times out', ON_TIME, async () => {
  const table = await newTable();
  const appKey = await putAppKey(table, { account_id: 1 });
  const handler = createOperationHandler(
    deleteWorkItem,
    { validate, operate: () => new Promise<never>(() => undefined) },
    testDeps(table),
  );
  const ends = Date.now() + 3_000;
  const context = { awsRequestId: 'x', getRemainingTimeInMillis: () => ends - Date.now() } as Context;
  const event = eventFor(deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } });
  const { statusCode, headers, body } = await handler(event, context);
  expect(ends - Date.now()).toBeGreaterThan(250);
  expect(statusCode).toBe(503);
  expect(headers).toMatchObject({ 'Retry-After': '1' });
  expect(JSON.parse(body).error.code).toBe('ServiceUnavailable');
});
