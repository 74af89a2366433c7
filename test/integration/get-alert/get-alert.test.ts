/** What `/alert/info` refuses, and how fresh it is. `test/integration/list-alerts` has what it returns. */
import { expect, it } from 'vitest';
import { getAlert } from '../../../lib/operations/get-alert/schema.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { expectData, expectEnvelope } from '../../support/answers.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, createHandlers, newDouble, stored, testDeps } from '../../support/service.ts';

const table = newDouble();
const handlers = createHandlers(testDeps(table));

async function newCaller() {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  const ingest = ingestOver(table);
  return {
    ...tenant,
    send: (fields: object) =>
      ingest.send({ kind: 'alert', account_id: account, alert_key: 'k', title: 't', ...fields }),
    idOf: async () => (await stored(table, keys.alertKey(account, 'k'))).alert_id as string,
    info: (alert_id: string) => callAlone(handlers, getAlert, { appKey, body: { alert_id } }),
    list: (body: object) => callAlone(handlers, listAlerts, { appKey, body }),
  };
}

it('an alert that does not exist, or belongs to another account, is ResourceNotFound', async () => {
  const [a, b] = [await newCaller(), await newCaller()];
  await a.send({});
  const id = await a.idOf();
  expectData(getAlert, await a.info(id));
  for (const answer of [await b.info(id), await a.info('a'.repeat(24))]) {
    expectEnvelope(answer, 400, 'ResourceNotFound');
    expect(answer.body.error.message).toMatch(/^Alert [0-9a-f]{24} does not exist\.$/);
  }
  expect(expectData(listAlerts, await b.list({ alert_ids: [id], alert_keys: ['k'] })).items).toEqual([]);
});

it('an alert is in the incident of its last merge', async () => {
  const { send, idOf, info, incident, merge } = await newCaller();
  const [from, to] = [await incident(), await incident({ title: 'Down' })];
  await send({ incident_id: from });
  const id = await idOf();
  await merge(handlers.mergeAlerts, { alert_ids: [id], incident_id: to });
  expect(expectData(getAlert, await info(id)).incident).toEqual({ incident_id: to, title: 'Down' });
});
