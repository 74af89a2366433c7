import { expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { browseFleet, deleteWorkItem, getRumResource } from '../../lib/http/operations.ts';
import { expectEnvelope } from '../support/answers.ts';
import { newAccount } from '../support/incidents.ts';
import { RUM_RECORD } from '../support/rum.ts';
import { callOperation, handlersOver, newTable, put, stored, testDeps } from '../support/service.ts';

it('while writes are frozen, deletions and merges are refused with Retry-After and change nothing, and reads go on', async () => {
  const table = await newTable();
  const tenant = await newAccount(table);
  const { appKey, account } = tenant;
  const [to, alerts] = [await tenant.incident(), await tenant.alerts(2)];
  const item = { work_item_id: 'w', version: 1, title: 't' };
  await put(table, keys.workItem(account, 'w'), item);
  await put(table, keys.rumResource(account), RUM_RECORD);
  const frozen = handlersOver(testDeps(table, { settings: { writesFrozen: true } }));

  for (const answer of [
    await callOperation(frozen, deleteWorkItem, { appKey, body: { work_item_id: 'w', version: 1 } }),
    await tenant.merge(frozen.mergeAlerts, { alert_ids: alerts, incident_id: to }),
  ]) {
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(answer.headers['Retry-After']).toBe('60');
  }
  expect(await stored(table, keys.workItem(account, 'w'))).toMatchObject(item);
  expect(await tenant.placements(alerts)).toEqual([undefined, undefined]);
  expect(await tenant.feed(to)).toEqual([]);

  expectEnvelope(await callOperation(frozen, getRumResource, { appKey, body: {} }), 200);
  expectEnvelope(await callOperation(frozen, browseFleet, { appKey, body: {} }), 200);
});
