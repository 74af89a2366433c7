import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayRequestAuthorizerEvent, Context } from 'aws-lambda';
import { afterAll, describe, expect, it } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { createOperationHandler } from '../../../lib/http/call.ts';
import { createUsageKeyAuthorizer } from '../../../lib/http/usage-key-authorizer.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import validate from '../../../lib/operations/delete-work-item/validate-delete-work-item.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';
import { connectTable, type Table } from '../../../lib/table/client.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { connectionLost } from '../../support/faults.ts';
import {
  callOperation,
  connectAgain,
  eventFor,
  handlersOver,
  invokeAlone,
  newDouble,
  newTable,
  PATIENCE,
  PATIENT_LIMITS,
  putAppKey,
  testDeps,
} from '../../support/service.ts';
import { silentServer, tapWire } from '../../support/wire.ts';
import { within } from '../../support/within.ts';

/** The contract's limit for a call whose dependency is slow, from the first byte of the request to the answer. */
const MAX_MS = 3_000;

const silent = await silentServer();
const table = await newTable();
afterAll(() => silent.close());

/** A client whose attempts wait longer than any call: only a deadline ends one. */
const hanging = () =>
  connectTable({ name: table.name, endpoint: `http://127.0.0.1:${silent.port}`, timeouts: PATIENCE });

function authorizerOver(connection: Table, lookupMs = PATIENT_LIMITS.authorizerMs) {
  const deps = testDeps(connection);
  return createUsageKeyAuthorizer(createAppKeys(deps, { lookupMs }), deps, 'local-account-0');
}

describe('DynamoDB that never replies', () => {
  it('to the authorizer makes it fail within 1.5 s', async () => {
    const authorize = authorizerOver(hanging(), TIME_LIMITS.authorizerMs);
    const event = eventFor(getRumResource, { appKey: 'key-that-nobody-can-look-up' });
    const authorized = within(1_500, () => authorize(event as unknown as APIGatewayRequestAuthorizerEvent));
    await expect(authorized).rejects.toThrow('the app key cannot be looked up');
  });

  it('to the authorizer makes a call 503, and the next call with the same key reaches the handler', async () => {
    const appKey = await putAppKey(table, { account_id: 1, gateway_key: 'local-account-1' });
    const flaky = connectAgain(table);
    const outage = tapWire(flaky, async () => {
      throw connectionLost();
    });
    const handlers = handlersOver(testDeps(table), { usageKeyAuthorizer: authorizerOver(flaky) });
    const call = () => callOperation(handlers, getRumResource, { appKey });
    const refused = await call();
    expectEnvelope(refused, 503, 'ServiceUnavailable');
    expect(refused.headers['Retry-After']).toBe('1');
    outage.remove();
    // The account has no RUM resource: the handler says so.
    expectEnvelope(await call(), 400, 'ResourceNotFound');
  });

  it('to the read after a slow look-up of the key makes the call 503 within 3 s', async () => {
    const appKey = await putAppKey(table, { account_id: 3, gateway_key: 'local-account-3' });
    const silenced = connectAgain(table);
    let lookedUp = false;
    tapWire(silenced, async (attempt, send) => {
      if (lookedUp) attempt.redirect(silent.port);
      else await sleep(700);
      lookedUp = true;
      await send();
    });
    const { getRumResource: handler } = handlersOver(testDeps(silenced, { timeLimits: TIME_LIMITS }));
    const answer = await within(MAX_MS, () => invokeAlone(handler, eventFor(getRumResource, { appKey })));
    expectEnvelope(answer, 503, 'ServiceUnavailable');
  });
});

it('an operation that does not end is ServiceUnavailable 250 ms before its function times out', async () => {
  const double = newDouble();
  const appKey = await putAppKey(double, { account_id: 1 });
  const operate = () => new Promise<never>(() => undefined);
  const handler = createOperationHandler(deleteWorkItem, { validate, operate }, testDeps(double));
  const context = { awsRequestId: 'x', getRemainingTimeInMillis: () => 1_000 } as Context;
  const event = eventFor(deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } });
  const answer = await within(1_000 - 250, () => handler(event, context));
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
  expect(JSON.parse(answer.body).error.code).toBe('ServiceUnavailable');
});
