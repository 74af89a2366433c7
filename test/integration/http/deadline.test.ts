import type { APIGatewayRequestAuthorizerEvent, Context } from 'aws-lambda';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { createOperationHandler, deadlineMiddleware } from '../../../lib/http/call.ts';
import type { ApiRequest } from '../../../lib/http/operation.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import validate from '../../../lib/operations/delete-work-item/validate-delete-work-item.ts';
import { operations } from '../../../lib/operations/index.ts';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';
import { newCaller } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { hookedTable, noReply } from '../../support/faults.ts';
import { callAlone, createHandlers, eventFor, testDeps } from '../../support/service.ts';
import { within } from '../../support/within.ts';

it.each<[what: string, arrivedMs: number | undefined, nowMs: number, ms: number]>([
  ['counts from the first byte of its request', 999_200, 1_000_000, 1_900],
  ['loses at most a second before the handler starts, since clocks differ', 900_000, 1_000_000, 1_700],
  ['is never longer than from the start of the handler', 1_005_000, 1_000_000, 2_700],
  ['counts from the start of the handler if the first byte’s time is unknown', undefined, 1_000_000, 2_700],
  ['is shorter by what the handler has spent', 999_200, 1_001_000, 900],
  ['is 1 ms when all is spent', 999_200, 1_009_000, 1],
])('the time that a call gets %s', (_what, requestTimeEpoch, nowMs, ms) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeout.mockRestore());
  const event = { requestContext: { requestTimeEpoch }, call: { startedMs: 1_000_000 } };
  deadlineMiddleware({ now: () => nowMs, timeLimits: TIME_LIMITS }).before?.({ event } as unknown as ApiRequest);
  expect(event.call).toHaveProperty('signal', timeout.mock.results[0]?.value);
  expect(timeout.mock.calls).toEqual([[ms]]);
});

it('a look-up of the authorizer that gets no reply fails within its own limit, and API Gateway caches nothing', async () => {
  const { hooked, hook } = hookedTable();
  hook.around = (_reply, _request, signal) => noReply(signal);
  const deps = testDeps(hooked);
  const authorize = createUsageKeyAuthorizer(createAppKeys(deps, { lookupMs: 50 }), deps, 'shared');
  const event = eventFor(deleteWorkItem, { appKey: 'k' }) as unknown as APIGatewayRequestAuthorizerEvent;
  await expect(within(10_000, () => authorize(event))).rejects.toThrow('the app key cannot be looked up');
});

it.each(operations.filter(({ tag }) => tag !== 'Feed'))(
  '$name is ServiceUnavailable at its deadline when the table does not reply once the call is counted',
  async (operation) => {
    const { table, hooked, hook } = hookedTable();
    const { appKey } = await newCaller(table);
    hook.around = (reply, { input }, signal) => (/^APP_KEY|#RATE#/.test(input.Key?.pk) ? reply() : noReply(signal));
    const handlers = createHandlers(testDeps(hooked, { timeLimits: { ...TIME_LIMITS, callMs: 100 } }));
    const call = () => callAlone(handlers, operation, { appKey, body: operation.example.request });
    const answer = await within(10_000, call);
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(answer.headers['Retry-After']).toBe('1');
  },
);

it('an operation that does not end is ServiceUnavailable 250 ms before its function times out', async () => {
  const { table } = hookedTable();
  const { appKey } = await newCaller(table);
  const operate = () => new Promise<never>(() => undefined);
  const handler = createOperationHandler(deleteWorkItem, { validate, operate }, testDeps(table));
  const context = { awsRequestId: 'x', getRemainingTimeInMillis: () => 1_000 } as Context;
  const event = eventFor(deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } });
  const answer = await within(1_000 - 250, () => handler(event, context));
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
});
