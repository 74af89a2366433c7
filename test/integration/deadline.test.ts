import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getRumResource } from '../../lib/api/operations.ts';
import { createAppKeys } from '../../lib/auth/app-keys.ts';
import { createUsageKeyAuthorizer } from '../../lib/auth/usage-key-authorizer.ts';
import { connectTable, type Table } from '../../lib/table/client.ts';
import { TIME_LIMITS } from '../../lib/time-limits.ts';
import { expectEnvelope } from '../support/answers.ts';
import { startFunctions } from '../support/functions-process.ts';
import { measured, ON_TIME } from '../support/measured.ts';
import { connectAgain, eventFor, handlersOver, invoke, newTable, putAppKey, testDeps } from '../support/service.ts';
import { silentServer, tapWire } from '../support/wire.ts';

/** What the contract gives a call whose dependency is slow, from the first byte of the request to the answer. */
const LONGEST_MS = 3_000;

let silent: Awaited<ReturnType<typeof silentServer>>;
let table: Table;
beforeAll(async () => {
  silent = await silentServer();
  table = await newTable();
  await called(authorizerOver(table).label, table, 'the first call, which starts the gateway');
});
afterAll(() => silent.close());

const hanging = () => connectTable({ name: table.name, endpoint: `http://127.0.0.1:${silent.port}` });
const authorizerOver = (of: Table) => {
  const deps = testDeps(of, { timeLimits: TIME_LIMITS });
  const appKeys = createAppKeys(deps, { lookUpMs: TIME_LIMITS.authorizerMs });
  const label = createUsageKeyAuthorizer(appKeys, deps, 'local-account-0');
  return { deps, label };
};

/** A call over HTTP, with an authorizer and a handler that each have a DynamoDB of their own. */
async function called(
  usageKeyAuthorizer: ReturnType<typeof createUsageKeyAuthorizer>,
  handlerTable: Table,
  appKey: string,
) {
  const handlers = handlersOver(testDeps(handlerTable, { timeLimits: TIME_LIMITS }), { usageKeyAuthorizer });
  const event = eventFor(getRumResource, { appKey });
  const { result, tookMs } = await measured(() => invoke(handlers.getRumResource, event));
  return { answer: result, tookMs };
}

describe.concurrent('DynamoDB that never replies', ON_TIME, () => {
  it('to the authorizer is the 503 of AUTHORIZER_FAILURE within a second, and the log holds no key', async () => {
    const { deps, label } = authorizerOver(hanging());
    const { answer, tookMs } = await called(label, table, 'key-that-nobody-can-look-up');
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(answer.headers['Retry-After']).toBe('1');
    expect(tookMs).toBeLessThan(1_500);
    expect(deps.log.lines).toMatchObject([{ level: 'warn', fields: { error_name: expect.any(String) } }]);
    expect(JSON.stringify(deps.log.lines)).not.toContain('key-that-nobody');
  });

  it('is not remembered: the next call of the same key is assigned to its account', async () => {
    const appKey = await putAppKey(table, { account_id: 1, gateway_key: 'local-account-1' });
    const { label: failing } = authorizerOver(hanging());
    expectEnvelope((await called(failing, table, appKey)).answer, 503, 'ServiceUnavailable');
    const { label } = authorizerOver(connectAgain(table));
    // No RUM resource is there; it is the handler that says so.
    expectEnvelope((await called(label, table, appKey)).answer, 400, 'ResourceNotFound');
  });

  it('to the handler, after it was slow to the authorizer, is its 503 within 3 s of the first byte', async () => {
    const appKey = await putAppKey(table, { account_id: 2, gateway_key: 'local-account-2' });
    const slow = connectAgain(table);
    tapWire(slow, async (_attempt, send) => {
      await sleep(TIME_LIMITS.authorizerMs - 300);
      await send();
    });
    const { label } = authorizerOver(slow);
    const { answer, tookMs } = await called(label, hanging(), appKey);
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(tookMs).toBeGreaterThan(1_500); // the handler answered, not the authorizer
    expect(tookMs).toBeLessThan(LONGEST_MS);
  });

  it('to the read behind a key that is known is a 503 within 3 s too', async () => {
    const appKey = await putAppKey(table, { account_id: 3, gateway_key: 'local-account-3' });
    const half = connectAgain(table);
    let lookedUp = false;
    tapWire(half, async (attempt, send) => {
      if (lookedUp) attempt.redirect(silent.port);
      else await sleep(700);
      lookedUp = true;
      await send();
    });
    const { label } = authorizerOver(connectAgain(table));
    const { answer, tookMs } = await called(label, half, appKey);
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(tookMs).toBeLessThan(LONGEST_MS);
  });
});

it('the deployed authorizer gives up before the deployed operations do', async () => {
  const functions = startFunctions({
    ...{ TABLE_NAME: table.name, DYNAMODB_ENDPOINT: `http://127.0.0.1:${silent.port}` },
    ...{ SHARED_GATEWAY_KEY: 'shared', AWS_REGION: 'eu-west-1' },
  });
  // Loads both; each waits in vain.
  const both = (appKey: string) => {
    const ended: string[] = [];
    const event = { ...eventFor(getRumResource, { appKey }), methodArn: 'arn' };
    return Promise.all(
      ['get-rum-resource', 'usage-key-authorizer'].map((name) =>
        functions.invoke(name, event).then(() => ended.push(name)),
      ),
    ).then(() => ended);
  };
  await both('first');
  expect(await both('second')).toEqual(['usage-key-authorizer', 'get-rum-resource']);
  await functions.stop();
});
