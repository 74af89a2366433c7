import { afterAll, describe, expect, inject, it } from 'vitest';
import { commit } from '../../../../lib/operations/merge-alerts/commit.ts';
import { mergeOrderOf } from '../../../../lib/operations/merge-alerts/merge-order.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { listen } from '../../../../test/support/listen.ts';
import { newAppKey, newTable, stored } from '../../../../test/support/service.ts';
import { loadData } from '../../../admin/data/load.ts';
import { createLocalGatewayKeys } from '../../../admin/local-service/local-gateway-keys.ts';
import { readDeployment } from '../../deployment.ts';
import { docsPage, exactJson } from '../../docs.ts';
import { createGateway } from '../../gateway.ts';
import { callService, serveTable } from '../support/start-service.ts';

const account = '9007199254740993';
const appKey = newAppKey();
const table = await newTable({ stream: true });
const data = [
  `{"kind":"account","account_id":${account},"name":"Big","permissions":["monit"]}`,
  `{"kind":"app_key","account_id":${account},"app_key":"${appKey}"}`,
  `{"kind":"member","account_id":${account},"member_id":9223372036854775807,"name":"Max"}`,
  `{"kind":"incident","account_id":${account},"incident_id":"${'a'.repeat(24)}","title":"t"}`,
  `{"kind":"alert","account_id":${account},"alert_id":"${'b'.repeat(24)}","title":"t"}`,
];
await loadData(table, 'test', data, { nowMs: Date.now(), gatewayKeys: createLocalGatewayKeys(table) });
const service = await serveTable(table);
afterAll(() => service.stop());

describe('the local gateway', () => {
  it('an int64 goes in unchanged', async () => {
    const body = `{"incident_id":"${'A'.repeat(24)}","alert_ids":["${'b'.repeat(24)}"],"owner_id":9223372036854775807}`;
    expect((await callService(service.url, '/alert/merge', appKey, body)).status).toBe(200);
    const incident = await stored(table, keys.incident(BigInt(account), 'a'.repeat(24)));
    expect(incident.owner_id).toBe(9223372036854775807n);
  });

  it('60 unknown keys at once are Unauthorized, and none is throttled', async () => {
    const calls = Array.from({ length: 60 }, () => callService(service.url, '/rum/resource/info', newAppKey()));
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([401]));
  });

  it('a merge whose call died after its commit is finished from the table stream', async () => {
    const tenant = await newAccount(table);
    const incident = await tenant.incident();
    const alerts = await tenant.alerts(120);
    const result = await commit(
      table,
      {
        account: tenant.account,
        entry: {
          ...{ kind: 'merge', incident_id: incident, sequence: 1, merge_id: 'm', at_ms: Date.now() - 60_000 },
          ...{ by: 'k', request_id: 'r', large: true },
        },
        moves: alerts.map((alertId) => ({ alertId, from: undefined, to: incident })),
        rows: new Map(),
        incident: { incident_id: incident, title: '' },
        order: mergeOrderOf(undefined),
      },
      [],
    );
    expect(result).toHaveProperty('committed');
    await expect.poll(async () => (await tenant.feed(incident))[0].pending, { interval: 250 }).toBeUndefined();
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([incident]));
  });
});

it('the gateway reports the name and the error of a function that fails', async () => {
  const failures: string[] = [];
  const gateway = createGateway({
    deployment: readDeployment(inject('template'), table.name),
    invoke: () => Promise.reject(new Error('no such table')),
    onFailed: (name, { message }) => failures.push(`${name}: ${message}`),
  });
  const port = await listen(gateway);
  expect((await fetch(`http://127.0.0.1:${port}/openapi.json`)).status).toBe(503);
  expect(failures).toEqual(['openapi-document: no such table']);
  gateway.closeAllConnections();
  gateway.close();
});

it('the reference page shows the numbers of an answer as they were sent', () => {
  const text = '{"id":9223372036854775807,"n":[1.0,1e3,-0.10],"s":"a\\u0041"}';
  expect(exactJson(text)).toBe(
    '{\n  "id": 9223372036854775807,\n  "n": [\n    1.0,\n    1e3,\n    -0.10\n  ],\n  "s": "aA"\n}',
  );
  for (const notJson of ['no JSON', '', undefined, { size: 3 }]) expect(exactJson(notJson as string)).toBeUndefined();
  const page = docsPage('k', 'n');
  // The copy in the page works without this module, so the function uses nothing outside itself.
  const source = page.slice(page.indexOf('function exactJson'), page.indexOf('// Swagger UI parses'));
  expect(new Function(`${source}; return exactJson('[9007199254740993]')`)()).toBe('[\n  9007199254740993\n]');
  expect(page).toContain('plugins: [showExactly]');
});
