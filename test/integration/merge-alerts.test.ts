import { describe, expect, it } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../lib/http/app-keys.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import { expectEnvelope } from '../support/answers.ts';
import { newAccount, objectId } from '../support/incidents.ts';
import { type EventOptions, handlersOver, newTable, testDeps } from '../support/service.ts';

const table = await newTable();
const { mergeAlerts } = handlersOver(testDeps(table));

async function newTenant() {
  const tenant = await newAccount(table);
  const merge = (body: object, options: EventOptions = {}) =>
    tenant.merge(mergeAlerts, undefined, { rawBody: stringifyJson(body), ...options });
  return { ...tenant, merge };
}

describe('a merge', () => {
  it('moves every alert, writes one feed entry, changes the incident, and leaves other incidents as they are', async () => {
    const tenant = await newTenant();
    const from = await tenant.incident();
    const to = await tenant.incident({ title: 'Old', owner_id: 7 });
    const source = await tenant.incidentRow(from);
    const owner_id = 9007199254740993n;
    await tenant.member(owner_id);
    const fromOther = await tenant.alerts(2, from);
    const [unassigned, inTarget] = [await tenant.alerts(1), await tenant.alerts(1, to)];
    const before = Date.now();
    const alert_ids = [...fromOther, ...unassigned, ...inTarget];
    const body = { alert_ids, incident_id: to, title: 'New', comment: 'same cause', owner_id };
    const answer = await tenant.merge(body);
    expectEnvelope(answer, 200);
    expect(answer.body.data).toBeNull();

    expect(await tenant.placements(alert_ids)).toEqual([to, to, to, to]);
    const feed = await tenant.feed(to);
    expect(feed).toMatchObject([
      {
        kind: 'merge',
        by: appKeyIdOf(hashAppKey(tenant.appKey)),
        comment: 'same cause',
        moved: { [from]: fromOther, none: unassigned },
        stayed: inTarget,
        ...{ old_title: 'Old', new_title: 'New', old_owner_id: 7, new_owner_id: owner_id },
      },
    ]);
    expect(feed[0].at_ms).toBeGreaterThanOrEqual(before);
    expect(feed[0]).not.toHaveProperty('pending');
    expect(await tenant.incidentRow(to)).toMatchObject({ title: 'New', owner_id });
    // The contract does not say that a merge closes the incident that an alert came from.
    expect(await tenant.incidentRow(from)).toEqual(source);
  });

  it('counts an empty title and comment as not given, and repeated ids once, in either letter case', async () => {
    const tenant = await newTenant();
    const to = await tenant.incident({ title: 'Kept' });
    const [alert = ''] = await tenant.alerts(1);
    const alert_ids = [alert, alert.toUpperCase(), alert];
    expectEnvelope(await tenant.merge({ alert_ids, incident_id: to.toUpperCase(), title: '', comment: '' }), 200);
    const [entry] = await tenant.feed(to);
    expect(entry.moved).toEqual({ none: [alert] });
    for (const absent of ['comment', 'new_title', 'old_title', 'new_owner_id'])
      expect(entry).not.toHaveProperty(absent);
    expect(await tenant.incidentRow(to)).toMatchObject({ title: 'Kept' });
  });

  it('names what is missing, the first ten and how many more, and changes nothing', async () => {
    const tenant = await newTenant();
    const to = await tenant.incident({ title: 'Old' });
    const [alert = ''] = await tenant.alerts(1);
    const unknown = Array.from({ length: 12 }, objectId);
    const answer = await tenant.merge({ alert_ids: [alert, ...unknown], incident_id: to, owner_id: 404, title: 'New' });
    expectEnvelope(answer, 400, 'ResourceNotFound');
    for (const id of unknown.slice(0, 10)) expect(answer.body.error.message).toContain(`alert ${id}`);
    expect(answer.body.error.message).toContain('and 3 more');
    expect(answer.body.error.message).not.toContain(alert);
    expect([await tenant.feed(to), await tenant.mergeOrder()]).toEqual([[], []]);
    expect(await tenant.placements([alert])).toEqual([undefined]);
    expect(await tenant.incidentRow(to)).toMatchObject({ title: 'Old' });
  });
});

const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } });

describe('an Idempotency-Key', () => {
  it('with the same body answers the same and does nothing more', async () => {
    const tenant = await newTenant();
    const [to, elsewhere] = [await tenant.incident(), await tenant.incident()];
    const alert_ids = await tenant.alerts(2);
    const body = { alert_ids, incident_id: to };
    const firstAnswer = await tenant.merge(body, keyed('deploy 42'));
    expectEnvelope(firstAnswer, 200);
    expect(firstAnswer.headers).not.toHaveProperty('Idempotent-Replayed');
    expectEnvelope(await tenant.merge({ alert_ids, incident_id: elsewhere }), 200);
    const repeatedAnswer = await tenant.merge(body, { headers: { 'idempotency-key': 'deploy 42' } });
    expectEnvelope(repeatedAnswer, 200);
    expect(repeatedAnswer.body.data).toBeNull();
    expect(repeatedAnswer.headers['Idempotent-Replayed']).toBe('true');
    expect(await tenant.feed(to)).toHaveLength(1);
    expect(await tenant.placements(alert_ids)).toEqual([elsewhere, elsewhere]);
  });

  it('treats bodies that mean the same as the same body', async () => {
    const tenant = await newTenant();
    const body = { alert_ids: await tenant.alerts(2), incident_id: await tenant.incident() };
    const { alert_ids, incident_id } = body;
    for (const same of [
      body,
      { alert_ids: alert_ids.map((id) => id.toUpperCase()), incident_id: incident_id.toUpperCase() },
      { ...body, alert_ids: [...alert_ids, ...alert_ids] },
      { ...body, alert_ids: alert_ids.toReversed() },
      { ...body, title: '', comment: '' },
      { ...body, unknown: 1 },
    ])
      expectEnvelope(await tenant.merge(same, keyed('k')), 200);
    expect(await tenant.feed(incident_id)).toHaveLength(1);
  });

  it('with a body of which any field is changed, left out or added is InvalidParameter', async () => {
    const tenant = await newTenant();
    const [incident_id, otherIncident] = [await tenant.incident(), await tenant.incident()];
    const [first, second] = await tenant.alerts(2);
    const owner_id = 9007199254740993n;
    for (const member of [0, owner_id]) await tenant.member(member);
    const requiredFields = { alert_ids: [first], incident_id };
    const allFields = { ...requiredFields, comment: 'same cause', title: 'New', owner_id };
    const changed = [
      ...['comment', 'title', 'owner_id'].map((name) => ({ [name]: undefined })),
      ...[{ comment: 'x' }, { title: 'x' }, { owner_id: 0 }, { owner_id: owner_id - 1n }],
      ...[{ comment: 'New', title: 'same cause' }, { incident_id: otherIncident }],
      ...[{ alert_ids: [second] }, { alert_ids: [first, second] }],
    ].map((change) => ({ ...allFields, ...change }));
    const added = [{ comment: 'x' }, { title: 'x' }, { owner_id: 0 }].map((field) => ({ ...requiredFields, ...field }));
    for (const [key, body, differentBodies] of [
      ['whole', allFields, changed],
      ['required', requiredFields, added],
    ] as const) {
      expectEnvelope(await tenant.merge(body, keyed(key)), 200);
      for (const different of differentBodies)
        expectEnvelope(await tenant.merge(different, keyed(key)), 400, 'InvalidParameter');
    }
    expect((await tenant.merge(allFields, keyed('whole'))).headers['Idempotent-Replayed']).toBe('true');
    expect(await tenant.feed(incident_id)).toHaveLength(2);
  });

  it('with another value makes the same body another merge; a key may hold a comma', async () => {
    const tenant = await newTenant();
    const body = { alert_ids: await tenant.alerts(1), incident_id: await tenant.incident() };
    for (const key of ['k', 'K', 'k k', 'x'.repeat(255), 'a, b', 'a', 'b', 'a, b'])
      expectEnvelope(await tenant.merge(body, keyed(key)), 200);
    expect(await tenant.feed(body.incident_id)).toHaveLength(7);
  });

  it('is forgotten after 24 hours, even while its row is still there', async () => {
    const { alerts, incident, merge, feed } = await newAccount(table);
    const body = { alert_ids: await alerts(1), incident_id: await incident() };
    const startedMs = Date.now();
    const DAY_MS = 24 * 3_600_000;
    for (const { afterMs, entries } of [
      { afterMs: 0, entries: 1 },
      { afterMs: DAY_MS - 5_000, entries: 1 },
      { afterMs: DAY_MS + 5_000, entries: 2 },
    ]) {
      const handlers = handlersOver(testDeps(table, { now: () => startedMs + afterMs }));
      expectEnvelope(await merge(handlers.mergeAlerts, body, keyed('daily')), 200);
      expect(await feed(body.incident_id)).toHaveLength(entries);
    }
  });
});
