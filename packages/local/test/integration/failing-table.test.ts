import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { browseFleet, getRumResource } from '../../../../lib/http/operations.ts';
import { newCaller } from '../../../../test/support/accounts.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { hostId, inventory, live } from '../../../../test/support/fleet.ts';
import {
  type Answer,
  connectThrough,
  eventFor,
  handlersOver,
  invoke,
  newTable,
  putAll,
  testDeps,
} from '../../../../test/support/service.ts';
import { type Failure, startFailingTable } from '../../failing-table.ts';

let table: Table;
let stop = async () => {};
beforeAll(async () => {
  table = await newTable();
});
afterEach(() => stop());

/** What a fleet page and a RUM record are answered with while something fails. */
async function callWith(...failures: Failure[]): Promise<[fleet: Answer, rum: Answer]> {
  const { account, appKey } = await newCaller(table);
  await putAll(table, [
    { ...keys.host(account, hostId(1)), ...inventory() },
    { ...keys.hostStatus(account, hostId(1)), ...live() },
  ]);
  const proxy = await startFailingTable(dynamodbEndpoint(), failures);
  stop = proxy.close;
  const handlers = handlersOver(testDeps(connectThrough(table, proxy)));
  const event = { appKey, body: {} };
  return [
    await invoke(handlers.browseFleet, eventFor(browseFleet, event)),
    await invoke(handlers.getRumResource, eventFor(getRumResource, event)),
  ];
}

describe('npm start -- --fail', () => {
  it('live-status: pages come from the inventory, and nothing else fails', async () => {
    const [fleet, rum] = await callWith('live-status');
    expect(fleet.body.data).toMatchObject({
      items: [{ host_id: hostId(1), servicemap: { error_code: 'status_unavailable' } }],
      partial: true,
    });
    expect(rum.body.error.code).toBe('ResourceNotFound');
  });

  it('inventory: browsing is ServiceUnavailable, and nothing else fails', async () => {
    const [fleet, rum] = await callWith('inventory');
    expect([fleet.status, fleet.body.error.code]).toEqual([503, 'ServiceUnavailable']);
    expect(rum.body.error.code).toBe('ResourceNotFound');
  });

  it('live-status and inventory can fail together', async () => {
    const [fleet] = await callWith('live-status', 'inventory');
    expectEnvelope(fleet, 503, 'ServiceUnavailable');
  });

  it('table: every call is ServiceUnavailable', async () => {
    for (const { status, body } of await callWith('table'))
      expect([status, body.error.code]).toEqual([503, 'ServiceUnavailable']);
  });

  it('nothing: everything is passed on', async () => {
    const [fleet] = await callWith();
    expect(fleet.body.data).toMatchObject({ items: [{ host_id: hostId(1) }], partial: false });
  });
});
