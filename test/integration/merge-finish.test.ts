import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSEvent } from 'aws-lambda';
import { describe, expect, inject, it } from 'vitest';
import { createFinishMerges, OVERDUE } from '../../lib/operations/merge-alerts/finish.ts';
import { MAX_PENDING } from '../../lib/operations/merge-alerts/merge-order.ts';
import { keys } from '../../lib/table/keys.ts';
import { readDeployment } from '../../packages/local/deployment.ts';
import { matches } from '../../packages/local/stream.ts';
import { insertsOf } from '../../packages/local/test/support/stream-records.ts';
import { expectEnvelope } from '../support/answers.ts';
import { relayed } from '../support/events.ts';
import { type AroundCall, connectionLost, dyingAfterCommit } from '../support/faults.ts';
import { expectMerged, finishFeed } from '../support/incidents.ts';
import { newTable, type TestDeps, testDeps } from '../support/service.ts';
import { newMergeInstance, newPendingScene, newScene, TRANSACTION_ITEMS } from './merging.ts';

const table = await newTable({ stream: true });

/** What a function has counted and logged beside its calls. */
const reportsOf = ({ log, metrics }: TestDeps) => ({
  events: metrics.events,
  lines: log.lines.filter(({ message }) => message !== 'call'),
});

describe('a merge that is cut short after its commit', () => {
  it('is answered 200, and is counted and logged once when it is left pending and once when it is finished', async () => {
    const { tenant, from, to, alerts } = await newScene(table, { alerts: 20 });
    const { mergeAlerts, deps } = newMergeInstance(table, { around: dyingAfterCommit() });
    const answer = await tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id: to });
    expectEnvelope(answer, 200);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
    const leftFields = { request_id: answer.body.request_id, error_name: expect.any(String) };
    expect(reportsOf(deps)).toEqual({
      events: ['merge_left_pending'],
      lines: [{ level: 'warn', message: 'merge left to finish-merges', fields: leftFields }],
    });
    const feed = await tenant.feed(to);
    expect(feed).toMatchObject([{ pending: true }]);
    const finishing = testDeps(table);
    for (let times = 0; times < 2; times += 1) {
      await finishFeed(table, feed, { deps: finishing });
      const fields = { account_id: tenant.account, incident_id: to, sequence: feed[0].sequence };
      expect(reportsOf(finishing)).toEqual({
        events: ['merge_finished_late'],
        lines: [{ level: 'warn', message: 'merge finished after its call', fields }],
      });
    }
  });

  it("is finished by finish-merges from the table's stream, however often the message comes", async () => {
    const { tenant, to, alerts } = await newPendingScene(table);
    const [entry] = await tenant.feed(to);
    const records = await insertsOf(table, keys.feedEntry(tenant.account, to, entry.sequence));
    expect(records).toHaveLength(1);
    const { patterns } = readDeployment(inject('template'), table.name).stream;
    expect(patterns.filter((pattern) => matches(pattern, records[0]))).toHaveLength(1);
    const { sent } = await relayed(table, records);
    const message = { body: sent.merges?.[0] ?? '' };
    expect(JSON.parse(message.body)).toEqual({ pk: entry.pk, sk: entry.sk });
    const finishMerges = createFinishMerges(testDeps(table), TRANSACTION_ITEMS);
    for (let times = 0; times < 2; times += 1) {
      await finishMerges({ Records: [message] } as SQSEvent, { getRemainingTimeInMillis: () => 30_000 });
      await expectMerged(tenant, to, alerts);
    }
  });

  it('fails its message when the time of finish-merges is nearly over, and the next attempt goes on', async () => {
    const { tenant, to, alerts } = await newPendingScene(table);
    const { table: slow, deps } = newMergeInstance(table, {
      async around({ command }, send) {
        await send();
        if (command.startsWith('TransactWrite')) await sleep(200);
      },
    });
    const feed = await tenant.feed(to);
    // It ends two seconds before its function does.
    await expect(finishFeed(slow, feed, { deps, transactionItems: 8, leftMs: 2_100 })).rejects.toThrow();
    const entry = { account_id: tenant.account, incident_id: to, sequence: feed[0].sequence };
    const fields = { ...entry, error_name: expect.any(String) };
    expect(reportsOf(deps)).toEqual({ events: [], lines: [{ level: 'error', message: 'merge not finished', fields }] });
    await finishFeed(table, feed);
    await expectMerged(tenant, to, alerts);
  });

  it('fails the message when DynamoDB is down, so that the queue retries it', async () => {
    const { tenant, to, alerts } = await newPendingScene(table);
    const feed = await tenant.feed(to);
    const { table: unreachable, deps } = newMergeInstance(table, {
      async around({ number }, send) {
        if (number > 5) throw connectionLost();
        await send();
      },
    });
    await expect(finishFeed(unreachable, feed, { deps, leftMs: 3_000 })).rejects.toThrow('connection lost');
    await finishFeed(table, feed);
    await expectMerged(tenant, to, alerts);
  });

  it.each([
    { merge: 'a later small merge', count: 5 },
    { merge: 'a later large merge', count: 20 },
    { merge: 'a later merge after an earlier large one', count: 5, hasEarlier: true },
  ])('yields to $merge, which records that its alerts came from the pending one', async ({ count, hasEarlier }) => {
    const { tenant, from, to, elsewhere, alerts, merge, finish, firstMoves } = await newScene(table, { alerts: 20 });
    if (hasEarlier) {
      await merge(await tenant.alerts(15), from);
      await finish(from);
    }
    await merge(alerts, to, { around: dyingAfterCommit() });
    const taken = alerts.slice(0, count);
    await merge(taken, elsewhere);
    await finish(elsewhere);
    // Not `from`, which the alerts' rows still named then.
    expect(await firstMoves(elsewhere)).toEqual({ [to]: expect.arrayContaining(taken) });
    await finishFeed(table, await tenant.feed(to));
    expect(new Set(await tenant.placements(taken))).toEqual(new Set([elsewhere]));
    for (const incidentId of await tenant.placements(alerts.slice(count))) expect(incidentId).toBe(to);
  });

  it('lets a merge into the same incident record its alerts as already there', async () => {
    const { tenant, to, alerts, merge, finish } = await newPendingScene(table);
    await merge(alerts.slice(0, 3), to);
    await finish(to);
    const [, second] = await tenant.feed(to);
    expect(second).toMatchObject({ moved: {}, stayed: expect.arrayContaining(alerts.slice(0, 3)) });
  });
});

it('a small merge reads many pending merges several at a time; a further large merge is refused with 503', async () => {
  const { tenant, from, to, merge, finish } = await newScene(table, { alerts: 0 });
  for (let index = 0; index < MAX_PENDING; index += 1)
    await merge(await tenant.alerts(20, from), to, { around: dyingAfterCommit() });
  expect(await tenant.pending()).toHaveLength(MAX_PENDING);
  let [underWay, mostAtOnce] = [0, 0];
  const { mergeAlerts } = newMergeInstance(table, {
    async around({ command }, send) {
      const isRead = command.startsWith('GetItem');
      if (isRead) underWay += 1;
      mostAtOnce = Math.max(mostAtOnce, underWay);
      await send();
      if (isRead) underWay -= 1;
    },
  });
  expectEnvelope(await tenant.merge(mergeAlerts, { alert_ids: await tenant.alerts(1), incident_id: to }), 200);
  expect(mostAtOnce).toBeGreaterThan(MAX_PENDING / 4);
  const largeMerge = { alert_ids: await tenant.alerts(20), incident_id: to };
  const refused = await tenant.merge(mergeAlerts, largeMerge);
  expectEnvelope(refused, 503, 'ServiceUnavailable');
  expect(Number(refused.headers['Retry-After'])).toBeGreaterThan(1);
  await finish(to);
  expectEnvelope(await tenant.merge(mergeAlerts, largeMerge), 200);
});

describe('finish-merges', () => {
  const context = { getRemainingTimeInMillis: () => 60_000 };

  it('logs a message that names no merge, and does not get it again', async () => {
    const deps = testDeps(table);
    const streamRecord = { eventName: 'INSERT', dynamodb: { Keys: { pk: { S: 'x' } } } };
    const otherRow = { pk: 'ACCOUNT#1#WORK_ITEMS', sk: 'wi-1' };
    const bodies = [...[otherRow, streamRecord, null].map((body) => JSON.stringify(body)), '{'];
    await createFinishMerges(deps)({ Records: bodies.map((body) => ({ body })) } as SQSEvent, context);
    expect(deps.log.lines.map(({ message }) => message)).toEqual(bodies.map(() => 'merge not finished'));
  });

  it('finishes the merges of all accounts that no message has finished, once they are 90 seconds old', async () => {
    const scenes = await Promise.all([newPendingScene(table), newPendingScene(table)]);
    const sweepAfter = async (ageMs: number) => {
      const deps = testDeps(table, { now: () => Date.now() + ageMs });
      await createFinishMerges(deps, TRANSACTION_ITEMS)(OVERDUE, context);
    };
    await sweepAfter(0);
    for (const { tenant } of scenes) expect(await tenant.pending()).toHaveLength(1);
    await sweepAfter(91_000);
    for (const { tenant, to, alerts } of scenes) await expectMerged(tenant, to, alerts);
  });

  it('finishes a merge from a clock that was ahead at once, since its sequence tells no age', async () => {
    const { tenant, to, alerts, merge } = await newScene(table, { alerts: 20 });
    await merge(alerts, to, { around: dyingAfterCommit(), aheadMs: 3_600_000 });
    await createFinishMerges(testDeps(table), TRANSACTION_ITEMS)(OVERDUE, context);
    await expectMerged(tenant, to, alerts);
  });

  it('goes on after calls without a reply, with fewer calls at once', async () => {
    const { tenant, to, alerts } = await newPendingScene(table);
    const underWay = new Set<{ alone: boolean }>();
    let lost = 0;
    /** Of the transactions, the first three get no reply, nor do later ones that overlap with another. */
    const around: AroundCall = async ({ command }, send) => {
      if (!command.startsWith('TransactWrite')) return send();
      const call = { alone: underWay.size === 0 };
      for (const otherCall of underWay) otherCall.alone = false;
      underWay.add(call);
      try {
        await sleep(20);
        if (call.alone && lost >= 3) return await send();
        lost += 1;
        throw Object.assign(new Error('no reply'), { name: 'TimeoutError' });
      } finally {
        underWay.delete(call);
      }
    };
    const { table: slow, deps } = newMergeInstance(table, { around });
    await finishFeed(slow, await tenant.feed(to), { deps, transactionItems: TRANSACTION_ITEMS });
    expect(lost).toBeGreaterThanOrEqual(3);
    await expectMerged(tenant, to, alerts);
  });
});
