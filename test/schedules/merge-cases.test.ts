/** Cases of the merge protocol that random schedules meet too seldom: each is an order of calls that a wrong protocol does not survive. */
import { TransactionCanceledException, TransactionInProgressException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeRow } from '../../lib/ingest/write-records.ts';
import type { EntryWithMoves } from '../../lib/operations/merge-alerts/entry.ts';
import { finishMerge } from '../../lib/operations/merge-alerts/finish.ts';
import { removePending } from '../../lib/operations/merge-alerts/log-head.ts';
import { AlertsTooLargeError } from '../../lib/operations/merge-alerts/move.ts';
import { keys } from '../../lib/table/keys.ts';
import { HOUR_MS, LIMITS, newWorld } from '../integration/merge-alerts/merging.ts';
import { connectionLost, dyingAfterCommit, intercepted, isTransaction } from '../support/faults.ts';
import { recordFrom } from '../support/ingest.ts';
import { createHandlers, putAll, stored, testDeps } from '../support/service.ts';

const hourAhead = { now: () => Date.now() + HOUR_MS };
const cancelled = (CancellationReasons: { Code: string }[]) =>
  new TransactionCanceledException({ message: 'cancelled', $metadata: {}, CancellationReasons });

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0); // no waits
});
afterEach(() => {
  vi.restoreAllMocks();
});

it.each(['now', 'later', 'between'])(
  'a call that is repeated with its key is committed once, if the first attempt is small, gets no reply and is carried out %s, and the second is large',
  async (when) => {
    const world = await newWorld(4);
    const body = { alert_ids: world.alerts, incident_id: world.one };
    let carryOut: (() => Promise<unknown>) | undefined;
    const through = intercepted(world.table, async (reply, request) => {
      if (!carryOut && !isTransaction(request)) return reply();
      if (!carryOut && when === 'now') await reply();
      carryOut ??= reply;
      throw connectionLost();
    });
    expect((await world.send(body, { through, key: 'k', limits: {} })).status).toBe(503);
    const second = world.beforeCommit(() => when === 'between' && carryOut?.());
    await world.merge(body, { through: second, key: 'k' });
    if (when === 'later') await expect(carryOut?.()).rejects.toThrow('cancelled');
    expect(await world.expectTrue()).toHaveLength(1);
  },
);

it('a large merge whose commit seems to conflict, and is applied, is committed once, though time goes on', async () => {
  const world = await newWorld(4);
  let transactions = 0;
  const through = intercepted(world.table, async (send, request) => {
    const reply = await send();
    if (!isTransaction(request)) return reply;
    transactions += 1;
    if (transactions > 1) return reply;
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 1_000);
    throw cancelled([{ Code: 'TransactionConflict' }]);
  });
  await world.merge({ alert_ids: world.alerts, incident_id: world.one }, { through });
  expect(await world.expectTrue()).toHaveLength(1);
});

it('a merge whose time ends while its commit is in progress finds out whether it is committed', async () => {
  const world = await newWorld(1);
  const time = new AbortController();
  const through = intercepted(world.table, async (send, request) => {
    const reply = await send();
    if (!isTransaction(request)) return reply;
    time.abort();
    throw new TransactionInProgressException({ message: 'in progress', $metadata: {} });
  });
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
  await world.merge({ alert_ids: world.alerts, incident_id: world.one }, { through });
  expect(await world.expectTrue()).toHaveLength(1);
});

describe('an undo of a merge that is still pending', () => {
  it.each([
    { what: 'and a small merge that began before it, and is committed after it', isUndoFirst: true },
    { what: 'and a small merge that is committed before it', isUndoFirst: false },
  ])('$what', async ({ isUndoFirst }) => {
    const world = await newWorld(4);
    const pending = await world.mergePending(world.one);
    const [taken = '', ...others] = world.alerts;
    const body = { alert_ids: [taken], incident_id: world.two };
    if (isUndoFirst) {
      const through = world.beforeCommit(() => world.undo(pending));
      await world.merge(body, { through });
    } else {
      const through = world.beforeCommit(() => world.merge(body));
      expect((await world.undo(pending, { through, ...hourAhead })).left).toEqual([taken]);
    }
    expect(await world.expectTrue()).toHaveLength(3);
    expect(await world.placements()).toEqual([world.two, ...others.map(() => world.start)]);
  });

  it('moves an alert back to where another merge put it between the reads and the commit of the pending one', async () => {
    const world = await newWorld(4);
    const body = { alert_ids: world.alerts.slice(0, 1), incident_id: world.two };
    const through = intercepted(
      world.beforeCommit(() => world.merge(body)),
      dyingAfterCommit(),
    );
    // Its clock is ahead, so that it is committed at the first attempt.
    await world.undo(await world.mergePending(world.one, { through, ...hourAhead }));
    await world.expectTrue();
    expect(await world.placements()).toEqual([world.two, world.start, world.start, world.start]);
  });
});

it('a small merge notices a large one that is committed between its reads and its commit, and stays pending', async () => {
  const world = await newWorld(4);
  const [taken = '', ...others] = world.alerts;
  const through = world.beforeCommit(() => world.mergePending(world.one));
  // Its clock is ahead, and so is its sequence: only the sequence of the latest large merge reveals that merge.
  await world.merge({ alert_ids: [taken], incident_id: world.two }, { through, ...hourAhead });
  expect(await world.expectTrue()).toHaveLength(2);
  expect(await world.placements()).toEqual([world.two, ...others.map(() => world.one)]);
});

it('a merge by a clock an hour ahead gives a title that records of later minutes replace', async () => {
  const { table, tenant, one, alerts, merge } = await newWorld(1);
  const arrivedMs = Date.now();
  await merge({ alert_ids: alerts, incident_id: one, title: 'merged' }, { ...hourAhead, arrivedMs });
  const incident = { kind: 'incident', account_id: tenant.account, incident_id: one };
  for (const [ms, title] of [
    [60_000, 'merged'],
    [60_001, 'record'],
  ] as const) {
    await writeRow(table, [recordFrom({ ...incident, title: 'record', at_ms: arrivedMs + ms - 1 }, arrivedMs)]);
    expect((await tenant.incidentRow(one)).title).toBe(title);
  }
});

it('a title and an owner that follow such a merge are of their own time, though their sequence is above it', async () => {
  const { table, tenant, one, alerts, merge } = await newWorld(1);
  const arrivedMs = Date.now();
  await merge({ alert_ids: alerts, incident_id: one }, { ...hourAhead, arrivedMs });
  await tenant.member(7);
  await merge({ alert_ids: alerts, incident_id: one, title: 'merged', owner_id: 7 });
  const incident = { kind: 'incident', account_id: tenant.account, incident_id: one };
  const later = { ...incident, title: 'record', owner_id: 8, at_ms: arrivedMs + 30_000 };
  await writeRow(table, [recordFrom(later, arrivedMs + 30_000)]);
  expect(await tenant.incidentRow(one)).toMatchObject({ title: 'record', owner_id: 8 });
});

it('a large merge from a clock an hour ahead is before the small ones that follow it', async () => {
  const world = await newWorld(4);
  await world.mergePending(world.one, hourAhead);
  for (const alert of world.alerts.slice(0, 2)) await world.merge({ alert_ids: [alert], incident_id: world.two });
  expect(await world.expectTrue()).toHaveLength(3);
  expect(await world.placements()).toEqual([world.two, world.two, world.one, world.one]);
});

it('a large merge that has written its rows, but not its origins, gets them when it is finished', async () => {
  const world = await newWorld(4);
  const [taken = ''] = world.alerts;
  let isCommitted = false;
  const through = intercepted(world.table, async (reply, request) => {
    if (isCommitted && request.input.UpdateExpression?.includes('other_ids')) throw connectionLost();
    // It has read that the alert is in the first incident.
    if (isTransaction(request) && !isCommitted) await world.merge({ alert_ids: [taken], incident_id: world.two });
    isCommitted ||= isTransaction(request);
    return reply();
  });
  // Its clock is ahead, so that it is committed at the first attempt.
  await world.merge({ alert_ids: world.alerts, incident_id: world.one }, { through, ...hourAhead });
  expect(new Set(await world.placements())).toEqual(new Set([world.one]));
  expect(await world.tenant.pending()).toHaveLength(1);
  const [, { moves }] = (await world.expectTrue()) as [unknown, EntryWithMoves];
  expect(moves.find(({ alertId }) => alertId === taken)?.from).toBe(world.two);
});

it('the first two large merges of an account, one of them between the reads and the commit of the other, are both finished', async () => {
  const world = await newWorld(8);
  const between = () => world.mergePending(world.one, { alert_ids: world.alerts.slice(0, 4) });
  const through = world.beforeCommit(between);
  await world.merge({ alert_ids: world.alerts.slice(4), incident_id: world.two }, { through, ...hourAhead });
  expect(await world.expectTrue()).toHaveLength(2);
});

it('a warm function counts pending merges that it has read before, and later ones', async () => {
  const world = await newWorld(6);
  const handlers = createHandlers(testDeps(world.table), LIMITS);
  const merge = (alert_ids: string[]) => world.merge({ alert_ids, incident_id: world.three }, { handlers });
  await world.mergePending(world.one);
  await merge(world.alerts.slice(0, 1));
  await world.mergePending(world.two, { alert_ids: world.alerts.slice(3) });
  await merge(world.alerts.slice(2, 4));
  expect(await world.expectTrue()).toHaveLength(4);
});

it('the log head tells which merge was finished once, and until the next commit', async () => {
  const world = await newWorld(4);
  await world.mergePending(world.one);
  const [{ entry }] = (await world.entries()) as [EntryWithMoves];
  const { incident_id, sequence } = entry;
  const completed = async () => (await stored(world.table, keys.logHead(world.tenant.account))).completed;
  await world.finish();
  expect(await completed()).toEqual({ incident_id, sequence });
  for (const alert_ids of [world.alerts.slice(0, 1), world.alerts]) {
    await world.merge({ alert_ids, incident_id: world.two }, { through: intercepted(world.table, dyingAfterCommit()) });
    expect(await completed()).toBeUndefined();
    // Another call that finishes the first merge comes late.
    await removePending(world.table, world.tenant.account, entry);
    expect(await completed()).toBeUndefined();
  }
});

describe('a transaction that moves alerts', () => {
  /** Their rows have one partition key. */
  const ALERTS = Array.from({ length: 8 }, (_, index) => `${index}`.padStart(23, 'a').concat('0'));

  async function newShard() {
    const world = await newWorld(0);
    const { account } = world.tenant;
    const row = (id: string) => ({ ...keys.alert(account, id), alert_id: id, title: 't', incident_id: world.start });
    await putAll(world.table, ALERTS.map(row));
    const pending = await world.mergePending(world.one, { alert_ids: ALERTS });
    /** `refuse` throws for a transaction. */
    const finish = (refuse: (alertIds: string[]) => void) => {
      const through = intercepted(world.table, (reply, request) => {
        if (isTransaction(request))
          refuse(request.input.TransactItems.map(({ Update }: { Update: { Key: { sk: string } } }) => Update.Key.sk));
        return reply();
      });
      return finishMerge(through, account, pending);
    };
    return { world, finish };
  }

  it('and is throttled is sent again in halves', async () => {
    const { world, finish } = await newShard();
    const sizes: number[] = [];
    await finish((ids) => {
      sizes.push(ids.length);
      if (ids.length > 2) throw cancelled([{ Code: 'None' }, { Code: 'ThrottlingError' }]);
    });
    expect(sizes).toEqual([8, 4, 2, 2, 4, 2, 2]);
    expect(new Set(await world.tenant.placements(ALERTS))).toEqual(new Set([world.one]));
  });

  it('and has a row that DynamoDB refuses moves all others, names that one, and delays no other merge', async () => {
    const { world, finish } = await newShard();
    const [full = '', ...others] = ALERTS;
    const finishing = finish((ids) => {
      if (ids.includes(full)) throw cancelled([{ Code: 'ValidationError' }]);
    });
    await expect(finishing).rejects.toEqual(new AlertsTooLargeError([full]));
    expect(new Set(await world.tenant.placements(others))).toEqual(new Set([world.one]));
    expect(await world.tenant.pending()).toHaveLength(1);
    await world.merge({ alert_ids: others.slice(0, 1), incident_id: world.two });
    expect(await world.tenant.placements(others.slice(0, 1))).toEqual([world.two]);
  });
});
