import { beforeAll, describe, expect, it } from 'vitest';
import { putAccount } from '../../lib/accounts/accounts.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { adminOf } from '../support/admin.ts';
import { hasEnvelope } from '../support/answers.ts';
import { aroundCalls, connectionLost } from '../support/faults.ts';
import { isMerged, newAccount } from '../support/incidents.ts';
import { connectAgain, handlersOver, newTable, put, stored, testDeps } from '../support/service.ts';

let table: Table;
beforeAll(async () => {
  table = await newTable();
});

/** A handler over a client of its own, whose calls can be made to fail. */
function instance() {
  const own = connectAgain(table);
  const deps = testDeps(own);
  return { table: own, deps, handler: handlersOver(deps).mergeAlerts };
}

describe('a merge at the border of one transaction', () => {
  it.each([94, 95, 96, 97, 98, 99, 100, 101])('moves all of %i alerts', async (count) => {
    const at = await newAccount(table);
    const to = await at.incident();
    await at.member(1);
    const alerts = await at.alerts(count);
    const headers = { 'Idempotency-Key': 'k' };
    const body = { alert_ids: alerts, incident_id: to, owner_id: 1, title: 'New' };
    hasEnvelope(await at.merge(instance().handler, body, { headers }), 200);
    await isMerged(at, to, alerts);
    expect(await at.incidentRow(to)).toMatchObject({ title: 'New', owner_id: 1 });
  });
});

describe('a merge of more alerts than one transaction holds', () => {
  it('moves 1,001 alerts, and is shown whole', async () => {
    const at = await newAccount(table);
    await putAccount(table, { account_id: at.account, name: 'Acme', permissions: [] });
    const [from, to] = [await at.incident(), await at.incident()];
    const alerts = [...(await at.alerts(990, from)), ...(await at.alerts(11))];
    hasEnvelope(await at.merge(instance().handler, { alert_ids: alerts, incident_id: to }), 200);
    await at.finish(to);
    await isMerged(at, to, alerts);
    const [entry] = await at.feed(to);
    expect(Object.keys(entry.moved).sort()).toEqual([from, 'none'].sort());
    const shown = await adminOf(table)(`show incident ${to} --account ${at.account} --json`);
    const { feed } = JSON.parse(shown.out);
    expect(feed).toHaveLength(1);
    expect(feed[0].moves).toHaveLength(1_001);
  });

  it('names a missing alert among 300, and changes nothing', async () => {
    const at = await newAccount(table);
    const to = await at.incident();
    const alerts = await at.alerts(299);
    const missing = 'f'.repeat(24);
    const answer = await at.merge(instance().handler, { alert_ids: [...alerts, missing], incident_id: to });
    hasEnvelope(answer, 400, 'ResourceNotFound');
    expect(answer.body.error.message).toContain(`alert ${missing}`);
    expect(await at.feed(to)).toEqual([]);
    expect(new Set(await at.whereabouts(alerts))).toEqual(new Set([undefined]));
  });
});

describe('a lost reply', () => {
  it.each([50, 150])('to the commit of %i alerts is no failure and no second merge', async (count) => {
    const at = await newAccount(table);
    const to = await at.incident();
    const alerts = await at.alerts(count);
    const { table: flaky, handler } = instance();
    let lost = 0;
    aroundCalls(flaky, async ({ command }, send) => {
      await send();
      if (command.startsWith('TransactWrite') && lost === 0) {
        lost += 1;
        throw connectionLost();
      }
    });
    hasEnvelope(await at.merge(handler, { alert_ids: alerts, incident_id: to }), 200);
    expect(lost).toBe(1);
    await isMerged(at, to, alerts);
  });

  it('to a commit that was never applied is ServiceUnavailable, and nothing has changed', async () => {
    const at = await newAccount(table);
    const to = await at.incident();
    const alerts = await at.alerts(3);
    const { table: flaky, handler } = instance();
    aroundCalls(flaky, async ({ command }, send) => {
      if (command.startsWith('TransactWrite')) throw connectionLost();
      await send();
    });
    const answer = await at.merge(handler, { alert_ids: alerts, incident_id: to });
    hasEnvelope(answer, 503, 'ServiceUnavailable');
    expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
    expect(await at.feed(to)).toEqual([]);
  });
});

describe('an alert that changes between reading and commit', () => {
  it('makes the merge read again, so that its feed tells the truth', async () => {
    const at = await newAccount(table);
    const [other, to] = [await at.incident(), await at.incident()];
    const [alert] = (await at.alerts(1)) as [string];
    const { table: own, handler } = instance();
    let changed = false;
    aroundCalls(own, async ({ command }, send) => {
      if (command.startsWith('TransactWrite') && !changed) {
        changed = true;
        await put(table, keys.alert(at.account, alert), { alert_id: alert, title: 'x', incident_id: other });
      }
      await send();
    });
    hasEnvelope(await at.merge(handler, { alert_ids: [alert], incident_id: to }), 200);
    expect((await at.feed(to))[0].moved).toEqual({ [other]: [alert] });
    expect(await stored(table, keys.alert(at.account, alert))).toMatchObject({ incident_id: to });
  });
});
