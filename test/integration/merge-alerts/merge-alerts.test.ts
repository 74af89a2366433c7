/** What a merge does, whom it refuses, and what an Idempotency-Key changes. `test/schedules/merge*` run merges beside each other. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { appKeyIdOf, hashAppKey } from '../../../lib/http/app-keys.ts';
import { EXISTS } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { deleteRow } from '../../../lib/table/write.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { expectMerged, objectId } from '../../support/incidents.ts';
import { stored } from '../../support/service.ts';
import { HOUR_MS, newWorld } from './merging.ts';

const BIG = 9_007_199_254_740_993n;

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0); // no waits
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('a merge', () => {
  it('moves every alert, writes one history entry, changes the incident, and leaves other incidents as they are', async () => {
    const { tenant, start, alerts, send } = await newWorld(2);
    const to = await tenant.incident({ title: 'Old', owner_id: 7 });
    await tenant.member(BIG);
    const [unassigned, inTarget] = [await tenant.alerts(1), await tenant.alerts(1, to)];
    const source = await tenant.incidentRow(start);
    const alert_ids = [...alerts, ...unassigned, ...inTarget];
    const before = Date.now();
    const body = { alert_ids, incident_id: to, title: 'New', comment: 'same cause', owner_id: BIG };
    const answer = await send(body, { limits: {} });
    expectEnvelope(answer, 200);
    expect(answer.body.data).toBeNull();
    await expectMerged(tenant, to, alert_ids);
    const [entry] = await tenant.history(to);
    expect(entry).toMatchObject({
      by: appKeyIdOf(hashAppKey(tenant.appKey)),
      request_id: answer.body.request_id,
      comment: 'same cause',
      ...{ old_title: 'Old', new_title: 'New', old_owner_id: 7, new_owner_id: BIG },
    });
    const from = (ids: string[], origin?: string) => ids.map((alertId) => ({ alertId, from: origin, to }));
    const moves = [...from(alerts, start), ...from(unassigned), ...from(inTarget, to)];
    expect(new Set(entry.moves)).toEqual(new Set(moves));
    expect(entry.at_ms).toBeGreaterThanOrEqual(before);
    expect(entry).not.toHaveProperty('large');
    expect(await tenant.incidentRow(to)).toMatchObject({ title: 'New', owner_id: BIG });
    // The contract does not say that a merge closes the incident that an alert came from.
    expect(await tenant.incidentRow(start)).toEqual(source);
  });

  it('counts an empty title and comment as not given, and repeated ids once, in either letter case', async () => {
    const { tenant, start, one, alerts, merge } = await newWorld(1);
    const alert_ids = [...alerts, ...alerts.map((id) => id.toUpperCase()), ...alerts];
    await merge({ alert_ids, incident_id: one.toUpperCase(), title: '', comment: '' });
    const [entry] = await tenant.history(one);
    expect(entry.moves).toEqual([{ alertId: alerts[0], from: start, to: one }]);
    for (const absent of ['comment', 'new_title', 'old_title', 'new_owner_id'])
      expect(entry).not.toHaveProperty(absent);
    expect(await tenant.incidentRow(one)).toMatchObject({ title: 'start' });
  });

  it('names what is missing, the first ten and how many more, and changes nothing', async () => {
    const { table, tenant, one, alerts, send, expectTrue } = await newWorld(1);
    const unknown = Array.from({ length: 12 }, objectId);
    const body = { alert_ids: [...alerts, ...unknown], incident_id: one, title: 'New' };
    const answer = await send(body);
    expectEnvelope(answer, 400, 'ResourceNotFound');
    const { message } = answer.body.error;
    for (const id of unknown.slice(0, 10)) expect(message).toContain(`alert ${id}`);
    expect(message).toContain('and 2 more');
    expect(message).not.toContain(alerts[0]);
    const elsewhere = await send({ alert_ids: alerts, incident_id: unknown[0] ?? '', owner_id: 404 });
    expect(elsewhere.body.error.message).toMatch(new RegExp(`incident ${unknown[0]}.*member 404`));
    expect(await expectTrue()).toEqual([]);
    expect(await stored(table, keys.logHead(tenant.account))).toBeUndefined();
  });

  it.each([
    { row: 'member', count: 1 },
    { row: 'incident', count: 4 },
  ])(
    'of $count alerts whose $row is deleted before its commit is refused, and changes nothing',
    async ({ row, count }) => {
      const { table, tenant, start, one, alerts, send, entries, beforeCommit, placements } = await newWorld(count);
      await tenant.member(12);
      const key = row === 'member' ? keys.member(tenant.account, 12) : keys.incident(tenant.account, one);
      const through = beforeCommit(() => deleteRow(table, key, EXISTS));
      const answer = await send({ alert_ids: alerts, incident_id: one, title: 'New', owner_id: 12 }, { through });
      expectEnvelope(answer, 400, 'ResourceNotFound');
      expect(answer.body.error.message).toContain(row === 'member' ? 'member 12' : `incident ${one}`);
      expect(await entries()).toEqual([]);
      expect(new Set(await placements())).toEqual(new Set([start]));
      expect((await tenant.incidentRow(one))?.title).toBe(row === 'member' ? 'start' : undefined);
    },
  );

  it.each([
    { rows: 100, maxAlerts: 97, fields: {}, key: undefined },
    { rows: 12, maxAlerts: 8, fields: { title: 'New' }, key: undefined },
    { rows: 12, maxAlerts: 6, fields: { owner_id: 1, title: 'New' }, key: 'k' },
  ])('in $rows rows is small up to $maxAlerts alerts with $fields and the key $key', async (row) => {
    const { rows: transactionItems, maxAlerts, fields, key } = row;
    for (const count of [maxAlerts, maxAlerts + 1]) {
      const { tenant, one, alerts, merge } = await newWorld(count);
      await tenant.member(1);
      await merge({ alert_ids: alerts, incident_id: one, ...fields }, { limits: { transactionItems }, key });
      await expectMerged(tenant, one, alerts);
      expect(await tenant.incidentRow(one)).toMatchObject(fields);
      expect((await tenant.history(one))[0].large).toBe(count > maxAlerts ? true : undefined);
    }
  });
});

describe('an Idempotency-Key', () => {
  it('with the same body answers the same and does nothing more, with another one is InvalidParameter', async () => {
    const { tenant, one, two, alerts, send, merge, placements } = await newWorld(2);
    const [first = '', second = ''] = alerts;
    await tenant.member(BIG);
    const required = { alert_ids: alerts, incident_id: one };
    const whole = { ...required, comment: 'same cause', title: 'New', owner_id: BIG };
    for (const [key, body] of Object.entries({ whole, required }))
      expect((await send(body, { key, limits: {} })).headers).not.toHaveProperty('Idempotent-Replayed');
    await merge({ alert_ids: alerts, incident_id: two }, { limits: {} });

    const upperCase = { alert_ids: alerts.map((id) => id.toUpperCase()), incident_id: one.toUpperCase() };
    for (const [key, body] of [
      ['whole', { ...whole, ...upperCase }],
      ['required', { ...required, alert_ids: [second, first, second], title: '', comment: '' }],
    ] as const) {
      const answer = await send(body, { key });
      expectEnvelope(answer, 200);
      expect([answer.body.data, answer.headers['Idempotent-Replayed']]).toEqual([null, 'true']);
    }
    for (const [key, body] of [
      ...['comment', 'title', 'owner_id'].map((name) => ['whole', { ...whole, [name]: undefined }] as const),
      ...[{ comment: 'x' }, { title: 'x' }, { owner_id: 0 }].map(
        (field) => ['required', { ...required, ...field }] as const,
      ),
      ['whole', { ...whole, owner_id: BIG - 1n }],
      ['whole', { ...whole, comment: 'New', title: 'same cause' }],
      ['whole', { ...whole, incident_id: two }],
      ['whole', { ...whole, alert_ids: [first] }],
    ] as const)
      expectEnvelope(await send(body, { key }), 400, 'InvalidParameter');
    expect(await tenant.history(one)).toHaveLength(2);
    expect(await placements()).toEqual([two, two]);
    await merge(whole, { key: 'WHOLE' });
    expect(await tenant.history(one)).toHaveLength(3);
  });

  it('is forgotten after 24 hours, even while its row is still there', async () => {
    const { tenant, one, alerts, merge } = await newWorld(1);
    const startedMs = Date.now();
    for (const { afterMs, entries } of [
      { afterMs: 0, entries: 1 },
      { afterMs: 24 * HOUR_MS - 5_000, entries: 1 },
      { afterMs: 24 * HOUR_MS + 5_000, entries: 2 },
    ]) {
      await merge({ alert_ids: alerts, incident_id: one }, { key: 'daily', now: () => startedMs + afterMs });
      expect(await tenant.history(one)).toHaveLength(entries);
    }
  });
});
