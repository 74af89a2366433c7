/** Merges that run into other merges: between their reads and their commits, or while the other one still has alerts to move. */
import { afterEach, describe, expect, it, vi } from 'vitest';

import { finishMerge } from '../../lib/operations/merge-alerts/finish.ts';
import { expectEnvelope } from '../support/answers.ts';
import { aroundCalls, dyingAfterCommit, onceBefore } from '../support/faults.ts';
import { expectMerged } from '../support/incidents.ts';
import { connectAgain, newTable } from '../support/service.ts';
import { dyingAfterTransactions, newPendingScene, newScene, TRANSACTION_ITEMS } from './merging.ts';

const table = await newTable();
afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs an action between the reads of a merge and its commit. */
const beforeCommit = (action: () => Promise<unknown>) => onceBefore('TransactWrite', action);

describe('a merge too large for one transaction', () => {
  it('is finished from its feed entry if it is cut between its moves', async () => {
    const { tenant, from, to, alerts, merge, finish, firstMoves } = await newScene(table, { alerts: 40 });
    await merge(alerts, to, { around: dyingAfterTransactions(2) });
    const [entry] = await tenant.feed(to);
    expect(entry).toMatchObject({ pending: true });
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from, to]));
    await finish(to);
    await expectMerged(tenant, to, alerts);
    expect(Object.keys(await firstMoves(to))).toEqual([from]);
  });

  it('takes alerts that small merges move between its reads and its commit, even out of its own incident', async () => {
    const { tenant, from, to, elsewhere, alerts, merge, finish, firstMoves } = await newScene(table, { alerts: 20 });
    const [moved = '', ...rest] = alerts;
    const [inTarget = ''] = await tenant.alerts(1, to);
    await merge([...alerts, inTarget], to, { around: beforeCommit(() => merge([moved, inTarget], elsewhere)) });
    await finish(to);
    await expectMerged(tenant, to, [...alerts, inTarget]);
    expect(await firstMoves(to)).toEqual({
      [from]: expect.toSatisfy((ids) => new Set(ids).symmetricDifference(new Set(rest)).size === 0),
      [elsewhere]: expect.arrayContaining([moved, inTarget]),
    });
  });

  it('takes no alerts from later merges when another caller finishes it', async () => {
    const { tenant, to, elsewhere, alerts, merge, finish, firstMoves } = await newPendingScene(table);
    const [{ sequence }] = await tenant.feed(to);
    const taken = alerts.slice(5, 18);
    const finishing = connectAgain(table);
    // The finishing caller has read the entry, and is about to read where the alerts are.
    aroundCalls(
      finishing,
      onceBefore('BatchGet', async () => {
        await merge(taken, elsewhere);
        await finish(elsewhere);
      }),
    );
    await finishMerge(finishing, tenant.account, { incidentId: to, sequence }, TRANSACTION_ITEMS);
    await finish(to);
    expect(new Set(await tenant.placements(taken))).toEqual(new Set([elsewhere]));
    const others = alerts.filter((id) => !taken.includes(id));
    expect(new Set(await tenant.placements(others))).toEqual(new Set([to]));
    expect(Object.values(await firstMoves(to)).flat()).toHaveLength(alerts.length);
    expect((await firstMoves(elsewhere))[to]).toHaveLength(taken.length);
  });
});

describe('a small merge', () => {
  it('of an alert that a large merge has yet to move takes it from the incident of that merge', async () => {
    const { tenant, from, to, elsewhere, alerts, merge, finish, firstMoves } = await newPendingScene(table);
    await merge(alerts.slice(0, 1), elsewhere);
    expect(await firstMoves(elsewhere)).toEqual({ [to]: alerts.slice(0, 1) });
    expect(await tenant.placements(alerts.slice(0, 2))).toEqual([elsewhere, from]);
    await finish(to);
    expect(await tenant.placements(alerts.slice(0, 2))).toEqual([elsewhere, to]);
    expect((await firstMoves(to))[from]).toHaveLength(alerts.length);
  });

  it('does not wait for a large merge that still moves other alerts', async () => {
    const { tenant, elsewhere, merge } = await newPendingScene(table);
    await merge(await tenant.alerts(2), elsewhere);
    expect((await tenant.feed(elsewhere))[0]).not.toHaveProperty('large');
    expect(await tenant.pending()).toHaveLength(1);
  });

  it('has a higher sequence than those committed before, though their clocks were an hour ahead', async () => {
    const { tenant, to, elsewhere, alerts, merge } = await newScene(table, { alerts: 3 });
    const [first = '', ...rest] = alerts;
    await merge([first], to, { aheadMs: 3_600_000 });
    for (const alert of rest) await merge([alert], elsewhere);
    const entries = [...(await tenant.feed(to)), ...(await tenant.feed(elsewhere))];
    expect(entries.flatMap(({ moved }) => Object.values(moved).flat())).toEqual(alerts);
    for (const [index, { sequence }] of entries.entries())
      expect(sequence).toBeGreaterThan(entries[index - 1]?.sequence ?? 0);
  });

  it('notices a large merge that is committed between its reads and its commit', async () => {
    const { tenant, from, to, elsewhere, alerts, merge, finish, firstMoves } = await newScene(table, { alerts: 20 });
    const taken = alerts.slice(0, 1);
    // Its clock is ahead, and so is its sequence: only `last_large`, the sequence of the latest large merge, reveals that merge.
    const around = beforeCommit(() => merge(alerts, to, { around: dyingAfterCommit() }));
    await merge(taken, elsewhere, { around, aheadMs: 60_000 });
    await finish(elsewhere);
    await finish(to);
    expect(await firstMoves(elsewhere)).toEqual({ [to]: taken });
    expect((await firstMoves(to))[from]).toHaveLength(alerts.length);
    expect(await tenant.placements(taken)).toEqual([elsewhere]);
  });

  it('that changes the title reads it again when another merge changes it before the commit, in the same millisecond', async () => {
    const { tenant, alerts, send } = await newScene(table, { alerts: 2 });
    const incident_id = await tenant.incident({ title: 'Start' });
    const [first = '', second = ''] = alerts;
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const around = beforeCommit(() => send({ alert_ids: [first], incident_id, title: 'Earlier' }));
    expectEnvelope(await send({ alert_ids: [second], incident_id, title: 'Later' }, { around }), 200);
    await expectMerged(tenant, incident_id, alerts, 2);
    expect(await tenant.feed(incident_id)).toMatchObject([
      { old_title: 'Start', new_title: 'Earlier' },
      { old_title: 'Earlier', new_title: 'Later' },
    ]);
    expect(await tenant.incidentRow(incident_id)).toMatchObject({ title: 'Later' });
  });

  it('is InvalidParameter if a merge with the same Idempotency-Key and another body is committed meanwhile', async () => {
    const { tenant, from, to, elsewhere, alerts, send } = await newScene(table, { alerts: 2 });
    const [first = '', second = ''] = alerts;
    const headers = { 'Idempotency-Key': 'k' };
    const around = beforeCommit(() => send({ alert_ids: [second], incident_id: elsewhere }, { headers }));
    const answer = await send({ alert_ids: [first], incident_id: to }, { headers, around });
    expectEnvelope(answer, 400, 'InvalidParameter');
    expect(await tenant.feed(to)).toEqual([]);
    expect(await tenant.placements(alerts)).toEqual([from, elsewhere]);
  });
});
