import { afterAll, describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { getRumResource } from '../../lib/http/operations.ts';
import { expectEnvelope } from '../support/answers.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { newAccount } from '../support/incidents.ts';
import { RUM_RECORD } from '../support/rum.ts';
import {
  callAlone,
  connectThrough,
  handlersOver,
  newTable,
  PATIENCE,
  put,
  SILENT,
  testDeps,
} from '../support/service.ts';
import { connectAfterStorm } from '../support/storm.ts';

const table = await newTable();
const proxy = await startFaultProxy(dynamodbEndpoint());
afterAll(() => proxy.close());

const CLIENTS = [
  { when: '', connect: async () => connectThrough(table, proxy, PATIENCE) },
  // The short form makes do with a new client.
  ...(process.env.FAULTS === undefined
    ? []
    : [{ when: ' after a storm', connect: () => connectAfterStorm(table, proxy, PATIENCE) }]),
];

describe.each(CLIENTS)('DynamoDB is down$when', ({ connect }) => {
  it('every call is answered 503 after at most three requests, and the first call after the recovery succeeds', async () => {
    proxy.plan();
    const handlers = handlersOver({ ...testDeps(await connect()), ...SILENT });
    const tenant = await newAccount(table);
    await put(table, keys.rumResource(tenant.account), RUM_RECORD);
    const read = () => callAlone(handlers, getRumResource, { appKey: tenant.appKey, body: {} });
    expectEnvelope(await read(), 200);
    proxy.plan(() => 'refuse');
    const before = proxy.calls.length;
    for (let call = 0; call < 30; call += 1) expectEnvelope(await read(), 503, 'ServiceUnavailable');
    // One read each, of three attempts.
    expect((proxy.calls.length - before) / 30).toBeLessThanOrEqual(3);
    proxy.plan();
    expectEnvelope(await read(), 200);
  });
});
