import { afterEach, describe, expect, it, vi } from 'vitest';
import { inListOrder } from '../../lib/operations/merge-alerts/assignment.ts';
import { finishMerge } from '../../lib/operations/merge-alerts/move.ts';
import { expectEnvelope } from '../support/answers.ts';
import { type AroundCall, aroundCalls, connectionLost, onceBefore } from '../support/faults.ts';
import { type Account, expectMerged, newAccount } from '../support/incidents.ts';
import { connectAgain, type EventOptions, handlersOver, newTable, testDeps } from '../support/service.ts';

const table = await newTable();
afterEach(() => {
  vi.restoreAllMocks();
});

interface MergeBody {
  alert_ids: string[];
  incident_id: string;
  title?: string;
}
interface Options extends EventOptions {
  /** Runs around each call that the merge makes to the table. */
  act?: AroundCall;
  /** How far its clock is ahead. */
  aheadMs?: number;
}

/** Merges through a client of its own. */
function send(tenant: Account, body: MergeBody, { act, aheadMs = 0, ...options }: Options = {}) {
  const own = connectAgain(table);
  if (act) aroundCalls(own, act);
  const { mergeAlerts } = handlersOver(testDeps(own, { now: () => Date.now() + aheadMs }));
  return tenant.merge(mergeAlerts, body, options);
}
async function merge(tenant: Account, alert_ids: string[], incident_id: string, act?: AroundCall): Promise<void> {
  expectEnvelope(await send(tenant, { alert_ids, incident_id }, act ? { act } : {}), 200);
}

/** Lets `count` transactions pass, and loses the next one and every call after it. */
function dyingAfter(count: number): AroundCall {
  const passed: Promise<unknown>[] = [];
  let dead = false;
  return async ({ command }, send) => {
    const isTransaction = command.startsWith('TransactWrite');
    dead ||= isTransaction && passed.length === count;
    if (dead) {
      await Promise.all(passed);
      throw connectionLost();
    }
    const sent = send();
    if (isTransaction) passed.push(sent);
    await sent;
  };
}

async function given(alerts: number) {
  const tenant = await newAccount(table);
  const [from, to, later] = [await tenant.incident(), await tenant.incident(), await tenant.incident()];
  return { tenant, from, to, later, alerts: await tenant.alerts(alerts, from) };
}
/** The same with a large merge that is committed and has made few of its moves. */
async function givenPending() {
  const scene = await given(150);
  await merge(scene.tenant, scene.alerts, scene.to, dyingAfter(1));
  return scene;
}
const movedBy = async (tenant: Account, incidentId: string) => (await tenant.feed(incidentId))[0].moved;
describe('a merge too large for one transaction', () => {
  it('is finished from the alert list in its feed entry if it is cut between its moves', async () => {
    const { tenant, from, to, alerts } = await given(250);
    await merge(tenant, alerts, to, dyingAfter(2));
    const [entry] = await tenant.feed(to);
    expect(entry).toMatchObject({ pending: true, listed: 250 });
    expect(Object.values(entry.moved).flat().length).toBeGreaterThan(0);
    await tenant.finish(to);
    await expectMerged(tenant, to, alerts);
    expect(Object.keys(await movedBy(tenant, to))).toEqual([from]);
  });

  it('is committed whatever small merges come between its reads and its commit, even merges of its own alerts', async () => {
    const { tenant, from, to, later, alerts } = await given(150);
    const [taken = '', ...rest] = alerts;
    await merge(
      tenant,
      alerts,
      to,
      onceBefore('TransactWrite', () => merge(tenant, [taken], later)),
    );
    await tenant.finish(to);
    await expectMerged(tenant, to, alerts);
    const moved = await movedBy(tenant, to);
    expect(moved[later]).toEqual([taken]);
    expect(moved[from].toSorted()).toEqual(rest.toSorted());
  });

  it('takes an alert that it read in the target incident, and that was moved out before the commit', async () => {
    const { tenant, to, later, alerts } = await given(150);
    const [there = ''] = await tenant.alerts(1, to);
    await merge(
      tenant,
      [...alerts, there],
      to,
      onceBefore('TransactWrite', () => merge(tenant, [there], later)),
    );
    await tenant.finish(to);
    await expectMerged(tenant, to, [...alerts, there]);
    expect((await movedBy(tenant, to))[later]).toEqual([there]);
  });

  it('takes no alerts from later merges when another caller finishes it in other chunks', async () => {
    const { tenant, to, later, alerts } = await givenPending();
    const { sequence } = (await tenant.feed(to))[0];
    // Not the first alerts of the list, so that the moves that the later merge makes begin at another alert than this merge's.
    const taken = inListOrder(alerts).slice(40, 60);
    const own = connectAgain(table);
    // The finishing caller has read that nothing is moved yet, and is about to read where the alerts are.
    aroundCalls(
      own,
      onceBefore('BatchGet', async () => {
        await merge(tenant, taken, later);
        await tenant.finish(later);
      }),
    );
    await finishMerge(own, tenant.account, { incidentId: to, sequence });
    await tenant.finish(to);
    expect(new Set(await tenant.placements(taken))).toEqual(new Set([later]));
    const others = alerts.filter((id) => !taken.includes(id));
    expect(new Set(await tenant.placements(others))).toEqual(new Set([to]));
    expect(Object.values(await movedBy(tenant, to)).flat()).toHaveLength(150);
    expect((await movedBy(tenant, later))[to]).toHaveLength(20);
  });
});

/**
 * Hides the rows of large feed entries from the first queries. Of two concurrent reads DynamoDB may show one the state before a
 * transaction, and the other the state after it.
 */
function seeingFeedLate(times: number): { act: AroundCall; hidden: () => number } {
  let hidden = 0;
  return {
    async act({ command }, send) {
      const output = (await send()) as { Items?: { alert_ids?: unknown; large?: unknown }[] };
      if (!command.startsWith('Query') || hidden >= times || !output.Items?.some(({ large }) => large)) return;
      hidden += 1;
      output.Items = [];
    },
    hidden: () => hidden,
  };
}

describe('a small merge', () => {
  it('waits for the feed rows of a large merge that is pending, and moves the alert after it', async () => {
    const { tenant, from, to, later, alerts } = await givenPending();
    const { act, hidden } = seeingFeedLate(2);
    await merge(tenant, alerts.slice(0, 1), later, act);
    expect(hidden()).toBe(2);
    await tenant.finish(later);
    await tenant.finish(to);
    expect(await movedBy(tenant, later)).toEqual({ [to]: alerts.slice(0, 1) });
    expect((await movedBy(tenant, to))[from]).toHaveLength(150);
  });

  it('is refused while the feed rows of a pending large merge cannot be read, and changes nothing', async () => {
    const { tenant, later, alerts } = await givenPending();
    const body = { alert_ids: alerts.slice(0, 1), incident_id: later };
    const { act } = seeingFeedLate(Number.POSITIVE_INFINITY);
    expectEnvelope(await send(tenant, body, { act }), 503, 'ServiceUnavailable');
    expect(await tenant.feed(later)).toEqual([]);
  });

  it('has a higher sequence than those committed before, though their clocks were an hour ahead', async () => {
    const { tenant, to, later, alerts } = await given(20);
    const body = { alert_ids: alerts.slice(0, 1), incident_id: to };
    expectEnvelope(await send(tenant, body, { aheadMs: 3_600_000 }), 200);
    const sequences: number[] = [];
    for (const alert of alerts.slice(1)) {
      await merge(tenant, [alert], later);
      sequences.push((await tenant.feed(later)).at(-1)?.sequence);
    }
    const [{ sequence: ahead }] = await tenant.feed(to);
    expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
    expect(sequences[0]).toBeGreaterThan(ahead);
  });

  it('notices a large merge that is committed between its reads and its commit', async () => {
    const { tenant, from, to, later, alerts } = await given(150);
    const [taken = ''] = alerts;
    // Its clock is ahead, and so is its sequence: only `last_large`, the sequence of the latest large merge, reveals that merge.
    const large = onceBefore('TransactWrite', () => merge(tenant, alerts, to, dyingAfter(1)));
    const body = { alert_ids: [taken], incident_id: later };
    expectEnvelope(await send(tenant, body, { act: large, aheadMs: 60_000 }), 200);
    await tenant.finish(later);
    await tenant.finish(to);
    expect(await movedBy(tenant, later)).toEqual({ [to]: [taken] });
    expect((await movedBy(tenant, to))[from]).toHaveLength(150);
    expect(await tenant.placements([taken])).toEqual([later]);
  });

  it('does not wait forever for a large merge whose function died before its commit', async () => {
    const { tenant, from, to, later, alerts } = await given(150);
    const answer = await send(tenant, { alert_ids: alerts, incident_id: to }, { act: dyingAfter(0) });
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    await merge(tenant, alerts.slice(0, 1), later);
    await merge(tenant, alerts.slice(1, 2), later);
    expect(await tenant.feed(to)).toEqual([]);
    await merge(tenant, alerts, to);
    await tenant.finish(to);
    await expectMerged(tenant, to, alerts);
    const moved = await movedBy(tenant, to);
    expect([moved[from].length, moved[later].length]).toEqual([148, 2]);
  });

  /** Two merges that take different shards of the merge order, so that neither knows of the other; the clock of the first is ahead. */
  async function mergeBoth(tenant: Account, [first, second]: [MergeBody, MergeBody]) {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    expectEnvelope(await send(tenant, first, { aheadMs: 60_000 }), 200);
    random.mockReturnValue(0.5);
    expectEnvelope(await send(tenant, second), 200);
  }

  it('that leaves an alert in place has a lower sequence than the next one that moves it, whatever the clocks say', async () => {
    const tenant = await newAccount(table);
    const [here, there] = [await tenant.incident(), await tenant.incident()];
    const alert_ids = await tenant.alerts(1, here);
    await mergeBoth(tenant, [
      { alert_ids, incident_id: here },
      { alert_ids, incident_id: there },
    ]);
    const [[first], [second]] = [await tenant.feed(here), await tenant.feed(there)];
    expect(second.sequence).toBeGreaterThan(first.sequence);
  });

  it('that changes the title has a lower sequence than the next one that does, whatever the clocks say', async () => {
    const tenant = await newAccount(table);
    const incident_id = await tenant.incident();
    const [one = '', other = ''] = await tenant.alerts(2);
    await mergeBoth(tenant, [
      { alert_ids: [one], incident_id, title: 'First' },
      { alert_ids: [other], incident_id, title: 'Second' },
    ]);
    const titles = (await tenant.feed(incident_id)).map((entry) => entry.new_title);
    expect(titles).toEqual(['First', 'Second']);
  });

  /** Merges, and does something else just before the commit, in another shard of the merge order. */
  function mergeAround(tenant: Account, body: MergeBody, something: () => Promise<unknown>, options = {}) {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    const act = onceBefore('TransactWrite', () => {
      random.mockReturnValue(0.5);
      return something();
    });
    return send(tenant, body, { act, ...options });
  }

  it('does not overwrite another entry of the feed that has the same sequence', async () => {
    const tenant = await newAccount(table);
    const incident_id = await tenant.incident();
    const [one = '', other = ''] = await tenant.alerts(2);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const answer = await mergeAround(tenant, { alert_ids: [one], incident_id }, () =>
      merge(tenant, [other], incident_id),
    );
    expectEnvelope(answer, 200);
    await expectMerged(tenant, incident_id, [one, other], 2);
  });

  it('that changes the title reads it again when another merge has changed it meanwhile', async () => {
    const tenant = await newAccount(table);
    const incident_id = await tenant.incident({ title: 'Start' });
    const [one = '', other = ''] = await tenant.alerts(2);
    const answer = await mergeAround(tenant, { alert_ids: [one], incident_id, title: 'Later' }, () =>
      send(tenant, { alert_ids: [other], incident_id, title: 'Earlier' }),
    );
    expectEnvelope(answer, 200);
    const titles = (await tenant.feed(incident_id)).map(({ old_title, new_title }) => [old_title, new_title]);
    expect(titles).toEqual([
      ['Start', 'Earlier'],
      ['Earlier', 'Later'],
    ]);
    expect(await tenant.incidentRow(incident_id)).toMatchObject({ title: 'Later' });
  });

  it('is InvalidParameter if a merge with the same Idempotency-Key and another body is committed meanwhile', async () => {
    const { tenant, from, to, later, alerts } = await given(2);
    const [one = '', other = ''] = alerts;
    const options = { headers: { 'Idempotency-Key': 'k' } };
    const act = () => send(tenant, { alert_ids: [other], incident_id: later }, options);
    const answer = await mergeAround(tenant, { alert_ids: [one], incident_id: to }, act, options);
    expectEnvelope(answer, 400, 'InvalidParameter');
    expect(await tenant.feed(to)).toEqual([]);
    expect(await tenant.placements(alerts)).toEqual([from, later]);
  });

  it('does not wait for a large merge that still moves other alerts', async () => {
    const { tenant, later } = await givenPending();
    const others = await tenant.alerts(2);
    await merge(tenant, others, later);
    expect((await tenant.feed(later))[0]).not.toHaveProperty('large');
    expect(await tenant.pending()).toHaveLength(1);
  });
});
