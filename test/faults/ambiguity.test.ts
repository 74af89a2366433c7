import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { collections, keys } from '../../lib/dynamodb/keys.ts';
import { browseFleet, deleteWorkItem, type ListedOperation, mergeAlerts } from '../../lib/http/operations.ts';
import { type ListedAppKey, listAppKeys, readAccount } from '../../packages/admin/accounts/accounts.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { newAccountId } from '../support/accounts.ts';
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
const countEntries = async (tenant: Account, id: string, kind: string) =>
  (await tenant.feed(id)).filter((row) => row.kind === kind && !row.pending).length;

/** A merge, and what it takes to be done: all alerts there, one entry. */
async function mergeOf(tenant: Account, count: number) {
  const to = await tenant.incident();
  const alerts = await tenant.alerts(count);
  const moved = async (where: string | undefined) =>
    (await tenant.placements(alerts)).every((incidentId) => incidentId === where);
  return { to, act: call(mergeAlerts, tenant, { alert_ids: alerts, incident_id: to }), moved };
}
const merging = (count: number) => async (tenant: Account) => {
  const { to, act, moved } = await mergeOf(tenant, count);
  return {
    act,
    afterwards: async () => finishFeed(table, await tenant.feed(to)),
    effects: async () => ((await moved(to)) ? await countEntries(tenant, to, 'merge') : 0),
  };
};
const undoing = (count: number) => async (tenant: Account) => {
  const { to, act, moved } = await mergeOf(tenant, count);
  await act({ through: table });
  const sequence = (await tenant.feed(to)).find(({ kind }) => kind === 'merge').sequence;
  return {
    act: admin('merge', 'undo', to, sequence, '--account', tenant.account),
    effects: async () => ((await moved(undefined)) ? countEntries(tenant, to, 'merge_undone') : 0),
  };
};

const versionOf = async ({ account }: Account) => Number((await stored(table, keys.workItem(account, 'w'))).version);
async function issuedTo({ account }: Account): Promise<ListedAppKey[]> {
  const row = await readAccount(table, account);
  return row ? listAppKeys(table, row) : [];
}
/** Issues a key. @returns its id */
async function issue(tenant: Account, way: Way): Promise<string> {
  await admin('app-key', 'issue', '--account', tenant.account)(way);
  return String((await issuedTo(tenant))[0]?.app_key_id);
}

/** Each prepares something that writes, for a new account. */
const WRITERS: Record<string, (tenant: Account, way: Way) => Promise<Prepared>> = {
  async 'deleting a work item'(tenant) {
    await put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', title: 't', version: 1 });
    return {
      act: call(deleteWorkItem, tenant, { work_item_id: 'w', version: 1 }),
      effects: async () => (await versionOf(tenant)) - 1,
    };
  },
  async 'restoring a work item'(tenant) {
    await put(table, keys.workItem(tenant.account, 'w'), deletedItem);
    return {
      act: admin('work-item', 'restore', 'w', '--account', tenant.account),
      effects: async () => (await versionOf(tenant)) - 2,
    };
  },
  'merging 3 alerts': merging(3),
  'merging 101 alerts': merging(101),
  'undoing a merge of 3': undoing(3),
  'undoing a merge of 101': undoing(101),
  async 'browsing, counted by the limit'(tenant) {
    const key = keys.rateCount(tenant.account, browseFleet.name, NOW / 60_000);
    return {
      act: call(browseFleet, tenant, {}),
      effects: async () => Number((await stored(table, key))?.total ?? 0),
    };
  },
  async 'creating an account'() {
    const id = newAccountId();
    return {
      act: admin('account', 'create', id, '--name', 'New', '--permission', 'monit'),
      async effects() {
        const [row, listed] = [await stored(table, keys.account(id)), await stored(table, keys.listedAccount(id))];
        return Number(row?.name === 'New' && listed !== undefined);
      },
    };
  },
  async 'granting a permission'(tenant, way) {
    await admin('account', 'revoke', tenant.account, 'monit')(way);
    const row = () => stored(table, keys.account(tenant.account));
    const { revision } = await row();
    return {
      act: admin('account', 'grant', tenant.account, 'monit'),
      async effects() {
        const after = await row();
        return after.permissions.join() === 'monit' ? Number(after.revision) - Number(revision) : 0;
      },
    };
  },
  async 'issuing a key'(tenant) {
    return {
      act: admin('app-key', 'issue', '--account', tenant.account),
      effects: async () => (await issuedTo(tenant)).length,
    };
  },
  async 'revoking a key'(tenant, way) {
    return {
      act: admin('app-key', 'revoke', await issue(tenant, way), '--account', tenant.account),
      effects: async () => (await issuedTo(tenant)).filter(({ revoked_at }) => revoked_at !== undefined).length,
    };
  },
  async 'rotating a key'(tenant, way) {
    return {
      act: admin('app-key', 'rotate', await issue(tenant, way), '--account', tenant.account),
      async effects() {
        const all = await issuedTo(tenant);
        return all.length === 2 && all.some(({ expires_at }) => expires_at !== undefined) ? 1 : all.length - 1;
      },
    };
  },
  async 'importing 60 members'({ account }) {
    const member = { kind: 'member', account_id: account, name: 'm' };
    const lines = Array.from({ length: 60 }, (_, index) => JSON.stringify({ ...member, member_id: index + 1 }));
    return {
      act: (way) => admin('import', '-')(way, lines.join('\n')),
      effects: async () => Number((await storedUnder(table, collections.members(account))).length === 60),
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
    if (body !== lost) return undefined;
    return number === nth ? fault : 'error-before';
  };
};
const isRead = (action: string) => /Get|Query/.test(action);

/** Runs a writer with faults on the wire, and again until it succeeds. */
async function withFaults(prepare: (typeof WRITERS)[string], way: Way, plan?: Plan) {
  const { proxy } = way;
  proxy.plan();
  const { act, afterwards, effects } = await prepare(await newAccount(table), way);
  proxy.plan(plan);
  const done = await act(way);
  const actions = proxy.calls.map(({ action }) => action);
  proxy.plan();
  await afterwards?.();
  const effectsAtFirst = await effects();
  for (let again = 0; !done && again < 3 && !(await act(way)); again += 1);
  const effectsInTheEnd = await effects();
  return { done, effectsAtFirst, effectsInTheEnd, actions };
}

/** The wire calls to try faults at: only a few of a long series of like calls. */
const pointsOf = (actions: readonly string[]) =>
  actions
    .map((action, index) => ({ action, nth: index + 1 }))
    .filter(({ nth }) => nth <= 12 || nth > actions.length - 3 || nth % 20 === 0);

const SHORT = process.env.FAULTS === undefined;

/** Writers that are calls of the API. The others are commands, each with a client of its own. */
const OF_THE_API = ['deleting a work item', 'merging 3 alerts', 'merging 101 alerts', 'browsing, counted by the limit'];
/** Writers that have to be repeated when any of their writes fails. */
const RESTARTED = ['undoing a merge of 3', 'undoing a merge of 101', 'importing 60 members'];
const ofTheApi = Object.entries(WRITERS).filter(([name]) => OF_THE_API.includes(name));

describe.each([
  { when: '', connect: connectThrough, writers: Object.entries(WRITERS) },
  // The short form tries only the writer with the fewest calls: those that succeed refill the retry quota that the storm has used up.
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

  // Concurrently, since most of the time they wait for time-outs.
  it.concurrent.each(writers)(
    '%s has its effect once, and reports truly whether it had, when a reply is lost or wrong',
    async (name, prepare) => {
      const random = seededRandom(SEED);
      const some = <Case>(all: readonly Case[], count: number) => (SHORT ? sample(all, count, random) : all);
      const way = await open();
      const { actions, ...clean } = await withFaults(prepare, way);
      expect(clean).toEqual({ done: true, effectsAtFirst: 1, effectsInTheEnd: 1 });
      const points = pointsOf(actions);
      const single = points.flatMap(({ nth }) => AMBIGUOUS.map((fault) => ({ nth, fault, plan: once })));
      // Batches hold imported rows and the ends of audit entries: rows that are whole in themselves.
      const writes = points.filter(({ action }) => !isRead(action) && action !== 'BatchWriteItem');
      const lasting = writes.flatMap(({ nth }) => APPLIED.map((fault) => ({ nth, fault, plan: forGood })));
      const wrong: string[] = [];
      for (const { nth, fault, plan } of [...some(single, 2), ...some(RESTARTED.includes(name) ? [] : lasting, 1)]) {
        const { done, effectsAtFirst, effectsInTheEnd } = await withFaults(prepare, way, plan(fault, nth));
        // A call succeeds; a command reports truly whether it did.
        const truthful = OF_THE_API.includes(name) ? done && effectsAtFirst === 1 : effectsAtFirst === Number(done);
        if (!truthful || effectsInTheEnd !== 1)
          wrong.push(
            `${fault} ${plan.name} at call ${nth}, ${actions[nth - 1]}: ${JSON.stringify({ done, effectsAtFirst, effectsInTheEnd })}`,
          );
      }
      expect(wrong).toEqual([]);
    },
    300_000,
  );

  describe('by a call whose time is over', () => {
    afterEach(() => {
      vi.useRealTimers();
      vi.restoreAllMocks();
    });

    it('is a success, though the reply to its write never comes', async () => {
      const way = await open();
      const { proxy } = way;
      // A page is read after its count, and a large merge moves after its commit: those have more to do in that time.
      const writers = ofTheApi.filter(([name]) => ['deleting a work item', 'merging 3 alerts'].includes(name));
      const prepared = await Promise.all(writers.map(async ([, prepare]) => prepare(await newAccount(table), way)));
      const effects = () => Promise.all(prepared.map(({ effects }) => effects()));
      // The test says when the time of the calls is over, and no time-out of an attempt, nor of the read that verifies it, comes before.
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
