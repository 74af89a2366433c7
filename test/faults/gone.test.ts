import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getRumResource } from '../../lib/api/operations.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { TIME_LIMITS } from '../../lib/time-limits.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { newAccount } from '../support/incidents.ts';
import { ON_TIME, within } from '../support/measured.ts';
import { RUM_RECORD } from '../support/rum.ts';
import {
  connectThrough,
  eventFor,
  handlersOver,
  invokeAlone,
  newTable,
  put,
  SILENT,
  testDeps,
} from '../support/service.ts';
import { connectAfterStorm } from '../support/storm.ts';

let table: Table;
let proxy: FaultProxy;
beforeAll(async () => {
  table = await newTable();
  proxy = await startFaultProxy(dynamodbEndpoint());
});
afterAll(() => proxy.close());

const CLIENTS = [
  { when: '', connect: async () => connectThrough(table, proxy) },
  // The short form makes do with a new client.
  ...(process.env.FAULTS === undefined
    ? []
    : [{ when: ' after a storm', connect: () => connectAfterStorm(table, proxy) }]),
];

describe.each(CLIENTS)('DynamoDB is down$when', ({ connect }) => {
  it(
    'every call is 503 within 3 s, of three wire calls at the most, and the first call after it is back succeeds',
    ON_TIME,
    async () => {
      proxy.plan();
      const handlers = handlersOver({ ...testDeps(await connect(), { timeLimits: TIME_LIMITS }), ...SILENT });
      const tenant = await newAccount(table);
      await put(table, keys.rumResource(tenant.account), RUM_RECORD);
      const read = async () => {
        const event = eventFor(getRumResource, { appKey: tenant.appKey, body: {} });
        return (await within(3_000, () => invokeAlone(handlers.getRumResource, event))).status;
      };
      await expect.poll(read).toBe(200);
      proxy.plan(() => 'refuse');
      const before = proxy.calls.length;
      for (let call = 0; call < 30; call += 1) expect(await read()).toBe(503);
      // One read each, of three attempts.
      expect((proxy.calls.length - before) / 30).toBeLessThanOrEqual(3);
      proxy.plan();
      expect(await read()).toBe(200);
    },
  );
});
