import { describe, expect, it } from 'vitest';
import { deriveStatus } from '../../../../lib/operations/browse-fleet/host.ts';
import { FLEET_STATUSES } from '../../../../lib/operations/browse-fleet/schema.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { inventory, live } from '../../../../test/support/fleet.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { handlersOver, newTable, put, putAll, testDeps } from '../../../../test/support/service.ts';
import { adminOf } from '../support/run-admin.ts';

const table = await newTable();
const admin = adminOf(table);
const json = async (command: string, options = {}) => JSON.parse((await admin(`${command} --json`, options)).out);

const NOW = 1_800_000_000_000;
const HOST = inventory({ edge_cluster: 'fra-1', report_interval_ms: 30_000 });
const LIVE = live({ received_at_ms: NOW - 5_000 });
const OLD = live({ received_at_ms: NOW - 612_000 });
const { received_at_ms: _none, ...HEALTH } = live({ health_at_ms: NOW });

describe('show host', () => {
  it.each<[rule: number, host: object, live: object | undefined, why: string]>([
    [1, { capability_status: 'unsupported' }, LIVE, 'capability_status is unsupported'],
    [2, { enabled: false }, LIVE, 'Collection is not enabled'],
    [2, { capability_status: 'disabled' }, LIVE, 'capability_status is disabled'],
    [3, { capability_status: 'failed' }, LIVE, 'capability_status is failed'],
    [4, { snapshot_ready: false, capability_status: 'starting' }, undefined, 'and snapshot_ready is false'],
    [5, {}, HEALTH, 'reported health, but no snapshot has been received'],
    [6, {}, undefined, 'Neither a snapshot nor a health report has been received'],
    [7, {}, OLD, 'is 10 min old: more than twice the report interval of 30 s.'],
    [7, { report_interval_ms: undefined }, OLD, 'interval of 1 min (the default'],
    [8, {}, { ...LIVE, snapshot_truncated: true }, 'is 5.0 s old, but: snapshot_truncated.'],
    [9, {}, LIVE, 'is 5.0 s old, within twice the report interval of 30 s'],
  ])('names the rule that decided, here %i, and its values', async (rule, fields, status, why) => {
    const { account } = await newAccount(table);
    const host = { ...HOST, ...fields };
    await put(table, keys.host(account, 'h 1'), host);
    if (status) await put(table, keys.hostStatus(account, 'h 1'), status);
    const clock = { now: () => NOW };
    const command = ['show', 'host', 'h 1', '--account', String(account)];
    const shown = JSON.parse((await admin([...command, '--json'], clock)).out);
    const derived = deriveStatus(host as never, status as never, NOW);
    expect(shown).toMatchObject({ ...derived, rule, why: expect.stringContaining(why) });
    const { out } = await admin(command, clock);
    expect(out).toContain(`h 1 is ${derived.status} (rule ${rule}).\n${shown.why}\n`);
    expect(out).toMatch(status ? /Live status\n {2}host_id/ : /Live status\n {2}none/);
  });

  it('distinguishes a host without inventory from a missing one', async () => {
    const { account } = await newAccount(table);
    await put(table, keys.hostStatus(account, 'orphan'), LIVE);
    expect((await admin(`show host orphan --account ${account}`)).out).toContain('It is not in the inventory');
    const { exitCode, err } = await admin(`show host x --account ${account}`);
    expect([exitCode, err]).toEqual([1, `Account ${account} has no host x.\n`]);
  });
});

describe('show fleet', () => {
  it('counts every host once, by edge cluster and status, over any number of pages', async () => {
    const { account } = await newAccount(table);
    // More than the thousand hosts that are read at once, in turn active, degraded and stale.
    const statuses = [LIVE, { ...LIVE, snapshot_truncated: true }, OLD];
    await putAll(
      table,
      Array.from({ length: 1_100 }, (_, index) => [
        { ...keys.host(account, `h${index}`), ...HOST, edge_cluster: `c${index % 2}` },
        { ...keys.hostStatus(account, `h${index}`), ...statuses[index % 3] },
      ]).flat(),
    );
    const clock = { now: () => NOW };
    const counts = (active: number, degraded: number, stale: number) => ({
      ...Object.fromEntries(FLEET_STATUSES.map((status) => [status, 0])),
      ...{ active, degraded, stale },
    });
    expect(await json(`show fleet --account ${account}`, clock)).toMatchObject({
      ...{ hosts: 1_100, statuses: counts(367, 367, 366) },
      edge_clusters: { c0: counts(184, 183, 183), c1: counts(183, 184, 183) },
    });
    const { out } = await admin(`show fleet --account ${account}`, clock);
    expect(out).toMatch(/^all +367 +367 .* +a+d+s+/m);
    expect(out).not.toContain('\u001b');
  });

  it('has colours on a terminal, but not with NO_COLOR', async () => {
    const { account } = await newAccount(table);
    await put(table, keys.host(account, 'h'), HOST);
    await put(table, keys.hostStatus(account, 'h'), LIVE);
    const command = `show fleet --account ${account}`;
    expect((await admin(command, { terminal: true, now: () => NOW })).out).toContain('\u001b[32m█');
    expect((await admin(command, { terminal: true, now: () => NOW, env: { NO_COLOR: '1' } })).out).not.toContain(
      '\u001b[3',
    );
  });
});

describe('show incident, alert and work-item', () => {
  it('show what is stored, and the feed', async () => {
    const tenant = await newAccount(table);
    await tenant.member(7);
    const [from, to] = [await tenant.incident({ title: 'Other' }), await tenant.incident()];
    const alerts = [...(await tenant.alerts(2, from)), ...(await tenant.alerts(1)), ...(await tenant.alerts(1, to))];
    const { mergeAlerts: handler } = handlersOver(testDeps(table));
    const body = { alert_ids: alerts, incident_id: to, title: 'New', owner_id: 7, comment: 'one cause' };
    expectEnvelope(await tenant.merge(handler, body), 200);

    const shown = await json(`show incident ${to.toUpperCase()} --account ${tenant.account}`);
    expect(shown).toMatchObject({
      ...{ incident_id: to, title: 'New', owner_id: 7 },
      feed: [{ kind: 'merge', stayed: [alerts[3]], moves: [{}, {}, {}] }],
    });
    const { out } = await admin(`show incident ${to} --account ${tenant.account}`);
    for (const text of [
      String(shown.feed[0].sequence).padStart(15, '0'),
      `merge by ${(await tenant.feed(to))[0].by}`,
      `2 alerts from ${from}`,
      '1 alert from no incident',
      '1 alert already there',
      'title: Checkout is down → New',
      'owner: none → 7',
      'comment: one cause',
    ])
      expect(out).toContain(text);

    const alert = await json(`show alert ${alerts[0]} --account ${tenant.account}`);
    expect(alert).toMatchObject({ incident_id: to, incident_title: 'New' });
    const item = { work_item_id: 'w', version: 2, title: 't', deleted_at_ms: NOW };
    await put(table, keys.workItem(tenant.account, 'w'), item);
    expect(await json(`show work-item w --account ${tenant.account}`)).toMatchObject({ version: 2, state: 'deleted' });
    expect((await admin(`show work-item w --account ${tenant.account}`)).out).toContain('(2027-01-15 08:00:00 UTC)');
  });

  it.each(['incident', 'alert'])('report a missing %s', async (kind) => {
    const tenant = await newAccount(table);
    const { exitCode, err } = await admin(`show ${kind} ${'f'.repeat(24)} --account ${tenant.account}`);
    expect([exitCode, err]).toEqual([1, `Account ${tenant.account} has no ${kind} ${'f'.repeat(24)}.\n`]);
  });
});
