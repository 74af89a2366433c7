import { afterAll, expect, it } from 'vitest';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { mergeAlerts } from '../../../lib/operations/merge-alerts/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { undoMerge } from '../../../packages/admin/incidents/undo-merge.ts';
import { adminOf } from '../../../packages/admin/test/support/run-admin.ts';
import { RUM_RECORD } from '../../support/accounts.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { finishFeed, newAccount } from '../../support/incidents.ts';
import { callAlone, connectThrough, handlersOver, newTable, PATIENCE, put, testDeps } from '../../support/service.ts';

const proxy = await startFaultProxy(dynamodbEndpoint());
const table = await newTable();
afterAll(() => proxy.close());

/** The reads since the faults were planned, and those of them that may be stale. */
function readsOf({ calls }: FaultProxy) {
  const reads = calls.filter(({ action }) => /^(Get|Query|BatchGet|Scan)/.test(action));
  return { reads, stale: reads.filter(({ body }) => !body.includes('"ConsistentRead":true')) };
}

// DynamoDB Local has no stale reads: the tests look at the parameter of the calls.
it('calls that write, refuse or authenticate read strongly consistently', async () => {
  const tenant = await newAccount(table);
  await put(table, keys.rumResource(tenant.account), RUM_RECORD);
  const to = await tenant.incident();
  const alerts = await tenant.alerts(120);
  const connection = connectThrough(table, proxy, PATIENCE);
  proxy.plan();
  const handlers = handlersOver(testDeps(connection));
  const { appKey, account } = tenant;
  for (const [operation, body] of [
    [getRumResource, {}],
    [getRumResource, {}], // from the cache
    [deleteWorkItem, { work_item_id: 'w', version: 1 }],
    [mergeAlerts, { alert_ids: alerts, incident_id: to }],
  ] as const)
    await callAlone(handlers, operation, { appKey, body });
  const entry = (await tenant.feed(to)).find(({ kind }) => kind === 'merge');
  await finishFeed(connection, [entry]);
  await undoMerge(testDeps(connection), { account, incidentId: to, sequence: entry.sequence, by: 'o', requestId: 'r' });

  const { reads, stale } = readsOf(proxy);
  expect(new Set(reads.map(({ action }) => action))).toEqual(new Set(['GetItem', 'Query', 'BatchGetItem']));
  expect(stale).toEqual([]);
});

it('the read that verifies a write whose replies are lost is strongly consistent', async () => {
  const tenant = await newAccount(table);
  await put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', version: 1, title: 't' });
  const merge = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
  const handlers = handlersOver(testDeps(connectThrough(table, proxy)));
  for (const [operation, body] of [
    [browseFleet, {}],
    [deleteWorkItem, { work_item_id: 'w', version: 1 }],
    [mergeAlerts, merge],
  ] as const) {
    let [written, verifyingReads] = [false, 0];
    proxy.plan(({ action }) => {
      if (/^(Update|TransactWrite)/.test(action)) {
        written = true;
        return 'drop';
      }
      if (written && /^(Batch)?GetItem/.test(action)) verifyingReads += 1;
      return undefined;
    });
    expectEnvelope(await callAlone(handlers, operation, { appKey: tenant.appKey, body }), 200);
    expect(verifyingReads).toBeGreaterThan(0);
    // The reads of a fleet page, which verify no write, may be stale.
    expect(readsOf(proxy).stale.filter(({ body }) => !body.includes('#HOST'))).toEqual([]);
  }
});

it("the read that verifies an operator's change whose replies are lost is strongly consistent", async () => {
  const { account } = await newAccount(table);
  for (const action of ['TransactWriteItems', 'PutItem']) {
    proxy.plan((call) => (call.action === action ? 'drop' : undefined));
    expect(await adminOf(table, proxy.endpoint)(`account revoke ${account} monit`)).toMatchObject({ exitCode: 0 });
    expect(readsOf(proxy).stale).toEqual([]);
  }
});

it('commands that change or show what is stored read strongly consistently', async () => {
  const tenant = await newAccount(table);
  const [to, [alert = '']] = [await tenant.incident(), await tenant.alerts(1)];
  await put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', version: 2, title: 't', deleted_at_ms: 1 });
  await put(table, keys.rumResource(tenant.account), { ...RUM_RECORD, deleted: true });
  await tenant.merge(handlersOver(testDeps(table)).mergeAlerts, { alert_ids: [alert], incident_id: to });
  const [{ sequence }] = await tenant.feed(to);
  const run = async (command: string, { stdin = '', onTable = table } = {}) => {
    proxy.plan();
    const { exitCode, out } = await adminOf(onTable, proxy.endpoint)(command, { stdin });
    const { reads, stale } = readsOf(proxy);
    expect([command, exitCode, reads.length > 0, stale]).toEqual([command, 0, true, []]);
    return out;
  };
  const account = `--account ${tenant.account}`;
  await run('account create 12345678 --name Acme');
  for (const command of ['revoke', 'grant']) await run(`account ${command} ${tenant.account} monit`);
  await run(`app-key issue ${account} --note first`);
  const [{ app_key_id }] = JSON.parse(await run(`app-key list ${account} --json`));
  for (const command of ['rotate', 'revoke']) await run(`app-key ${command} ${app_key_id} ${account}`);
  for (const command of ['suspend', 'unsuspend']) await run(`account ${command} ${tenant.account}`);
  for (const what of [`incident ${to}`, `alert ${alert}`, 'work-item w', 'incidents'])
    await run(`show ${what} ${account}`);
  for (const command of ['work-item restore w', 'rum restore', `merge undo ${to} ${sequence}`, 'audit', 'check'])
    await run(`${command} ${account}`);
  await run('import -', { stdin: await run(`export ${account}`) });
  // A check of a whole table, which is empty so that it finds nothing.
  await run('check', { onTable: await newTable() });
});
