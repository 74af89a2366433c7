import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { collections, keys } from '../../lib/dynamodb/keys.ts';
import { browseFleet, deleteWorkItem, type ListedOperation, mergeAlerts } from '../../lib/http/operations.ts';
import { type ListedAppKey, listAppKeys, readAccount } from '../../packages/admin/accounts/accounts.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type Fault, type FaultProxy, type Plan, type ProxiedCall, startFaultProxy } from '../support/fault-proxy.ts';
import { finishFeed } from '../support/finish.ts';
import { type Account, newAccount } from '../support/incidents.ts';
import {
  callAlone,
  connectThrough,
  handlersOver,
  NOW,
  newTable,
  PATIENCE,
  put,
  stored,
  storedUnder,
  testDeps,
} from '../support/service.ts';
import { connectAfterStorm } from '../support/storm.ts';

/** Faults after which DynamoDB's caller does not know, or is told wrongly, whether the call was applied. */
const AMBIGUOUS = ['drop', 'error-before', 'error-after', 'conflict'] as const satisfies Fault[];
/** Those of them after which it was applied. */
const APPLIED = ['drop', 'error-after'] as const satisfies Fault[];

const table = await newTable();

/** How a writer reaches the table: a proxy, and a client that goes through it. */
interface Way {
  proxy: FaultProxy;
  through: Table;
}

/** Something that writes. */
interface Prepared {
  /** @returns whether it succeeded: what failed can be retried */
  act(way: Way): Promise<boolean>;
  /** What the service does later on its own. */
  afterwards?(): Promise<void>;
  /** How many times it has had its effect. */
  effects(): Promise<number>;
}

const call =
  (operation: ListedOperation, tenant: Account, body: object) =>
  async ({ through }: Omit<Way, 'proxy'>): Promise<boolean> => {
    const handlers = handlersOver(testDeps(through, { now: () => NOW }));
    return (await callAlone(handlers, operation, { appKey: tenant.appKey, body })).status === 200;
  };

const admin =
  (...args: (string | number)[]) =>
  async ({ proxy }: Way, stdin = ''): Promise<boolean> => {
    const { exitCode } = await adminOf(table, proxy.endpoint)(args.map(String), { stdin });
    return exitCode === 0;
  };

const deletedItem = { work_item_id: 'w', title: 't', version: 2, deleted_at_ms: 5, deleted_by: 'k' };
const feedOf = async (tenant: Account, id: string, kind: string) =>
  (await tenant.feed(id)).filter((row) => row.kind === kind && !row.pending).length;

/** A merge, and what it takes to be done: all alerts there, one entry. */
async function mergeOf(count: number) {
  const tenant = await newAccount(table);
  const to = await tenant.incident();
  const alerts = await tenant.alerts(count);
  const body = { alert_ids: alerts, incident_id: to };
  const moved = async (where: string | undefined) =>
    (await tenant.placements(alerts)).every((incidentId) => incidentId === where);
  return { tenant, to, body, moved };
}
async function preparedMerge(count: number): Promise<Prepared> {
  const { tenant, to, body, moved } = await mergeOf(count);
  return {
    act: call(mergeAlerts, tenant, body),
    afterwards: async () => finishFeed(table, await tenant.feed(to)),
    effects: async () => ((await moved(to)) ? await feedOf(tenant, to, 'merge') : 0),
  };
}
async function preparedUndo(count: number): Promise<Prepared> {
  const { tenant, to, body, moved } = await mergeOf(count);
  await call(mergeAlerts, tenant, body)({ through: table });
  const sequence = (await tenant.feed(to)).find(({ kind }) => kind === 'merge').sequence;
  return {
    act: admin('merge', 'undo', to, sequence, '--account', tenant.account),
    effects: async () => ((await moved(undefined)) ? feedOf(tenant, to, 'merge_undone') : 0),
  };
}
async function issued(tenant: Account): Promise<ListedAppKey[]> {
  const row = await readAccount(table, tenant.account);
  return row ? listAppKeys(table, row) : [];
}

const WRITERS: Record<string, (way: Way) => Promise<Prepared>> = {
  'deleting a work item': async () => {
    const tenant = await newAccount(table);
    await put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', title: 't', version: 1 });
    return {
      act: call(deleteWorkItem, tenant, { work_item_id: 'w', version: 1 }),
      effects: async () => Number((await stored(table, keys.workItem(tenant.account, 'w'))).version) - 1,
    };
  },
  'restoring a work item': async () => {
    const tenant = await newAccount(table);
    await put(table, keys.workItem(tenant.account, 'w'), deletedItem);
    return {
      act: admin('work-item', 'restore', 'w', '--account', tenant.account),
      effects: async () => Number((await stored(table, keys.workItem(tenant.account, 'w'))).version) - 2,
    };
  },
  'merging 3 alerts': () => preparedMerge(3),
  'merging 101 alerts': () => preparedMerge(101),
  'undoing a merge of 3': () => preparedUndo(3),
  'undoing a merge of 101': () => preparedUndo(101),
  'browsing, counted by the limit': async () => {
    const tenant = await newAccount(table);
    return {
      act: call(browseFleet, tenant, {}),
      effects: async () =>
        Number((await stored(table, keys.rateCount(tenant.account, browseFleet.name, NOW / 60_000)))?.total ?? 0),
    };
  },
  'creating an account': async () => {
    const id = Math.floor(Math.random() * 2 ** 40);
    return {
      act: admin('account', 'create', id, '--name', 'New', '--permission', 'monit'),
      effects: async () =>
        (await stored(table, keys.account(id)))?.name === 'New' && (await stored(table, keys.listedAccount(id)))
          ? 1
          : 0,
    };
  },
  'granting a permission': async (way) => {
    const tenant = await newAccount(table);
    await admin('account', 'revoke', tenant.account, 'monit')(way);
    const row = () => stored(table, keys.account(tenant.account));
    const { revision } = await row();
    return {
      act: admin('account', 'grant', tenant.account, 'monit'),
      effects: async () => {
        const after = await row();
        return after.permissions.join() === 'monit' ? Number(after.revision) - Number(revision) : 0;
      },
    };
  },
  'issuing a key': async () => {
    const tenant = await newAccount(table);
    return {
      act: admin('app-key', 'issue', '--account', tenant.account),
      effects: async () => (await issued(tenant)).length,
    };
  },
  'revoking a key': async (way) => {
    const tenant = await newAccount(table);
    await admin('app-key', 'issue', '--account', tenant.account)(way);
    const [key] = await issued(tenant);
    return {
      act: admin('app-key', 'revoke', String(key?.app_key_id), '--account', tenant.account),
      effects: async () => (await issued(tenant)).filter(({ revoked_at }) => revoked_at !== undefined).length,
    };
  },
  'rotating a key': async (way) => {
    const tenant = await newAccount(table);
    await admin('app-key', 'issue', '--account', tenant.account)(way);
    const [key] = await issued(tenant);
    return {
      act: admin('app-key', 'rotate', String(key?.app_key_id), '--account', tenant.account),
      effects: async () => {
        const all = await issued(tenant);
        return all.length === 2 && all.some(({ expires_at }) => expires_at !== undefined) ? 1 : all.length - 1;
      },
    };
  },
  'importing 60 members': async () => {
    const tenant = await newAccount(table);
    const lines = Array.from({ length: 60 }, (_, index) =>
      JSON.stringify({ kind: 'member', account_id: tenant.account, member_id: index + 1, name: 'm' }),
    );
    return {
      act: (way) => admin('import', '-')(way, lines.join('\n')),
      effects: async () => ((await storedUnder(table, collections.members(tenant.account))).length === 60 ? 1 : 0),
    };
  },
};

/** Plans a fault for one wire call. */
const once = (fault: Fault, nth: number): Plan => {
  // Only a write can meet a transaction on its row.
  const applies = ({ action }: ProxiedCall) => fault !== 'conflict' || !isRead(action);
  return (one) => (one.number === nth && applies(one) ? fault : undefined);
};
/** Plans a fault for one wire call, and lets each retry of it by the SDK fail. */
const forGood = (fault: Fault, nth: number): Plan => {
  let lost: string | undefined;
  return ({ number, body }) => {
    if (number === nth) lost = body;
    return body !== lost ? undefined : number === nth ? fault : 'error-before';
  };
};
const isRead = (action: string) => /Get|Query/.test(action);

/** Runs a writer with faults on the wire, and again until it succeeds. */
async function withFaults(prepare: (way: Way) => Promise<Prepared>, way: Way, plan?: Plan) {
  const { proxy } = way;
  proxy.plan();
  const { act, afterwards, effects } = await prepare(way);
  proxy.plan(plan);
  const done = await act(way);
  const actions = proxy.calls.map(({ action }) => action);
  proxy.plan();
  await afterwards?.();
  const had = await effects();
  for (let again = 0; !done && again < 3 && !(await act(way)); again += 1);
  const inTheEnd = await effects();
  return { done, had, inTheEnd, actions };
}

/** The wire calls to try faults at: of a long row of like calls a few. */
const pointsOf = (actions: readonly string[]) =>
  actions
    .map((action, index) => ({ action, nth: index + 1 }))
    .filter(({ nth }) => nth <= 12 || nth > actions.length - 3 || nth % 20 === 0);

const SHORT = process.env.FAULTS === undefined;

/** Writers that are calls of the API. The others are commands, each with a client of its own. */
const OF_THE_API = ['deleting a work item', 'merging 3 alerts', 'merging 101 alerts', 'browsing, counted by the limit'];
/** Writers that are to be repeated when any of their writes fails. */
const RESTARTED = ['undoing a merge of 3', 'undoing a merge of 101', 'importing 60 members'];
/** Writers that leave the same whether they run once or twice. */
const IDEMPOTENT = ['creating an account', 'revoking a key', 'importing 60 members'];
const NEVER = ['no false failure', 'no double effect'] as const;
const ofTheApi = Object.entries(WRITERS).filter(([name]) => OF_THE_API.includes(name));

describe.each([
  { when: '', connect: connectThrough, writers: Object.entries(WRITERS) },
  // In the short form the one with the fewest calls: each that succeeds pays for a later retry, where calls share a quota.
  { when: ' after a storm', connect: connectAfterStorm, writers: SHORT ? ofTheApi.slice(0, 1) : ofTheApi },
])(`what is written$when (SEED=${SEED})`, ({ connect, writers }) => {
  const opened: Way[] = [];
  afterAll(async () => {
    for (const { proxy, through } of opened) {
      through.client.destroy();
      await proxy.close();
    }
  });

  async function open(): Promise<Way> {
    const proxy = await startFaultProxy(dynamodbEndpoint());
    const through = await connect(table, proxy, PATIENCE);
    opened.push({ proxy, through });
    return { proxy, through };
  }

  // Most of their time they wait for time-outs.
  it.concurrent.each(
    writers.map(([name, prepare]) => ({
      name,
      prepare,
      never: IDEMPOTENT.includes(name) ? NEVER[0] : NEVER.join(' and '),
    })),
  )(
    '$name is $never when a reply is lost or wrong',
    async ({ name, prepare }) => {
      const random = seededRandom(SEED);
      const some = <Case>(all: readonly Case[], count: number) => (SHORT ? sample(all, count, random) : all);
      const way = await open();
      const { actions, ...clean } = await withFaults(prepare, way);
      expect(clean).toEqual({ done: true, had: 1, inTheEnd: 1 });
      const points = pointsOf(actions);
      const single = points.flatMap(({ nth }) => AMBIGUOUS.map((fault) => ({ nth, fault, plan: once })));
      // Batches hold imported rows and the ends of audit entries: rows that are whole in themselves.
      const writes = points.filter(({ action }) => !isRead(action) && action !== 'BatchWriteItem');
      const lasting = writes.flatMap(({ nth }) => APPLIED.map((fault) => ({ nth, fault, plan: forGood })));
      const wrong: string[] = [];
      for (const { nth, fault, plan } of [...some(single, 2), ...some(RESTARTED.includes(name) ? [] : lasting, 1)]) {
        const { done, had, inTheEnd } = await withFaults(prepare, way, plan(fault, nth));
        // A call succeeds; a command reports truly whether it did.
        const truthful = OF_THE_API.includes(name) ? done && had === 1 : had === Number(done);
        if (!truthful || inTheEnd !== 1)
          wrong.push(
            `${fault} ${plan.name} at call ${nth}, ${actions[nth - 1]}: ${JSON.stringify({ done, had, inTheEnd })}`,
          );
      }
      expect(wrong).toEqual([]);
    },
    300_000,
  );

  describe('whose time is over', () => {
    afterEach(() => {
      vi.useRealTimers();
      vi.restoreAllMocks();
    });

    it('is a success, though the reply to its write never comes', async () => {
      const way = await open();
      const { proxy } = way;
      // A page is read after its count, and a large merge moves after its commit: those have more to do in that time.
      const writers = ofTheApi.filter(([name]) => ['deleting a work item', 'merging 3 alerts'].includes(name));
      const prepared = await Promise.all(writers.map(([, prepare]) => prepare(way)));
      const effects = () => Promise.all(prepared.map(({ effects }) => effects()));
      // The test says when the time of the calls is over, and no time-out of an attempt, nor of the look after it, comes before.
      const deadline = new AbortController();
      vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal);
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      proxy.plan(({ action }) => (isRead(action) ? undefined : 'hang-after'));
      const answers = Promise.all(prepared.map(({ act }) => act(way)));
      await expect.poll(effects).toEqual(prepared.map(() => 1));
      const writes = proxy.calls.filter(({ action }) => !isRead(action)).length;
      deadline.abort(new DOMException('the time is over', 'TimeoutError'));
      expect(await answers).toEqual(prepared.map(() => true));
      proxy.plan();
      expect(await effects()).toEqual(prepared.map(() => 1));
      expect(writes).toBe(prepared.length);
    });
  });
});
