import { afterEach, describe, expect, it } from 'vitest';
import { browseFleet } from '../../../../lib/operations/browse-fleet/schema.ts';
import { getRumResource } from '../../../../lib/operations/get-rum-resource/schema.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { newCaller } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { hostId, inventory, live } from '../../../../test/support/fleet.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import {
  type Answer,
  connectThrough,
  eventFor,
  handlersOver,
  invokeAlone,
  newTable,
  PATIENT_LIMITS,
  putAll,
  testDeps,
} from '../../../../test/support/service.ts';
import { registerRunning } from '../../../admin/local-service/running.ts';
import { runCommand } from '../../../admin/test/support/run-admin.ts';
import { type Failure, startFailingTable } from '../../failing-table.ts';
import { callOnce, serveTable } from '../support/start-service.ts';

const table = await newTable();
let stop = async () => {};
afterEach(() => stop());

/** The answers to calls for a fleet page and a RUM record while parts fail. */
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
    await invokeAlone(handlers.browseFleet, eventFor(browseFleet, event)),
    await invokeAlone(handlers.getRumResource, eventFor(getRumResource, event)),
  ];
}

describe('npm start -- --fail', () => {
  const [page, unavailable] = [{ status: 200 }, { status: 503, body: { error: { code: 'ServiceUnavailable' } } }];
  const withoutStatus = { host_id: hostId(1), servicemap: { error_code: 'status_unavailable' } };
  const notFound = { body: { error: { code: 'ResourceNotFound' } } };

  it.each<[failures: Failure[], fleet: object, rum: object]>([
    [['live-status'], { ...page, body: { data: { items: [withoutStatus], partial: true } } }, notFound],
    [['live-status', 'inventory'], unavailable, notFound],
    [['table'], unavailable, unavailable],
    [['throttle'], unavailable, unavailable],
  ])('%j fails what it names, and nothing else', async (failures, fleet, rum) => {
    expect(await callWith(...failures)).toMatchObject([fleet, rum]);
  });

  it('slow: calls take longer, and succeed', async () => {
    const began = performance.now();
    expect(await callWith('slow')).toMatchObject([{ ...page, body: { data: { partial: false } } }, notFound]);
    expect(performance.now() - began).toBeGreaterThan(600);
  });

  it.runIf(process.platform === 'linux')('is for this machine only', async () => {
    const proxy = await startFailingTable(dynamodbEndpoint(), []);
    stop = proxy.close;
    const { port } = new URL(proxy.endpoint);
    await expect(fetch(`http://127.0.0.2:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it('moves: a large merge is committed and stays pending; a small one is moved', async () => {
    const tenant = await newAccount(table);
    const [largeIncident, smallIncident] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(12);
    const proxy = await startFailingTable(dynamodbEndpoint(), ['moves']);
    stop = proxy.close;
    const deps = testDeps(connectThrough(table, proxy), { timeLimits: { ...PATIENT_LIMITS, movesMs: 200 } });
    const { mergeAlerts } = handlersOver(deps, { transactionItems: 8 });
    const small = await tenant.merge(mergeAlerts, { alert_ids: alerts.slice(0, 2), incident_id: smallIncident });
    expect([small.status, await tenant.placements(alerts.slice(0, 2))]).toEqual([200, [smallIncident, smallIncident]]);
    expect((await tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id: largeIncident })).status).toBe(200);
    expect(await tenant.pending()).toHaveLength(1);
    expect(await tenant.placements(alerts)).not.toContain(largeIncident);
  });
});

it('admin status shows that calls fail although the service answers', async () => {
  const { appKey } = await newCaller(table);
  const failing = await startFailingTable(dynamodbEndpoint(), ['inventory']);
  stop = failing.close;
  const service = await serveTable(table, { functionsEndpoint: failing.endpoint });
  const { url, queueUrls: outputs } = service;
  const place = { endpoint: dynamodbEndpoint(), tableName: table.name };
  const forget = registerRunning({ pid: process.pid, url, ...place, outputs });
  for (const { path } of [browseFleet, getRumResource]) await callOnce(url, path, appKey);
  const { out } = await runCommand(['status', '--service', url, '--json']);
  await forget();
  await service.stop();
  expect(JSON.parse(out)).toMatchObject({ service: { url, answers: true, ms: expect.any(Number) }, dead_letters: 0 });
  const { operations } = JSON.parse(out).figures as { operations: { operation: string; calls: number }[] };
  const called = operations.filter(({ calls }) => calls > 0);
  // The command's own call may be among them.
  expect(called).toMatchObject([
    { operation: 'browse-fleet', calls: 1, failed: 1, p99_ms: expect.any(Number) },
    { operation: 'get-rum-resource', failed: 0 },
  ]);
});
