import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { DEMO_KEYS, sampleData } from '../../../../infra/generate/sample.ts';
import type { Table } from '../../../../lib/dynamodb/client.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newTable } from '../../../../test/support/service.ts';
import { loadData } from '../../../admin/data/load.ts';
import { createLocalGatewayKeys } from '../../../admin/local-service/local-gateway-keys.ts';
import { noteRunning } from '../../../admin/local-service/running.ts';
import { runCommand } from '../../../admin/test/support/run-admin.ts';
import { startFailingTable } from '../../failing-table.ts';
import { type LocalService, startService } from '../../local-service.ts';

let table: Table;
let service: LocalService;
let failing: Awaited<ReturnType<typeof startFailingTable>>;
let forget: () => Promise<void>;
beforeAll(async () => {
  table = await newTable();
  const gatewayKeys = createLocalGatewayKeys(table);
  await loadData(table, 'sample', sampleData(Date.now()), { nowSeconds: Math.floor(Date.now() / 1000), gatewayKeys });
  failing = await startFailingTable(dynamodbEndpoint(), ['inventory']);
  service = await startService({
    ...{ template: inject('template'), endpoint: dynamodbEndpoint(), functionsEndpoint: failing.endpoint },
    ...{ tableName: table.name, port: 0 },
  });
  forget = noteRunning({
    pid: process.pid,
    url: service.url,
    endpoint: dynamodbEndpoint(),
    tableName: table.name,
    outputs: {},
  });
});
afterAll(async () => {
  await forget();
  await service.stop();
  await failing.close();
});

it('admin status shows that calls fail although the service answers', async () => {
  const call = (path: string) =>
    fetch(`${service.url}${path}?app_key=${DEMO_KEYS.demo}`, {
      ...{ method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } },
    });
  expect((await call('/monit/servicemap/fleet')).status).toBe(503);
  expect((await call('/rum/resource/info')).status).toBe(200);
  const status = async () => JSON.parse((await runCommand(['status', '--service', service.url, '--json'])).out);
  const { service: own, figures, dead_letters, pending_merges } = await status();
  expect(own).toEqual({ url: service.url, answers: true, ms: expect.any(Number) });
  expect([dead_letters, pending_merges]).toEqual([0, []]);
  expect(figures.operations).toMatchObject([
    { operation: 'browse-fleet', calls: 1, failed: 1, p99_ms: expect.any(Number) },
    // Its own call may be among them.
    { operation: 'get-rum-resource', failed: 0 },
    { operation: 'delete-work-item', calls: 0 },
    { operation: 'merge-alerts', calls: 0 },
  ]);
});
