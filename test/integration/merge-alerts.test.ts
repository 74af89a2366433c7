import { describe, expect, it } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../lib/auth/app-keys.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import { expectEnvelope } from '../support/answers.ts';
import { newAccount, objectId } from '../support/incidents.ts';
import { handlersOver, invokeAlone, newTable, testDeps } from '../support/service.ts';

const table = await newTable();
const handlers = handlersOver(testDeps(table));
const given = () => newAccount(table);

describe('a merge', () => {
  it('sets the incident of every alert and answers with data null', async () => {
    const tenant = await given();
    const [from, to] = [await tenant.incident(), await tenant.incident()];
    const alerts = [...(await tenant.alerts(2, from)), ...(await tenant.alerts(1))];
    const answer = await tenant.merge(handlers.mergeAlerts, { alert_ids: alerts, incident_id: to });
    expectEnvelope(answer, 200);
    expect(answer.body.data).toBeNull();
    expect(await tenant.placements(alerts)).toEqual([to, to, to]);
  });

  it('writes one feed entry: when, by which key, where each alert came from, comment, old and new title and owner', async () => {
    const tenant = await given();
    const from = await tenant.incident();
    const to = await tenant.incident({ title: 'Old', owner_id: 7 });
    await tenant.member(9007199254740993n);
    const [first, second] = (await tenant.alerts(2, from)) as [string, string];
    const [loose] = (await tenant.alerts(1)) as [string];
    const [there] = (await tenant.alerts(1, to)) as [string];
    const before = Date.now();
    const alert_ids = [first, second, loose, there];
    const rawBody = `{"alert_ids":${JSON.stringify(alert_ids)},"incident_id":"${to}","title":"New","comment":"same cause","owner_id":9007199254740993}`;
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, undefined, { rawBody }), 200);

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
    expect(await tenant.incidentRow(from)).toMatchObject({ title: 'Checkout is down' });
  });

  it('counts an empty title and an empty comment as not given', async () => {
    const tenant = await given();
    const to = await tenant.incident({ title: 'Kept' });
    const alert_ids = await tenant.alerts(1);
    expectEnvelope(
      await tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id: to, title: '', comment: '' }),
      200,
    );
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
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id: to.toUpperCase() }), 200);
    expect((await tenant.feed(to))[0].moved).toEqual({ none: [alert] });
  });

  it('names what is missing, the first ten and how many more, and changes nothing', async () => {
    const tenant = await given();
    const to = await tenant.incident({ title: 'Old' });
    const [alert] = (await tenant.alerts(1)) as [string];
    const unknown = Array.from({ length: 12 }, objectId);
    const body = { alert_ids: [alert, ...unknown], incident_id: to, owner_id: 404, title: 'New' };
    const answer = await tenant.merge(handlers.mergeAlerts, body);
    expectEnvelope(answer, 400, 'ResourceNotFound');
    for (const id of unknown.slice(0, 10)) expect(answer.body.error.message).toContain(`alert ${id}`);
    expect(answer.body.error.message).toContain('and 3 more');
    expect(answer.body.error.message).not.toContain(alert);
    expect(await tenant.feed(to)).toEqual([]);
    expect(await tenant.mergeOrder()).toEqual([]);
    expect(await tenant.placements([alert])).toEqual([undefined]);
    expect(await tenant.incidentRow(to)).toMatchObject({ title: 'Old' });
  });

  it.each(['incident', 'member'] as const)('needs the %s to exist', async (what) => {
    const tenant = await given();
    const to = what === 'incident' ? objectId() : await tenant.incident();
    const alert_ids = await tenant.alerts(1);
    const owner = what === 'member' ? { owner_id: 12 } : {};
    const answer = await tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id: to, ...owner });
    expectEnvelope(answer, 400, 'ResourceNotFound');
    expect(answer.body.error.message).toContain(what === 'member' ? 'member 12' : `incident ${to}`);
    expect(await tenant.placements(alert_ids)).toEqual([undefined]);
  });

  it("treats another account's incident, alerts and members as if they did not exist", async () => {
    const [mine, theirs] = [await given(), await given()];
    const foreign = { incident: await theirs.incident(), alerts: await theirs.alerts(1) };
    await theirs.member(3);
    const [to, alert_ids] = [await mine.incident(), await mine.alerts(1)];
    for (const body of [
      { alert_ids: foreign.alerts, incident_id: to },
      { alert_ids, incident_id: foreign.incident },
      { alert_ids, incident_id: to, owner_id: 3 },
    ])
      expectEnvelope(await mine.merge(handlers.mergeAlerts, body), 400, 'ResourceNotFound');
    expect(await theirs.placements(foreign.alerts)).toEqual([undefined]);
  });

  it('does not close the incident that the alerts came from', async () => {
    const tenant = await given();
    const [from, to] = [await tenant.incident(), await tenant.incident()];
    const before = await tenant.incidentRow(from);
    const alert_ids = await tenant.alerts(3, from);
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id: to }), 200);
    expect(await tenant.incidentRow(from)).toEqual(before);
  });
});

describe('an Idempotency-Key', () => {
  it('with the same body answers the same and does nothing more', async () => {
    const tenant = await given();
    const [to, elsewhere] = [await tenant.incident(), await tenant.incident()];
    const alert_ids = await tenant.alerts(2);
    const again = { headers: { 'idempotency-key': 'deploy 42' } };
    const body = { alert_ids, incident_id: to };
    const first = await tenant.merge(handlers.mergeAlerts, body, again);
    expectEnvelope(first, 200);
    expect(first.headers).not.toHaveProperty('Idempotent-Replayed');
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id: elsewhere }), 200);
    const answer = await tenant.merge(handlers.mergeAlerts, body, again);
    expectEnvelope(answer, 200);
    expect(answer.body.data).toBeNull();
    expect(answer.headers['Idempotent-Replayed']).toBe('true');
    expect(await tenant.feed(to)).toHaveLength(1);
    expect(await tenant.placements(alert_ids)).toEqual([elsewhere, elsewhere]);
  });

  it.each<[string, (body: { alert_ids: string[]; incident_id: string }) => object]>([
    [
      'ids in another letter case',
      ({ alert_ids, incident_id }) => ({
        alert_ids: alert_ids.map((id) => id.toUpperCase()),
        incident_id: incident_id.toUpperCase(),
      }),
    ],
    ['repeated ids', (body) => ({ ...body, alert_ids: [...body.alert_ids, ...body.alert_ids] })],
    ['the ids in another order', (body) => ({ ...body, alert_ids: body.alert_ids.toReversed() })],
    ['an empty title and comment', (body) => ({ ...body, title: '', comment: '' })],
    ['an unknown field', (body) => ({ ...body, unknown: 1 })],
  ])('with %s is the same body', async (_what, rewrite) => {
    const tenant = await given();
    const body = { alert_ids: await tenant.alerts(2), incident_id: await tenant.incident() };
    const headers = { 'Idempotency-Key': 'k' };
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, body, { headers }), 200);
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, rewrite(body), { headers }), 200);
    expect(await tenant.feed(body.incident_id)).toHaveLength(1);
  });

  it('with any field changed, left out or added is another body', async () => {
    const tenant = await given();
    const [to, other] = [await tenant.incident(), await tenant.incident()];
    const [first, second] = (await tenant.alerts(2)) as [string, string];
    const owner = 9007199254740993n;
    for (const member of [0, owner]) await tenant.member(member);
    const whole = { alert_ids: [first], incident_id: to, comment: 'same cause', title: 'New', owner_id: owner };
    const bare = { alert_ids: [first], incident_id: to };
    const merge = (key: string, body: object) =>
      tenant.merge(handlers.mergeAlerts, undefined, {
        rawBody: stringifyJson(body),
        headers: { 'Idempotency-Key': key },
      });
    expectEnvelope(await merge('whole', whole), 200);
    expectEnvelope(await merge('bare', bare), 200);
    const { comment: _comment, ...noComment } = whole;
    const { title: _title, ...noTitle } = whole;
    const { owner_id: _owner, ...noOwner } = whole;
    const others = [
      ...[noComment, noTitle, noOwner, { ...whole, comment: 'x' }, { ...whole, title: 'x' }],
      ...[
        { ...whole, owner_id: 0 },
        { ...whole, owner_id: owner - 1n },
        { ...whole, comment: 'New', title: 'same cause' },
      ],
      ...[
        { ...whole, incident_id: other },
        { ...whole, alert_ids: [second] },
        { ...whole, alert_ids: [first, second] },
      ],
    ];
    for (const body of others) expectEnvelope(await merge('whole', body), 400, 'InvalidParameter');
    for (const more of [{ comment: 'x' }, { title: 'x' }, { owner_id: 0 }])
      expectEnvelope(await merge('bare', { ...bare, ...more }), 400, 'InvalidParameter');
    const again = await merge('whole', whole);
    expectEnvelope(again, 200);
    expect(again.headers['Idempotent-Replayed']).toBe('true');
    expect(await tenant.feed(to)).toHaveLength(2);
  });

  it('with another value makes the same body another merge', async () => {
    const tenant = await given();
    const body = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
    for (const key of ['k', 'K', 'k k', 'x'.repeat(255)])
      expectEnvelope(await tenant.merge(handlers.mergeAlerts, body, { headers: { 'Idempotency-Key': key } }), 200);
    expect(await tenant.feed(body.incident_id)).toHaveLength(4);
  });

  it.each([
    ['twice', { 'Idempotency-Key': ['a', 'b'] }],
    ['twice, alike', { 'Idempotency-Key': ['a', 'a'] }],
  ])('that is given %s is InvalidParameter, and nothing is written', async (_how, headers) => {
    const tenant = await given();
    const body = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
    expectEnvelope(await tenant.merge(handlers.mergeAlerts, body, { headers }), 400, 'InvalidParameter');
    expect(await tenant.feed(body.incident_id)).toEqual([]);
  });

  it('that is given in two letter cases is given twice', async () => {
    const tenant = await given();
    const body = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
    // Without a gateway: Node's client sends one of the two.
    const event = tenant.event(body, { headers: { 'Idempotency-Key': 'a', 'idempotency-KEY': 'b' } });
    expectEnvelope(await invokeAlone(handlers.mergeAlerts, event), 400, 'InvalidParameter');
    expect(await tenant.feed(body.incident_id)).toEqual([]);
  });

  it('that holds a comma is one key, not two', async () => {
    const tenant = await given();
    const body = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
    for (const key of ['a, b', 'a', 'b', 'a, b'])
      expectEnvelope(await tenant.merge(handlers.mergeAlerts, body, { headers: { 'Idempotency-Key': key } }), 200);
    expect(await tenant.feed(body.incident_id)).toHaveLength(3);
  });

  it('is forgotten after 24 hours, even while its row is still there', async () => {
    const tenant = await given();
    const to = await tenant.incident();
    const alert_ids = await tenant.alerts(1);
    const headers = { 'Idempotency-Key': 'daily' };
    const body = { alert_ids, incident_id: to };
    const began = Date.now();
    const mergeAt = (ms: number) =>
      tenant.merge(handlersOver(testDeps(table, { now: () => began + ms })).mergeAlerts, body, { headers });
    expectEnvelope(await mergeAt(0), 200);
    expectEnvelope(await mergeAt(24 * 3_600_000 - 5_000), 200);
    expect(await tenant.feed(to)).toHaveLength(1);
    expectEnvelope(await mergeAt(24 * 3_600_000 + 5_000), 200);
    expect(await tenant.feed(to)).toHaveLength(2);
  });

  it.each([
    ['empty', ''],
    ['of 256 characters', 'x'.repeat(256)],
    ['not printable ASCII', 'täglich'],
  ])('that is %s is InvalidParameter', async (_what, key) => {
    const tenant = await given();
    const body = { alert_ids: [objectId()], incident_id: objectId() };
    const answer = await tenant.merge(handlers.mergeAlerts, body, { headers: { 'Idempotency-Key': key } });
    expectEnvelope(answer, 400, 'InvalidParameter');
  });

  it('sent with five concurrent calls is one merge, and all answer 200', async () => {
    const tenant = await given();
    const to = await tenant.incident();
    const alert_ids = await tenant.alerts(5);
    const headers = { 'Idempotency-Key': 'race' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => tenant.merge(handlers.mergeAlerts, { alert_ids, incident_id: to }, { headers })),
    );
    for (const answer of answers) expectEnvelope(answer, 200);
    expect(await tenant.feed(to)).toHaveLength(1);
  });
});
