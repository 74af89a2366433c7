/** Merges whose calls end after their commit, and the function that finishes them. */
import type { SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFinishMerges, OVERDUE } from '../../../lib/operations/merge-alerts/finish.ts';
import { EXISTS } from '../../../lib/table/expression.ts';
import { keys } from '../../../lib/table/keys.ts';
import { deleteRow } from '../../../lib/table/write.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { connectionLost, dyingAfterCommit, intercepted, isTransaction } from '../../support/faults.ts';
import { expectMerged, finishEntries } from '../../support/incidents.ts';
import { type TestDeps, testDeps } from '../../support/service.ts';
import { HOUR_MS, LIMITS, newWorld } from './merging.ts';

const context = { getRemainingTimeInMillis: () => 30_000 };

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0); // no waits
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** What a function has counted and logged beside its calls. */
const reportsOf = ({ log, metrics }: TestDeps) => ({
  events: metrics.events,
  lines: log.lines.filter(({ message }) => message !== 'call'),
});

describe('a merge that is cut short after its commit', () => {
  it('is answered 200, and is counted and logged once when it is left pending and once when it is finished', async () => {
    const { table, tenant, start, one, alerts, send, placements } = await newWorld(4);
    const deps = testDeps(intercepted(table, dyingAfterCommit()));
    const answer = await send({ alert_ids: alerts, incident_id: one }, { deps });
    expectEnvelope(answer, 200);
    expect(new Set(await placements())).toEqual(new Set([start]));
    const left = { request_id: answer.body.request_id, error_name: expect.any(String) };
    expect(reportsOf(deps)).toEqual({
      events: ['merge_left_pending'],
      lines: [{ level: 'warn', message: 'merge left to finish-merges', fields: left }],
    });
    const history = await tenant.history(one);
    const finishing = testDeps(table);
    const fields = { account_id: tenant.account, incident_id: one, sequence: history[0].sequence };
    for (let times = 0; times < 2; times += 1) {
      await finishEntries(table, history, { deps: finishing });
      await expectMerged(tenant, one, alerts);
      expect(reportsOf(finishing)).toEqual({
        events: ['merge_finished_late'],
        lines: [{ level: 'warn', message: 'merge finished after its call', fields }],
      });
    }
  });

  it('is left pending when the time of its call is over', async () => {
    const { table, one, alerts, send, tenant } = await newWorld(40);
    const time = new AbortController();
    let moves = -1;
    const through = intercepted(table, (reply, request) => {
      if (isTransaction(request)) moves += 1;
      if (moves === 2) {
        time.abort();
        throw time.signal.reason;
      }
      return reply();
    });
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
    expectEnvelope(await send({ alert_ids: alerts, incident_id: one }, { through }), 200);
    expect(await tenant.pending()).toHaveLength(1);
  });

  it('fails its message when the time of finish-merges is nearly over, and the next attempt goes on', async () => {
    const { tenant, table, one, alerts, mergePending } = await newWorld(40);
    await mergePending(one);
    const history = await tenant.history(one);
    const time = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
    let moves = 0;
    const through = intercepted(table, (reply, request) => {
      if (!isTransaction(request)) return reply();
      moves += 1;
      if (moves === 20) time.abort();
      time.signal.throwIfAborted();
      return reply();
    });
    const deps = testDeps(through);
    const finishing = finishEntries(through, history, { deps, transactionItems: 1, leftMs: 30_000 });
    await expect(finishing).rejects.toThrow('abort');
    expect(timeout.mock.calls).toEqual([[28_000]]);
    const entry = { account_id: tenant.account, incident_id: one, sequence: history[0].sequence };
    const fields = { ...entry, error_name: expect.any(String) };
    expect(reportsOf(deps)).toEqual({
      events: [],
      lines: [{ level: 'error', message: 'merge not finished', fields }],
    });
    timeout.mockRestore();
    await finishEntries(table, history);
    await expectMerged(tenant, one, alerts);
  });

  it('is finished after calls without a reply', async () => {
    const { table, tenant, one, alerts, mergePending } = await newWorld(40);
    await mergePending(one);
    let lost = 0;
    const through = intercepted(table, (reply, request) => {
      if (!isTransaction(request) || lost === 3) return reply();
      lost += 1;
      throw connectionLost();
    });
    await finishEntries(through, await tenant.history(one), LIMITS);
    await expectMerged(tenant, one, alerts);
  });
});

it('beside 25 pending merges a small one is committed, and a further large one is refused with 503', async () => {
  const { tenant, one, two, alerts, send, merge, finish, mergePending } = await newWorld(3);
  for (let index = 0; index < 25; index += 1) await mergePending(one);
  expect(await tenant.pending()).toHaveLength(25);
  await merge({ alert_ids: alerts.slice(0, 1), incident_id: two });
  const refused = await send({ alert_ids: alerts, incident_id: two });
  expectEnvelope(refused, 503, 'ServiceUnavailable');
  expect(Number(refused.headers['Retry-After'])).toBeGreaterThan(1);
  await finish();
  await merge({ alert_ids: alerts, incident_id: two });
});

describe('finish-merges', () => {
  it('logs a message that names no merge, and does not get it again', async () => {
    const { table } = await newWorld(0);
    const deps = testDeps(table);
    const streamRecord = { eventName: 'INSERT', dynamodb: { Keys: { pk: { S: 'x' } } } };
    const bodies = [...[keys.workItem(1, 'wi-1'), streamRecord, null].map((body) => JSON.stringify(body)), '{'];
    await createFinishMerges(deps)({ Records: bodies.map((body) => ({ body })) } as SQSEvent, context);
    expect(deps.log.lines.map(({ message }) => message)).toEqual(bodies.map(() => 'merge not finished'));
  });

  it.each([
    { when: '80 seconds old', ageMs: 80_000, isFinished: false },
    { when: '91 seconds old', ageMs: 91_000, isFinished: true },
    { when: 'from a clock that was ahead, which tells no age', ageMs: -HOUR_MS, isFinished: true },
  ])(
    'finishes by the schedule the merges of all accounts that are $when: $isFinished',
    async ({ ageMs, isFinished }) => {
      const { table, tenant, one, two, mergePending } = await newWorld(4);
      const nowMs = Date.now();
      const lost = await mergePending(one, { now: () => nowMs });
      await mergePending(two, { now: () => nowMs });
      // A restore may have lost the entry of a merge: that one is left.
      await deleteRow(table, keys.historyEntry(tenant.account, lost.incidentId, lost.sequence), EXISTS);
      const deps = testDeps(table, { now: () => nowMs + ageMs });
      await createFinishMerges(deps, LIMITS.transactionItems)(OVERDUE, context);
      expect(await tenant.pending()).toHaveLength(isFinished ? 1 : 2);
    },
  );
});
