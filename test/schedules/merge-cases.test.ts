/** Cases of the merge protocol that random schedules meet too seldom: each is an order of calls that a wrong protocol does not survive. */
import { randomUUID } from 'node:crypto';
import { ProvisionedThroughputExceededException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AlertsTooLargeError } from '../../lib/operations/merge-alerts/alerts.ts';
import { type EntryWithMoves, inOrder, readHistory } from '../../lib/operations/merge-alerts/entry.ts';
import { finishMerge } from '../../lib/operations/merge-alerts/finish.ts';
import { createMergeAlerts } from '../../lib/operations/merge-alerts/merge.ts';
import { listPendingEntryIds } from '../../lib/operations/merge-alerts/merge-order.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { checkMerges } from '../../packages/admin/check/check-merges.ts';
import { readMergeRows } from '../../packages/admin/check/read-rows.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { undoMerge } from '../../packages/admin/incidents/undo-merge.ts';
import { newAccount } from '../support/incidents.ts';
import { putAll, testDeps } from '../support/service.ts';
import { connectDouble, type Request } from '../table-double/client.ts';
import { TableDouble } from '../table-double/table-double.ts';

/** So few rows that a merge of more than two alerts is large, and that moves alerts one or two at a time. */
const LIMITS = { transactionItems: 5 };
const HOUR_MS = 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0); // no waits
});

type MergeBody = {
  alert_ids: string[];
  incident_id: string;
  title?: string;
};

/** An account with alerts in a first incident, and three others. A process has its own connection, which `around` may disturb. */
async function newWorld(alertCount: number) {
  const double = new TableDouble();
  const apply = (request: Request) => double.apply(request);
  const connect = (around: (request: Request) => unknown = apply): Table => connectDouble(async (it) => around(it));
  const table = connect();
  const tenant = await newAccount(table);
  const incidents: string[] = [];
  for (let index = 0; index < 4; index += 1) incidents.push(await tenant.incident({ title: 'start' }));
  const [start = '', ...others] = incidents;
  const alerts = await tenant.alerts(alertCount, start);
  const depsOf = (through: Table, aheadMs = 0) => testDeps(through, { now: () => Date.now() + aheadMs });

  const merge = (
    body: MergeBody,
    {
      through = table,
      aheadMs = 0,
      limits = LIMITS,
      key,
    }: { through?: Table; aheadMs?: number; limits?: object; key?: string } = {},
  ) =>
    createMergeAlerts(
      depsOf(through, aheadMs),
      limits,
    )({
      body,
      caller: { accountId: tenant.account, appKeyId: 'k', permissions: [], cursorSecret: new Uint8Array() },
      requestId: randomUUID(),
      arrivedMs: 0,
      idempotencyKey: key,
      signal: AbortSignal.timeout(60_000),
    });
  const undo = (sequence: number, { incidentId = others[0] ?? '', through = table, aheadMs = 0 } = {}) => {
    const request = { account: tenant.account, incidentId, sequence, by: 'operator', requestId: 'r' };
    return undoMerge(depsOf(through, aheadMs), request, LIMITS);
  };
  const entries = async (): Promise<EntryWithMoves[]> =>
    inOrder((await Promise.all(incidents.map((id) => readHistory(table, tenant.account, id)))).flat());
  const finish = async (through = table) => {
    for (const { entryId } of await listPendingEntryIds(table, tenant.account))
      await finishMerge(through, tenant.account, entryId, LIMITS.transactionItems);
  };
  /** Commits a large merge whose process dies before its first move. @returns its sequence */
  const mergePending = async (
    body: MergeBody,
    { aheadMs = 0, beforeCommit = async (): Promise<unknown> => undefined } = {},
  ) => {
    let isDead = false;
    const through = connect(async (request) => {
      if (isDead) throw lost();
      isDead = request.name === 'TransactWriteCommand';
      if (isDead) await beforeCommit();
      return apply(request);
    });
    await merge(body, { through, aheadMs });
    return (await entries()).at(-1)?.entry.sequence ?? 0;
  };
  /** The incident of each alert now. */
  const placements = () => tenant.placements(alerts);
  return {
    apply,
    connect,
    table,
    tenant,
    incidents,
    start,
    others,
    alerts,
    merge,
    undo,
    entries,
    finish,
    mergePending,
    placements,
  };
}
type World = Awaited<ReturnType<typeof newWorld>>;

const lost = () => Object.assign(new Error('no reply'), { name: 'TimeoutError' });

/** Runs an action before a process's first request of this kind. */
function onceBefore(world: World, name: Request['name'], action: () => Promise<unknown>): Table {
  let isDone = false;
  return world.connect(async (request) => {
    if (request.name === name && !isDone) {
      isDone = true;
      await action();
    }
    return world.apply(request);
  });
}

/**
 * Finishes what is pending, then replays the entries in the order of their sequences: each names the incidents that its alerts were in, an undo
 * takes exactly the alerts that no later entry took, and the rows are as after the last entry.
 */
async function expectTrue(world: World): Promise<EntryWithMoves[]> {
  const { table, tenant, incidents, start, alerts } = world;
  await world.finish();
  const entries = await world.entries();
  const incidentOf = new Map<string, string | undefined>(alerts.map((id) => [id, start]));
  const latest = new Map<string, number>();
  const origins = new Map<number, Map<string, string | undefined>>();
  const titles = new Map(incidents.map((id) => [id, 'start']));
  for (const { entry, moves } of entries) {
    const { kind, sequence, incident_id, undone_sequence = 0, old_title, new_title } = entry;
    if (kind === 'merge_undone') {
      const undone = [...(origins.get(undone_sequence) ?? [])].filter(([id]) => latest.get(id) === undone_sequence);
      expect(new Map(moves.map(({ alertId, to }) => [alertId, to])), 'what an undo takes').toEqual(new Map(undone));
    } else for (const { to } of moves) expect(to).toBe(incident_id);
    for (const { alertId, from, to } of moves) {
      expect(`${alertId} from ${from}`).toBe(`${alertId} from ${incidentOf.get(alertId)}`);
      incidentOf.set(alertId, to);
      latest.set(alertId, sequence);
    }
    origins.set(
      sequence,
      new Map(moves.filter(({ from, to }) => from !== to).map(({ alertId, from }) => [alertId, from])),
    );
    if (new_title === undefined) continue;
    expect(old_title).toBe(titles.get(incident_id));
    titles.set(incident_id, new_title);
  }
  expect(await world.placements()).toEqual(alerts.map((id) => incidentOf.get(id)));
  for (const [id, title] of titles) expect((await tenant.incidentRow(id)).title).toBe(title);
  expect(await tenant.pending()).toEqual([]);
  expect(checkMerges(await readMergeRows(table, tenant.account))).toEqual([]);
  return entries;
}

describe('a call that is repeated with its Idempotency-Key', () => {
  it.each(['now', 'later', 'between'] as const)(
    'is committed once, if the first attempt is small, gets no reply and is carried out %s, and the second is large',
    async (when) => {
      const world = await newWorld(4);
      const body = { alert_ids: world.alerts, incident_id: world.others[0] ?? '' };
      let sent: Request | undefined;
      const through = world.connect((request) => {
        if (sent || request.name === 'TransactWriteCommand') {
          sent ??= request;
          if (when === 'now') world.apply(sent);
          throw lost();
        }
        return world.apply(request);
      });
      const small = { through, key: 'k', limits: { transactionItems: 100 } };
      await expect(world.merge(body, small)).rejects.toThrow('no reply');
      const applyLate = async () => {
        if (sent) world.apply(sent);
      };
      const second = when === 'between' ? onceBefore(world, 'TransactWriteCommand', applyLate) : world.table;
      await world.merge(body, { through: second, key: 'k' });
      if (when === 'later') await expect(applyLate()).rejects.toThrow('cancelled');
      expect(await expectTrue(world)).toHaveLength(1);
    },
  );
});

it('a large merge whose commit seems to conflict, and is applied, is committed once, though time goes on', async () => {
  const world = await newWorld(4);
  const [one = ''] = world.others;
  let transactions = 0;
  const through = world.connect(async (request) => {
    if (request.name !== 'TransactWriteCommand') return world.apply(request);
    transactions += 1;
    if (transactions > 1) return world.apply(request);
    world.apply(request);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 1_000);
    const CancellationReasons = [{ Code: 'TransactionConflict' }];
    throw new TransactionCanceledException({ message: 'conflict', $metadata: {}, CancellationReasons });
  });
  await world.merge({ alert_ids: world.alerts, incident_id: one }, { through });
  expect(await expectTrue(world)).toHaveLength(1);
});

describe('an undo of a merge that is still pending', () => {
  it('and a small merge that began before it, and is committed after it', async () => {
    const world = await newWorld(4);
    const [one = '', two = ''] = world.others;
    const sequence = await world.mergePending({ alert_ids: world.alerts, incident_id: one });
    const through = onceBefore(world, 'TransactWriteCommand', () => world.undo(sequence));
    await world.merge({ alert_ids: world.alerts.slice(0, 1), incident_id: two }, { through });
    expect(await expectTrue(world)).toHaveLength(3);
    expect(await world.placements()).toEqual([two, world.start, world.start, world.start]);
  });

  it('and a small merge that is committed before it', async () => {
    const world = await newWorld(4);
    const [one = '', two = ''] = world.others;
    const sequence = await world.mergePending({ alert_ids: world.alerts, incident_id: one });
    const merge = () => world.merge({ alert_ids: world.alerts.slice(0, 1), incident_id: two });
    const through = onceBefore(world, 'TransactWriteCommand', merge);
    expect((await world.undo(sequence, { through, aheadMs: HOUR_MS })).left).toEqual(world.alerts.slice(0, 1));
    await expectTrue(world);
    expect(await world.placements()).toEqual([two, world.start, world.start, world.start]);
  });

  it('moves an alert back to where another merge put it between the reads and the commit of the pending one', async () => {
    const world = await newWorld(4);
    const [one = '', two = ''] = world.others;
    const beforeCommit = () => world.merge({ alert_ids: world.alerts.slice(0, 1), incident_id: two });
    // Its clock is ahead, so that it is committed at the first attempt.
    const options = { aheadMs: HOUR_MS, beforeCommit };
    await world.undo(await world.mergePending({ alert_ids: world.alerts, incident_id: one }, options));
    await expectTrue(world);
    expect(await world.placements()).toEqual([two, world.start, world.start, world.start]);
  });

  it('is not changed by a move of the merge that is carried out late', async () => {
    const world = await newWorld(4);
    const sequence = await world.mergePending({ alert_ids: world.alerts, incident_id: world.others[0] ?? '' });
    const late: Request[] = [];
    const through = world.connect((request) => {
      if (request.name !== 'TransactWriteCommand') return world.apply(request);
      late.push(request);
      throw Object.assign(new Error('the process dies'), { name: 'Dead' });
    });
    await expect(world.finish(through)).rejects.toThrow('dies');
    await world.finish();
    await world.undo(sequence);
    expect(late.length).toBeGreaterThan(0);
    for (const request of late) expect(() => world.apply(request)).toThrow('cancelled');
    await expectTrue(world);
    expect(new Set(await world.placements())).toEqual(new Set([world.start]));
  });
});

describe('an alert that is imported', () => {
  const importOf = (world: World, alert: string, incident_id: string) => () => {
    const line = { kind: 'alert', account_id: world.tenant.account, alert_id: alert, title: 't', incident_id };
    return loadData(world.table, 'test', [JSON.stringify(line)], { nowMs: Date.now() });
  };

  it.each([['BatchGetCommand'], ['TransactWriteCommand']] as const)(
    'before the %s of a large merge goes with the merge',
    async (name) => {
      const world = await newWorld(4);
      const [one = '', two = ''] = world.others;
      const through = onceBefore(world, name, importOf(world, world.alerts[0] ?? '', two));
      await world.merge({ alert_ids: world.alerts, incident_id: one }, { through });
      await world.finish();
      expect(new Set(await world.placements())).toEqual(new Set([one]));
      expect(checkMerges(await readMergeRows(world.table, world.tenant.account))).toEqual([]);
    },
  );

  it('after the commit of a large merge goes with the merge, too', async () => {
    const world = await newWorld(4);
    const [one = '', two = ''] = world.others;
    await world.mergePending({ alert_ids: world.alerts, incident_id: one });
    const through = onceBefore(world, 'TransactWriteCommand', importOf(world, world.alerts[0] ?? '', two));
    await world.finish(through);
    expect(new Set(await world.placements())).toEqual(new Set([one]));
    expect(checkMerges(await readMergeRows(world.table, world.tenant.account))).toEqual([]);
  });
});

it('a large merge whose query does not show an entry between its reads and its commit yet reads the log again', async () => {
  const world = await newWorld(4);
  const [one = '', two = ''] = world.others;
  let [isMerged, isHidden] = [false, false];
  const through = world.connect(async (request) => {
    if (request.name === 'TransactWriteCommand' && !isMerged) {
      isMerged = true;
      await world.merge({ alert_ids: world.alerts.slice(0, 1), incident_id: two });
    }
    const reply = world.apply(request);
    if (request.name !== 'QueryCommand' || isHidden) return reply;
    isHidden = true;
    return { Items: [] };
  });
  await world.merge({ alert_ids: world.alerts, incident_id: one }, { through, aheadMs: HOUR_MS });
  expect(isHidden).toBe(true);
  expect(await expectTrue(world)).toHaveLength(2);
});

it('a small merge notices a large one that is committed between its reads and its commit, and stays pending', async () => {
  const world = await newWorld(4);
  const [one = '', two = ''] = world.others;
  const mergeAll = () => world.mergePending({ alert_ids: world.alerts, incident_id: one });
  const through = onceBefore(world, 'TransactWriteCommand', mergeAll);
  await world.merge({ alert_ids: world.alerts.slice(0, 1), incident_id: two }, { through, aheadMs: HOUR_MS });
  expect(await expectTrue(world)).toHaveLength(2);
  expect(await world.placements()).toEqual([two, one, one, one]);
});

it('a large merge from a clock an hour ahead is before the small ones that follow it', async () => {
  const world = await newWorld(4);
  const [one = '', two = ''] = world.others;
  await world.mergePending({ alert_ids: world.alerts, incident_id: one }, { aheadMs: HOUR_MS });
  for (const alert of world.alerts.slice(0, 2)) await world.merge({ alert_ids: [alert], incident_id: two });
  expect(await expectTrue(world)).toHaveLength(3);
  expect(await world.placements()).toEqual([two, two, one, one]);
});

it('of three pending merges of the same alerts the last one wins, though their rows are written in the reverse order', async () => {
  const world = await newWorld(4);
  for (const incident_id of world.others) await world.mergePending({ alert_ids: world.alerts, incident_id });
  const pending = await listPendingEntryIds(world.table, world.tenant.account);
  for (const { entryId } of pending.toReversed()) await finishMerge(world.table, world.tenant.account, entryId);
  expect(pending).toHaveLength(3);
  await expectTrue(world);
  expect(new Set(await world.placements())).toEqual(new Set([world.others[2]]));
});

describe('a transaction that moves alerts', () => {
  const cancelled = (CancellationReasons: { Code: string }[]) =>
    new TransactionCanceledException({ message: 'cancelled', $metadata: {}, CancellationReasons });
  const SHARD_OF_ONE = Array.from({ length: 8 }, (_, index) => `${index}`.padStart(23, 'a').concat('0'));

  async function newShard() {
    const world = await newWorld(0);
    const { account } = world.tenant;
    const row = (id: string) => ({ ...keys.alert(account, id), alert_id: id, title: 't', incident_id: world.start });
    await putAll(world.table, SHARD_OF_ONE.map(row));
    await world.mergePending({ alert_ids: SHARD_OF_ONE, incident_id: world.others[0] ?? '' });
    const [pending] = await listPendingEntryIds(world.table, account);
    const sizes: number[] = [];
    /** Finishes the merge; `refuse` throws for a transaction. */
    const finish = (refuse: (alertIds: string[], name: Request['name']) => void) => {
      const through = world.connect((request) => {
        if (request.name !== 'TransactWriteCommand') return world.apply(request);
        const ids = request.input.TransactItems.map(({ Update }: { Update: { Key: { sk: string } } }) => Update.Key.sk);
        sizes.push(ids.length);
        refuse(ids, request.name);
        return world.apply(request);
      });
      return finishMerge(through, account, pending?.entryId ?? { incidentId: '', sequence: 0 });
    };
    return { world, sizes, finish };
  }

  it.each([
    ['as a whole', () => new ProvisionedThroughputExceededException({ message: 'throttled', $metadata: {} })],
    ['for one of its rows', () => cancelled([{ Code: 'None' }, { Code: 'ThrottlingError' }])],
  ])('and is throttled %s is sent again in halves', async (_how, error) => {
    const { world, sizes, finish } = await newShard();
    await finish((ids) => {
      if (ids.length > 2) throw error();
    });
    expect(sizes).toEqual([8, 4, 2, 2, 4, 2, 2]);
    expect(new Set(await world.tenant.placements(SHARD_OF_ONE))).toEqual(new Set([world.others[0]]));
  });

  it('and has a row that DynamoDB refuses moves all others, and names that one', async () => {
    const { world, finish } = await newShard();
    const [full = '', ...others] = SHARD_OF_ONE;
    const finishing = finish((ids) => {
      if (ids.includes(full)) throw cancelled([{ Code: 'ValidationError' }]);
    });
    await expect(finishing).rejects.toEqual(new AlertsTooLargeError([full]));
    expect(new Set(await world.tenant.placements(others))).toEqual(new Set([world.others[0]]));
    expect(await world.tenant.pending()).toHaveLength(1);
    // Nothing else waits for it.
    await world.merge({ alert_ids: others.slice(0, 1), incident_id: world.others[1] ?? '' });
    expect(await world.tenant.placements(others.slice(0, 1))).toEqual([world.others[1]]);
  });
});
