import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { itemBytes, MAX_ITEM_BYTES } from '../../lib/dynamodb/item-size.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { finishMerge, UnmovableAlertsError } from '../../lib/operations/merge-alerts/move.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { expectEnvelope } from '../support/answers.ts';
import { aroundCalls, connectionLost, dyingAfterCommit, losing, onceBefore } from '../support/faults.ts';
import { finishFeed } from '../support/finish.ts';
import { expectMerged, newAccount, objectId } from '../support/incidents.ts';
import { connectAgain, handlersOver, newTable, put, putAll, stored, testDeps } from '../support/service.ts';
import { tapWire } from '../support/wire.ts';

const table = await newTable();

/** A handler over a client of its own, whose calls can be made to fail. */
function instance() {
  const own = connectAgain(table);
  const deps = testDeps(own);
  return { table: own, deps, handler: handlersOver(deps).mergeAlerts };
}

/** What a merge gives beside its alerts, and the key that it is sent with. */
interface Extras {
  title?: string;
  owner_id?: number;
  key?: string;
}

describe('a merge that just fits into one transaction, which holds 100 rows', () => {
  it.each([
    [98, {}],
    [97, { title: 'New' }],
    [96, { owner_id: 1 }],
    [97, { key: 'k' }],
    [96, { title: 'New', owner_id: 1 }],
    [96, { title: 'New', key: 'k' }],
    [95, { owner_id: 1, key: 'k' }],
    [95, { title: 'New', owner_id: 1, key: 'k' }],
  ])(
    'is of %i alerts, and takes several transactions with one alert more, when it has %j',
    async (most, { key, ...fields }: Extras) => {
      for (const count of [most, most + 1]) {
        const tenant = await newAccount(table);
        const to = await tenant.incident();
        await tenant.member(1);
        const alerts = await tenant.alerts(count);
        const { table: own, handler } = instance();
        const tap = tapWire(own);
        const headers = key ? { 'Idempotency-Key': key } : {};
        expectEnvelope(
          await tenant.merge(handler, { alert_ids: alerts, incident_id: to, ...fields }, { headers }),
          200,
        );
        await tenant.finish(to);
        await expectMerged(tenant, to, alerts);
        expect(await tenant.incidentRow(to)).toMatchObject(fields);
        const sizes = tap.attempts
          .filter(({ command }) => command.startsWith('TransactWrite'))
          .map(({ body }) => (JSON.parse(body) as { TransactItems: unknown[] }).TransactItems.length);
        const { title, owner_id: owner } = fields;
        const more = [title ?? owner, owner, key].filter((value) => value !== undefined);
        // A large commit writes the entry, its list and the five rows of the merge order; then the moves follow.
        if (count === most) expect(sizes).toEqual([100]);
        else expect(sizes[0]).toBe(7 + more.length);
      }
    },
  );
});

describe('a merge of few alerts with large rows', () => {
  it.each([
    [8, 'with'],
    [9, 'after'],
  ])('(%i of 60 KB) moves them %s its commit: 500 KB of rows are the most for one transaction', async (count, when) => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = Array.from({ length: count }, objectId);
    const row = (id: string) => ({ ...keys.alert(tenant.account, id), alert_id: id, notes: 'x'.repeat(60_000) });
    await putAll(table, alerts.map(row));
    expectEnvelope(await tenant.merge(instance().handler, { alert_ids: alerts, incident_id: to }), 200);
    await tenant.finish(to);
    await expectMerged(tenant, to, alerts);
    expect((await tenant.feed(to))[0].large).toBe(when === 'after' ? true : undefined);
  });
});

describe('a merge of more alerts than one transaction holds', () => {
  it('moves 1,001 alerts, and is shown whole', async () => {
    const tenant = await newAccount(table);
    const [from, to] = [await tenant.incident(), await tenant.incident()];
    const alerts = [...(await tenant.alerts(990, from)), ...(await tenant.alerts(11))];
    expectEnvelope(await tenant.merge(instance().handler, { alert_ids: alerts, incident_id: to }), 200);
    await tenant.finish(to);
    await expectMerged(tenant, to, alerts);
    const [entry] = await tenant.feed(to);
    expect(Object.keys(entry.moved).sort()).toEqual([from, 'none'].sort());
    const shown = await adminOf(table)(`show incident ${to} --account ${tenant.account} --json`);
    const { feed } = JSON.parse(shown.out);
    expect(feed).toHaveLength(1);
    expect(feed[0].moves).toHaveLength(1_001);
  });
});

describe('a lost reply', () => {
  it.each([50, 150])('to the commit of %i alerts is no failure and no second merge', async (count) => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = await tenant.alerts(count);
    const { table: flaky, handler } = instance();
    let lost = 0;
    aroundCalls(flaky, async ({ command }, send) => {
      await send();
      if (command.startsWith('TransactWrite') && lost === 0) {
        lost += 1;
        throw connectionLost();
      }
    });
    expectEnvelope(await tenant.merge(handler, { alert_ids: alerts, incident_id: to }), 200);
    expect(lost).toBe(1);
    await expectMerged(tenant, to, alerts);
  });

  it('to a commit that was never applied is ServiceUnavailable, and nothing has changed', async () => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = await tenant.alerts(3);
    const { table: flaky, handler } = instance();
    aroundCalls(flaky, losing('TransactWrite'));
    const answer = await tenant.merge(handler, { alert_ids: alerts, incident_id: to });
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
    expect(await tenant.feed(to)).toEqual([]);
  });
});

describe('an alert that changes between reading and commit', () => {
  it('makes the merge read again, so that its feed is correct', async () => {
    const tenant = await newAccount(table);
    const [other, to] = [await tenant.incident(), await tenant.incident()];
    const [alert] = (await tenant.alerts(1)) as [string];
    const { table: own, handler } = instance();
    const changed = { alert_id: alert, title: 'x', incident_id: other };
    aroundCalls(
      own,
      onceBefore('TransactWrite', () => put(table, keys.alert(tenant.account, alert), changed)),
    );
    expectEnvelope(await tenant.merge(handler, { alert_ids: [alert], incident_id: to }), 200);
    expect((await tenant.feed(to))[0].moved).toEqual({ [other]: [alert] });
    expect(await stored(table, keys.alert(tenant.account, alert))).toMatchObject({ incident_id: to });
  });
});

describe('a row that a merge names and that is deleted between reading and commit', () => {
  it.each([
    ['member', 3],
    ['member', 150],
    ['incident', 3],
    ['incident', 150],
  ] as const)('(a %s, of %i alerts) is ResourceNotFound, and nothing has changed', async (what, count) => {
    const tenant = await newAccount(table);
    const to = await tenant.incident({ title: 'Old' });
    await tenant.member(12);
    const alerts = await tenant.alerts(count);
    const { table: own, handler } = instance();
    const row = what === 'member' ? keys.member(tenant.account, 12) : keys.incident(tenant.account, to);
    const deletion = new DeleteCommand({ TableName: table.name, Key: row });
    aroundCalls(
      own,
      onceBefore('TransactWrite', () => table.client.send(deletion)),
    );
    const body = { alert_ids: alerts, incident_id: to, title: 'New', owner_id: 12 };
    const answer = await tenant.merge(handler, body);
    expectEnvelope(answer, 400, 'ResourceNotFound');
    expect(answer.body.error.message).toContain(what === 'member' ? 'member 12' : `incident ${to}`);
    expect(await tenant.feed(to)).toEqual([]);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([undefined]));
    if (what === 'member') expect(await tenant.incidentRow(to)).toMatchObject({ title: 'Old' });
    else expect(await tenant.incidentRow(to)).toBeUndefined();
  });
});

/** A row that is as large as DynamoDB's limit, which counts keys, names and values. @param room bytes that it leaves */
function fullRow(account: number, alert_id: string, room = 0) {
  const empty = itemBytes(marshall({ ...keys.alert(account, alert_id), alert_id, title: '' }));
  return { alert_id, title: 'x'.repeat(MAX_ITEM_BYTES - empty - room) };
}

describe('an alert whose row cannot be updated', () => {
  it.each([1, 150])('fails a merge of %i alerts before its commit, which names it', async (count) => {
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = await tenant.alerts(count);
    const [full = ''] = alerts;
    const key = keys.alert(tenant.account, full);
    await put(table, key, fullRow(tenant.account, full));
    const answer = await tenant.merge(instance().handler, { alert_ids: alerts, incident_id: to });
    expectEnvelope(answer, 400, 'BadRequest');
    expect(answer.body.error.message).toContain(full);
    expect(await tenant.feed(to)).toEqual([]);

    // As large as it can be and still be moved.
    const widest = itemBytes(marshall({ incident_id: to, moved_sequence: 999_999_999_999_999 }));
    await put(table, key, fullRow(tenant.account, full, widest));
    expectEnvelope(await tenant.merge(instance().handler, { alert_ids: alerts, incident_id: to }), 200);
    await tenant.finish(to);
    await expectMerged(tenant, to, alerts);
  });

  it('fails a merge before its commit also when the row has room for a first move only', async () => {
    const tenant = await newAccount(table);
    const [first, second] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(150);
    const [full = ''] = alerts;
    const room = itemBytes(marshall({ incident_id: first, moved_sequence: 999_999_999_999_999, moved_from: first }));
    await put(table, keys.alert(tenant.account, full), fullRow(tenant.account, full, room));
    expectEnvelope(await tenant.merge(instance().handler, { alert_ids: alerts, incident_id: first }), 200);
    await tenant.finish(first);
    const answer = await tenant.merge(instance().handler, { alert_ids: alerts, incident_id: second });
    expectEnvelope(answer, 400, 'BadRequest');
    expect(answer.body.error.message).toContain(full);
    expect(await tenant.feed(second)).toEqual([]);
  });

  it('is named, and the other alerts of its merge are moved', async () => {
    const tenant = await newAccount(table);
    const [to, later] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(150);
    const dying = instance();
    aroundCalls(dying.table, dyingAfterCommit());
    expectEnvelope(await tenant.merge(dying.handler, { alert_ids: alerts, incident_id: to }), 200);
    const [full, [beside = '']] = [alerts.slice(0, 2), alerts.slice(2)];
    for (const id of full) await put(table, keys.alert(tenant.account, id), fullRow(tenant.account, id));
    const feed = await tenant.feed(to);
    const { sequence } = feed[0];
    const finishing = testDeps(table);
    const error = await finishFeed(table, feed, { deps: finishing }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnmovableAlertsError);
    const { alertIds } = error as UnmovableAlertsError;
    expect(alertIds.toSorted()).toEqual(full.toSorted());
    // The log line that docs/operate.md tells the operator to look for.
    const entry = { account_id: tenant.account, incident_id: to, sequence };
    const fields = { ...entry, error_name: 'UnmovableAlertsError', alert_ids: alertIds };
    expect(finishing.log.lines).toEqual([{ level: 'error', message: 'merge not finished', fields }]);
    expect(new Set(await tenant.placements(alerts.slice(2)))).toEqual(new Set([to]));
    expect(await tenant.pending()).toEqual([String(sequence)]);

    // Nothing waits for them.
    expectEnvelope(await tenant.merge(instance().handler, { alert_ids: [beside], incident_id: later }), 200);
    expect(await tenant.placements([beside])).toEqual([later]);

    // The way out: smaller rows.
    for (const id of full) await put(table, keys.alert(tenant.account, id), { alert_id: id, title: '' });
    expect(await finishMerge(table, tenant.account, { incidentId: to, sequence })).toBe('finished');
    expect(new Set(await tenant.placements(full))).toEqual(new Set([to]));
    expect(await tenant.pending()).toEqual([]);
  });
});
