import { describe, expect, it } from 'vitest';
import { keys } from '../../../../lib/dynamodb/keys.ts';
import { FLEET_STATUSES } from '../../../../lib/http/operations.ts';
import { deriveStatus } from '../../../../lib/operations/browse-fleet/host-status.ts';
import { expectEnvelope } from '../../../../test/support/answers.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { handlersOver, newTable, put, putAll, testDeps } from '../../../../test/support/service.ts';
import { adminOf } from '../support/run-admin.ts';

const table = await newTable();
const admin = adminOf(table);
const json = async (command: string, options = {}) => JSON.parse((await admin(`${command} --json`, options)).out);

const NOW = 1_800_000_000_000;
const HOST = {
  agent_version: '4.12.0',
  edge_cluster: 'fra-1',
  enabled: true,
  snapshot_ready: true,
  report_interval_ms: 30_000,
};
const LIVE = {
  received_at_ms: NOW - 5_000,
  node_count: 3,
  edge_count: 4,
  authoritative: true,
  graph_available: true,
  snapshot_truncated: false,
  snapshot_degraded: false,
};

describe('show host', () => {
  it.each<[rule: number, host: object, live: object | undefined, why: RegExp]>([
    [1, { capability_status: 'unsupported' }, LIVE, /capability_status is unsupported/],
    [2, { enabled: false }, LIVE, /Collection is not enabled/],
    [2, { capability_status: 'disabled' }, LIVE, /capability_status is disabled/],
    [3, { capability_status: 'failed' }, LIVE, /capability_status is failed/],
    [
      4,
      { snapshot_ready: false, capability_status: 'starting' },
      undefined,
      /No snapshot has been received and snapshot_ready is false/,
    ],
    [
      5,
      {},
      { ...LIVE, received_at_ms: undefined, health_at_ms: NOW },
      /reported health, but no snapshot has been received/,
    ],
    [6, {}, undefined, /Neither a snapshot nor a health report has been received/],
    [7, {}, { ...LIVE, received_at_ms: NOW - 612_000 }, /is 10 min old: more than twice the report interval of 30 s\./],
    [
      7,
      { report_interval_ms: undefined },
      { ...LIVE, received_at_ms: NOW - 612_000 },
      /interval of 1 min \(the default/,
    ],
    [8, {}, { ...LIVE, snapshot_truncated: true }, /is 5\.0 s old, but: snapshot_truncated\./],
    [9, {}, LIVE, /is 5\.0 s old, within twice the report interval of 30 s/],
  ])('names the rule that decided, here %i, and its values', async (rule, host, live, why) => {
    const { account } = await newAccount(table);
    const row = { ...HOST, ...host };
    await put(table, keys.host(account, 'h 1'), row);
    if (live) await put(table, keys.hostStatus(account, 'h 1'), live);
    const clock = { now: () => NOW };
    const command = ['show', 'host', 'h 1', '--account', String(account)];
    const shown = JSON.parse((await admin([...command, '--json'], clock)).out);
    const derived = deriveStatus(row as never, live as never, NOW);
    expect(shown).toMatchObject({ rule, status: derived.status, reasons: derived.reasons });
    expect(shown.why).toMatch(why);
    const { out } = await admin(command, clock);
    expect(out).toContain(`h 1 is ${derived.status} (rule ${rule}).\n${shown.why}\n`);
    expect(out).toMatch(live ? /Live status\n {2}host_id/ : /Live status\n {2}none/);
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
    // Their statuses depend on the time.
    const at = { now: () => NOW };
    await admin(`fleet simulate --account ${account} --hosts 60`, at);
    // A thousand are read at once.
    const more = Array.from({ length: 1_100 }, (_, index) => `more-${index}`);
    await putAll(
      table,
      more.flatMap((id, index) => [
        { ...keys.host(account, id), ...HOST },
        {
          ...{ ...keys.hostStatus(account, id), ...LIVE, snapshot_truncated: index % 3 === 1 },
          received_at_ms: index % 3 === 2 ? NOW - 3_600_000 : LIVE.received_at_ms,
        },
      ]),
    );
    const { hosts, statuses, edge_clusters } = await json(`show fleet --account ${account}`, at);
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0);
    expect(hosts).toBe(1_160);
    expect(sum(statuses)).toBe(1_160);
    for (const status of FLEET_STATUSES)
      expect(statuses[status]).toBe(
        sum(
          Object.fromEntries(
            Object.entries(edge_clusters).map(([name, counts]) => [
              name,
              (counts as Record<string, number>)[status] ?? 0,
            ]),
          ),
        ),
      );
    const { out } = await admin(`show fleet --account ${account}`, at);
    expect(out).toMatch(new RegExp(`^all +${statuses.active} +${statuses.degraded} .* +a+d+s+`, 'm'));
    expect(out).not.toContain('\u001b');
  });

  it('has colours on a terminal, but not with NO_COLOR', async () => {
    const { account } = await newAccount(table);
    await admin(`fleet simulate --account ${account} --hosts 50`);
    const command = `show fleet --account ${account}`;
    expect((await admin(command, { terminal: true })).out).toContain('\u001b[32m█');
    expect((await admin(command, { terminal: true, env: { NO_COLOR: '1' } })).out).not.toContain('\u001b[3');
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
      incident_id: to,
      title: 'New',
      owner_id: 7,
      feed: [{ kind: 'merge', stayed: [alerts[3]] }],
    });
    expect(shown.feed[0].moves).toHaveLength(3);
    const { out } = await admin(`show incident ${to} --account ${tenant.account}`);
    expect(out).toContain(String(shown.feed[0].sequence).padStart(15, '0'));
    for (const line of [
      `2 alerts from ${from}`,
      '1 alert from no incident',
      '1 alert already there',
      'title: Checkout is down → New',
      'owner: none → 7',
      'comment: one cause',
    ])
      expect(out).toContain(line);
    expect(out).toContain(`merge by ${(await tenant.feed(to))[0].by}`);

    expect(await json(`show alert ${alerts[0]} --account ${tenant.account}`)).toMatchObject({
      incident_id: to,
      incident_title: 'New',
    });
    await put(table, keys.workItem(tenant.account, 'w'), {
      work_item_id: 'w',
      version: 2,
      title: 't',
      deleted_at_ms: NOW,
    });
    expect(await json(`show work-item w --account ${tenant.account}`)).toMatchObject({ version: 2, state: 'deleted' });
    expect((await admin(`show work-item w --account ${tenant.account}`)).out).toContain('(2027-01-15 08:00:00 UTC)');
  });

  it.each(['incident', 'alert'])('report a missing %s', async (kind) => {
    const tenant = await newAccount(table);
    const { exitCode, err } = await admin(`show ${kind} ${'f'.repeat(24)} --account ${tenant.account}`);
    expect([exitCode, err]).toEqual([1, `Account ${tenant.account} has no ${kind} ${'f'.repeat(24)}.\n`]);
  });
});
