import type { Context } from 'aws-lambda';
import { expect, it } from 'vitest';
import { createOperationHandler } from '../../lib/http/operation-handler.ts';
import { deleteWorkItem } from '../../lib/http/operations.ts';
import validate from '../../lib/operations/delete-work-item/validate-delete-work-item.ts';
import { eventFor, newDouble, putAppKey, testDeps } from '../support/service.ts';
import { within } from '../support/within.ts';

const REMAINING_MS = 1_000;
/** What is left for the answer to reach Lambda. */
const EARLY_MS = 250;

it('an operation that does not end is ServiceUnavailable before the function times out', async () => {
  const table = newDouble();
  const appKey = await putAppKey(table, { account_id: 1 });
  const operate = () => new Promise<never>(() => undefined);
  const handler = createOperationHandler(deleteWorkItem, { validate, operate }, testDeps(table));
  const context = { awsRequestId: 'x', getRemainingTimeInMillis: () => REMAINING_MS } as Context;
  const event = eventFor(deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } });
  const answer = await within(REMAINING_MS - EARLY_MS, () => handler(event, context));
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
  expect(JSON.parse(answer.body).error.code).toBe('ServiceUnavailable');
});
