import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSEvent } from 'aws-lambda';
import { describe, expect, inject, it, vi } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { createFinishMerges, OVERDUE } from '../../lib/operations/merge-alerts/finish.ts';
import { MAX_PENDING } from '../../lib/operations/merge-alerts/merge-order.ts';
import { readDeployment } from '../../packages/local/deployment.ts';
import { matches } from '../../packages/local/stream.ts';
import { insertsOf } from '../../packages/local/test/support/stream-records.ts';
import { expectEnvelope } from '../support/answers.ts';
import { relayed } from '../support/events.ts';
import { aroundCalls, connectionLost, dyingAfterCommit } from '../support/faults.ts';
import { finishFeed as finishWhole } from '../support/finish.ts';
import { expectMerged, newAccount } from '../support/incidents.ts';
import { connectAgain, handlersOver, newTable, testDeps } from '../support/service.ts';

const table = await newTable({ stream: true });

/** Small transactions, so that few alerts take several of them. */
const SIZES = { transactionItems: 12 };
const finishFeed: typeof finishWhole = (of, feed, options) => finishWhole(of, feed, { ...SIZES, ...options });

/** A handler over a client of its own, whose calls can be made to fail. */
function instance() {
  const own = connectAgain(table);
  const deps = testDeps(own);
  return { table: own, deps, handler: handlersOver(deps, SIZES).mergeAlerts };
}

/** Commits a merge of 20 alerts whose function then dies. @param earlier whether the account has a large merge before it */
async function leftPending({ earlier = false } = {}) {
  const tenant = await newAccount(table);
  const [from, to] = [await tenant.incident(), await tenant.incident()];
  if (earlier) {
    const { mergeAlerts } = handlersOver(testDeps(table), { transactionItems: 4 });
    expectEnvelope(await tenant.merge(mergeAlerts, { alert_ids: await tenant.alerts(5), incident_id: from }), 200);
    await tenant.finish(from);
  }
  const alerts = await tenant.alerts(20, from);
  const dying = instance();
  aroundCalls(dying.table, dyingAfterCommit());
  const answer = await tenant.merge(dying.handler, { alert_ids: alerts, incident_id: to });
  return { tenant, from, to, alerts, answer, deps: dying.deps };
}

describe('a merge that is cut short after its commit', () => {
  it('is answered 200, counted and logged when it is left and when it is finished, and not afterwards', async () => {
    const { tenant, from, to, alerts, answer, deps } = await leftPending();
    expectEnvelope(answer, 200);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
    expect(await tenant.pending()).toHaveLength(1);
    const reportsOf = ({ log, metrics }: typeof deps) => [
      metrics.events,
      log.lines.filter(({ message }) => message !== 'call'),
    ];
    const error_name = expect.any(String);
    const { request_id } = answer.body;
    expect(reportsOf(deps)).toEqual([
      ['merge_left_pending'],
      [{ level: 'warn', message: 'merge left to finish-merges', fields: { request_id, error_name } }],
    ]);
    const feed = await tenant.feed(to);
    expect(feed[0]).toMatchObject({ pending: true });
    const finishing = testDeps(table);
    const fields = { account_id: tenant.account, incident_id: to, sequence: feed[0].sequence };
    const finished = [['merge_finished_late'], [{ level: 'warn', message: 'merge finished after its call', fields }]];
    await finishFeed(table, feed, { deps: finishing });
    expect(reportsOf(finishing)).toEqual(finished);
    await finishFeed(table, feed, { deps: finishing });
    expect(reportsOf(finishing)).toEqual(finished);
  });

  it("is finished by finish-merges from the table's stream, however often the message comes", async () => {
    const { tenant, to, alerts } = await leftPending();
    const [entry] = await tenant.feed(to);
    const records = await insertsOf(table, keys.feedEntry(tenant.account, to, entry.sequence));
    expect(records).toHaveLength(1);
    const { patterns } = readDeployment(inject('template'), table.name).stream;
    expect(patterns.filter((pattern) => matches(pattern, records[0]))).toHaveLength(1);
    const { sent } = await relayed(table, records);
    const message = { body: sent.merges?.[0] ?? '' };
    expect(JSON.parse(message.body)).toEqual({ pk: entry.pk, sk: entry.sk });
    const finish = () =>
      createFinishMerges(testDeps(table), SIZES.transactionItems)({ Records: [message] } as SQSEvent, {
        getRemainingTimeInMillis: () => 30_000,
      });
    await finish();
    await expectMerged(tenant, to, alerts);
    await finish();
    await expectMerged(tenant, to, alerts);
  });

  it('goes on where the last attempt ended, when its time is over', async () => {
    const { tenant, to, alerts } = await leftPending();
    const slow = instance();
    aroundCalls(slow.table, async ({ command }, send) => {
      await send();
      if (command.startsWith('TransactWrite')) await sleep(200);
    });
    const feed = await tenant.feed(to);
    const hurried = { deps: slow.deps, transactionItems: 8, leftMs: 2_100 };
    await expect(finishFeed(slow.table, feed, hurried)).rejects.toThrow();
    const entry = { account_id: tenant.account, incident_id: to, sequence: feed[0].sequence };
    expect(slow.deps.log.lines.at(-1)).toEqual({
      level: 'error',
      message: 'merge not finished',
      fields: { ...entry, error_name: expect.any(String) },
    });
    expect(slow.deps.metrics.events).toEqual([]);
    await finishFeed(table, feed);
    await expectMerged(tenant, to, alerts);
  });

  it('is finished within all but two seconds of the time that finish-merges has left', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    for (const left of [30_000, 1_500])
      await createFinishMerges(testDeps(table))({ Records: [] }, { getRemainingTimeInMillis: () => left });
    expect(timeout.mock.calls).toEqual([[28_000], [1]]);
    timeout.mockRestore();
  });

  it('fails the message when DynamoDB is down, so that the queue retries it', async () => {
    const { tenant, to, alerts } = await leftPending();
    const feed = await tenant.feed(to);
    const away = instance();
    const back = aroundCalls(away.table, async ({ number }, send) => {
      if (number > 5) throw connectionLost();
      await send();
    });
    await expect(finishFeed(away.table, feed, { deps: away.deps, leftMs: 3_000 })).rejects.toThrow('connection lost');
    back();
    await finishFeed(away.table, feed);
    await expectMerged(tenant, to, alerts);
  });

  it.each([
    ['the first large one of its account', false],
    ['a later large one', true],
  ])(
    '(%s) yields to a later merge, which records the incident of the earlier one as the source of its alerts',
    async (_which, earlier) => {
      const { tenant, from, to, alerts } = await leftPending({ earlier });
      const later = await tenant.incident();
      const taken = alerts.slice(0, 5);
      expectEnvelope(await tenant.merge(instance().handler, { alert_ids: taken, incident_id: later }), 200);
      await tenant.finish(later);
      const [entry] = await tenant.feed(later);
      expect(entry.moved).toEqual({ [to]: expect.arrayContaining(taken) }); // not `from`, where the rows still had them
      expect(entry.moved).not.toHaveProperty(from);
      await finishFeed(table, await tenant.feed(to));
      expect(new Set(await tenant.placements(taken))).toEqual(new Set([later]));
      expect(new Set(await tenant.placements(alerts.slice(5)))).toEqual(new Set([to]));
    },
  );

  it('lets a merge into the same incident record its alerts as already there', async () => {
    const { tenant, to, alerts } = await leftPending();
    expectEnvelope(await tenant.merge(instance().handler, { alert_ids: alerts.slice(0, 3), incident_id: to }), 200);
    await tenant.finish(to);
    const [, second] = await tenant.feed(to);
    expect(second).toMatchObject({ moved: {}, stayed: expect.arrayContaining(alerts.slice(0, 3)) });
  });

  it('lets a later large merge record where its alerts came from', async () => {
    const { tenant, to, alerts } = await leftPending();
    const later = await tenant.incident();
    expectEnvelope(await tenant.merge(instance().handler, { alert_ids: alerts, incident_id: later }), 200);
    await tenant.finish(later);
    expect((await tenant.feed(later))[0].moved).toEqual({ [to]: expect.arrayContaining(alerts) });
    await finishFeed(table, await tenant.feed(to));
    await expectMerged(tenant, later, alerts);
  });
});

describe('many pending merges', () => {
  it('are read several at a time by a small merge, and make a further large one 503', async () => {
    const tenant = await newAccount(table);
    const [from, to] = [await tenant.incident(), await tenant.incident()];
    for (let index = 0; index < MAX_PENDING; index += 1) {
      const alerts = await tenant.alerts(20, from);
      const dying = instance();
      aroundCalls(dying.table, dyingAfterCommit());
      expectEnvelope(await tenant.merge(dying.handler, { alert_ids: alerts, incident_id: to }), 200);
    }
    expect(await tenant.pending()).toHaveLength(MAX_PENDING);
    const one = instance();
    let [underWay, most] = [0, 0];
    aroundCalls(one.table, async ({ command }, send) => {
      if (command.startsWith('Query')) most = Math.max(most, ++underWay);
      await send();
      if (command.startsWith('Query')) underWay -= 1;
    });
    expectEnvelope(await tenant.merge(one.handler, { alert_ids: await tenant.alerts(1), incident_id: to }), 200);
    expect(most).toBeGreaterThan(MAX_PENDING / 4);
    const large = { alert_ids: await tenant.alerts(20), incident_id: to };
    const refused = await tenant.merge(one.handler, large);
    expectEnvelope(refused, 503, 'ServiceUnavailable');
    expect(Number(refused.headers['Retry-After'])).toBeGreaterThan(1);
    await tenant.finish(to, SIZES.transactionItems);
    expectEnvelope(await tenant.merge(one.handler, large), 200);
  });
});

describe('finish-merges', () => {
  const time = { getRemainingTimeInMillis: () => 60_000 };

  it.each([
    ['the key of another row', { pk: 'ACCOUNT#1#WORK_ITEMS', sk: 'wi-1' }],
    ['a stream record', { eventName: 'INSERT', dynamodb: { Keys: { pk: { S: 'x' } } } }],
    ['null', null],
  ])('logs a message that is %s, and does not get it again', async (_what, body) => {
    const deps = testDeps(table);
    const event = { Records: [{ body: JSON.stringify(body) }, { body: '{' }] } as SQSEvent;
    await createFinishMerges(deps)(event, time);
    expect(deps.log.lines.map(({ message }) => message)).toEqual(['merge not finished', 'merge not finished']);
  });

  it('finishes the merges of all accounts that no message has finished, once they are five minutes old', async () => {
    const others = await Promise.all([leftPending(), leftPending()]);
    const sweep = async (laterMs: number) => {
      const deps = testDeps(table, { now: () => Date.now() + laterMs });
      await createFinishMerges(deps, SIZES.transactionItems)(OVERDUE, time);
    };
    await sweep(0);
    for (const { tenant } of others) expect(await tenant.pending()).toHaveLength(1);
    await sweep(5 * 60_000 + 1_000);
    for (const { tenant, to, alerts } of others) await expectMerged(tenant, to, alerts);
  });

  it('goes on after calls without a reply, with fewer calls at once', async () => {
    const { tenant, to, alerts } = await leftPending();
    const slow = instance();
    const underWay = new Set<{ alone: boolean }>();
    let lost = 0;
    aroundCalls(slow.table, async ({ command }, send) => {
      if (!command.startsWith('TransactWrite')) return send();
      const call = { alone: underWay.size === 0 };
      for (const other of underWay) other.alone = false;
      underWay.add(call);
      try {
        await sleep(20);
        // The first calls get no reply, and afterwards no two at once.
        if (call.alone && lost >= 3) return await send();
        lost += 1;
        throw Object.assign(new Error('no reply'), { name: 'TimeoutError' });
      } finally {
        underWay.delete(call);
      }
    });
    await finishFeed(slow.table, await tenant.feed(to), { deps: slow.deps });
    expect(lost).toBeGreaterThanOrEqual(3);
    await expectMerged(tenant, to, alerts);
  });
});
