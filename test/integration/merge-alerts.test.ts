import { describe, expect, it } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../lib/auth/app-keys.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import { expectEnvelope } from '../support/answers.ts';
import { type Account, newAccount, objectId } from '../support/incidents.ts';
import { type EventOptions, handlersOver, newTable, testDeps } from '../support/service.ts';

const table = await newTable();
const handlers = handlersOver(testDeps(table));
const merge = (tenant: Account, body: unknown, options?: EventOptions) =>
  tenant.merge(handlers.mergeAlerts, body, options);
const given = () => newAccount(table);

describe('a merge', () => {
  it('moves every alert, writes one feed entry, changes the incident, and leaves other incidents as they are', async () => {
    const tenant = await given();
    const from = await tenant.incident();
    const to = await tenant.incident({ title: 'Old', owner_id: 7 });
    const source = await tenant.incidentRow(from);
    await tenant.member(9007199254740993n);
    const [first, second] = (await tenant.alerts(2, from)) as [string, string];
    const [loose] = (await tenant.alerts(1)) as [string];
    const [there] = (await tenant.alerts(1, to)) as [string];
    const before = Date.now();
    const alert_ids = [first, second, loose, there];
    const rawBody = `{"alert_ids":${JSON.stringify(alert_ids)},"incident_id":"${to}","title":"New","comment":"same cause","owner_id":9007199254740993}`;
    const answer = await merge(tenant, undefined, { rawBody });
    expectEnvelope(answer, 200);
    expect(answer.body.data).toBeNull();

    expect(await tenant.placements(alert_ids)).toEqual([to, to, to, to]);
    const feed = await tenant.feed(to);
    expect(feed).toHaveLength(1);
    expect(feed[0]).toMatchObject({
      kind: 'merge',
      by: appKeyIdOf(hashAppKey(tenant.appKey)),
      comment: 'same cause',
      moved: { [from]: [first, second], none: [loose] },
      stayed: [there],
      old_title: 'Old',
      new_title: 'New',
      old_owner_id: 7,
      new_owner_id: 9007199254740993n,
    });
    expect(feed[0].at_ms).toBeGreaterThanOrEqual(before);
    expect(feed[0]).not.toHaveProperty('pending');
    expect(await tenant.incidentRow(to)).toMatchObject({ title: 'New', owner_id: 9007199254740993n });
    // The contract does not say that a merge closes the incident that an alert came from.
    expect(await tenant.incidentRow(from)).toEqual(source);
  });

  it('counts an empty title and an empty comment as not given', async () => {
    const tenant = await given();
    const to = await tenant.incident({ title: 'Kept' });
    const alert_ids = await tenant.alerts(1);
    expectEnvelope(await merge(tenant, { alert_ids, incident_id: to, title: '', comment: '' }), 200);
    const [entry] = await tenant.feed(to);
    for (const absent of ['comment', 'new_title', 'old_title', 'new_owner_id'])
      expect(entry).not.toHaveProperty(absent);
    expect(await tenant.incidentRow(to)).toMatchObject({ title: 'Kept' });
  });

  it('counts repeated ids once, in either letter case', async () => {
    const tenant = await given();
    const to = await tenant.incident();
    const [alert] = (await tenant.alerts(1)) as [string];
    const alert_ids = [alert, alert.toUpperCase(), alert];
    expectEnvelope(await merge(tenant, { alert_ids, incident_id: to.toUpperCase() }), 200);
    expect((await tenant.feed(to))[0].moved).toEqual({ none: [alert] });
  });

  it('names what is missing, the first ten and how many more, and changes nothing', async () => {
    const tenant = await given();
    const to = await tenant.incident({ title: 'Old' });
    const [alert] = (await tenant.alerts(1)) as [string];
    const unknown = Array.from({ length: 12 }, objectId);
    const body = { alert_ids: [alert, ...unknown], incident_id: to, owner_id: 404, title: 'New' };
    const answer = await merge(tenant, body);
    expectEnvelope(answer, 400, 'ResourceNotFound');
    for (const id of unknown.slice(0, 10)) expect(answer.body.error.message).toContain(`alert ${id}`);
    expect(answer.body.error.message).toContain('and 3 more');
    expect(answer.body.error.message).not.toContain(alert);
    expect(await tenant.feed(to)).toEqual([]);
    expect(await tenant.mergeOrder()).toEqual([]);
    expect(await tenant.placements([alert])).toEqual([undefined]);
    expect(await tenant.incidentRow(to)).toMatchObject({ title: 'Old' });
  });

  it("treats another account's incident, alerts and members as if they did not exist", async () => {
    const [mine, theirs] = [await given(), await given()];
    const [incident, [alert = '']] = [await theirs.incident(), await theirs.alerts(1)];
    await theirs.member(3);
    const [to, alert_ids] = [await mine.incident(), await mine.alerts(1)];
    for (const [body, missing] of [
      [{ alert_ids: [alert], incident_id: to }, `alert ${alert}`],
      [{ alert_ids, incident_id: incident }, `incident ${incident}`],
      [{ alert_ids, incident_id: to, owner_id: 3 }, 'member 3'],
    ] as const) {
      const answer = await merge(mine, body);
      expectEnvelope(answer, 400, 'ResourceNotFound');
      expect(answer.body.error.message).toContain(missing);
    }
    expect(await theirs.placements([alert])).toEqual([undefined]);
    expect(await mine.placements(alert_ids)).toEqual([undefined]);
  });
});

const keyed = (key: string | string[]) => ({ headers: { 'Idempotency-Key': key } });

describe('an Idempotency-Key', () => {
  it('with the same body answers the same and does nothing more', async () => {
    const tenant = await given();
    const [to, elsewhere] = [await tenant.incident(), await tenant.incident()];
    const alert_ids = await tenant.alerts(2);
    const again = { headers: { 'idempotency-key': 'deploy 42' } };
    const body = { alert_ids, incident_id: to };
    const first = await merge(tenant, body, again);
    expectEnvelope(first, 200);
    expect(first.headers).not.toHaveProperty('Idempotent-Replayed');
    expectEnvelope(await merge(tenant, { alert_ids, incident_id: elsewhere }), 200);
    const answer = await merge(tenant, body, again);
    expectEnvelope(answer, 200);
    expect(answer.body.data).toBeNull();
    expect(answer.headers['Idempotent-Replayed']).toBe('true');
    expect(await tenant.feed(to)).toHaveLength(1);
    expect(await tenant.placements(alert_ids)).toEqual([elsewhere, elsewhere]);
  });

  it('treats bodies that mean the same as the same body', async () => {
    const tenant = await given();
    const body = { alert_ids: await tenant.alerts(2), incident_id: await tenant.incident() };
    const upper = {
      alert_ids: body.alert_ids.map((id) => id.toUpperCase()),
      incident_id: body.incident_id.toUpperCase(),
    };
    for (const same of [
      body,
      upper,
      { ...body, alert_ids: [...body.alert_ids, ...body.alert_ids] },
      { ...body, alert_ids: body.alert_ids.toReversed() },
      { ...body, title: '', comment: '' },
      { ...body, unknown: 1 },
    ])
      expectEnvelope(await merge(tenant, same, keyed('k')), 200);
    expect(await tenant.feed(body.incident_id)).toHaveLength(1);
  });

  it('with a body of which any field is changed, left out or added is InvalidParameter', async () => {
    const tenant = await given();
    const [to, other] = [await tenant.incident(), await tenant.incident()];
    const [first, second] = (await tenant.alerts(2)) as [string, string];
    const owner = 9007199254740993n;
    for (const member of [0, owner]) await tenant.member(member);
    const whole = { alert_ids: [first], incident_id: to, comment: 'same cause', title: 'New', owner_id: owner };
    const bare = { alert_ids: [first], incident_id: to };
    const send = (key: string, body: object) =>
      merge(tenant, undefined, { rawBody: stringifyJson(body), ...keyed(key) });
    expectEnvelope(await send('whole', whole), 200);
    expectEnvelope(await send('bare', bare), 200);
    const others = [
      ...['comment', 'title', 'owner_id'].map((name) => ({ ...whole, [name]: undefined })),
      ...[{ comment: 'x' }, { title: 'x' }, { owner_id: 0 }, { owner_id: owner - 1n }],
      ...[{ comment: 'New', title: 'same cause' }, { incident_id: other }],
      ...[{ alert_ids: [second] }, { alert_ids: [first, second] }],
    ].map((change) => ({ ...whole, ...change }));
    for (const body of others) expectEnvelope(await send('whole', body), 400, 'InvalidParameter');
    for (const more of [{ comment: 'x' }, { title: 'x' }, { owner_id: 0 }])
      expectEnvelope(await send('bare', { ...bare, ...more }), 400, 'InvalidParameter');
    const again = await send('whole', whole);
    expectEnvelope(again, 200);
    expect(again.headers['Idempotent-Replayed']).toBe('true');
    expect(await tenant.feed(to)).toHaveLength(2);
  });

  it('with another value makes the same body another merge; a key may hold a comma', async () => {
    const tenant = await given();
    const body = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
    for (const key of ['k', 'K', 'k k', 'x'.repeat(255), 'a, b', 'a', 'b', 'a, b'])
      expectEnvelope(await merge(tenant, body, keyed(key)), 200);
    expect(await tenant.feed(body.incident_id)).toHaveLength(7);
  });

  it.each([[['a', 'b']], [['a', 'a']], [''], ['x'.repeat(256)], ['täglich']])(
    '%j, given twice or malformed, is InvalidParameter, and nothing is written',
    async (key) => {
      const tenant = await given();
      const body = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
      expectEnvelope(await merge(tenant, body, keyed(key)), 400, 'InvalidParameter');
      expect(await tenant.feed(body.incident_id)).toEqual([]);
    },
  );

  it('is forgotten after 24 hours, even while its row is still there', async () => {
    const tenant = await given();
    const to = await tenant.incident();
    const alert_ids = await tenant.alerts(1);
    const body = { alert_ids, incident_id: to };
    const began = Date.now();
    const mergeAt = (ms: number) =>
      tenant.merge(handlersOver(testDeps(table, { now: () => began + ms })).mergeAlerts, body, keyed('daily'));
    expectEnvelope(await mergeAt(0), 200);
    expectEnvelope(await mergeAt(24 * 3_600_000 - 5_000), 200);
    expect(await tenant.feed(to)).toHaveLength(1);
    expectEnvelope(await mergeAt(24 * 3_600_000 + 5_000), 200);
    expect(await tenant.feed(to)).toHaveLength(2);
  });

  it('sent with five concurrent calls is one merge, and all answer 200', async () => {
    const tenant = await given();
    const to = await tenant.incident();
    const alert_ids = await tenant.alerts(5);
    const body = { alert_ids, incident_id: to };
    const answers = await Promise.all(Array.from({ length: 5 }, () => merge(tenant, body, keyed('race'))));
    for (const answer of answers) expectEnvelope(answer, 200);
    expect(await tenant.feed(to)).toHaveLength(1);
  });
});
