/** Calls and commands that write, when DynamoDB's replies are lost or wrong: each takes effect once, and reports truly whether it did. */
import { afterAll, describe, expect, it } from 'vitest';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../lib/table/client.ts';
import { collections, keys } from '../../lib/table/keys.ts';
import { type ListedAppKey, listAppKeys, readAccount } from '../../packages/admin/accounts/accounts.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { newAccountId } from '../support/accounts.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type Fault, type FaultProxy, type Plan, type ProxiedCall, startFaultProxy } from '../support/fault-proxy.ts';
import { type Account, finishFeed, newAccount } from '../support/incidents.ts';
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
import { connectAfterStorm } from './storm.ts';

/** Faults after which DynamoDB's caller does not know, or is told wrongly, whether the call was applied. */
const AMBIGUOUS = ['drop', 'error-before', 'error-after', 'conflict'] as const satisfies Fault[];
/** The ambiguous faults after which the call was applied. */
const APPLIED = ['drop', 'error-after'] as const satisfies Fault[];

const table = await newTable();

/** How a writer reaches the table: through the proxy, by its endpoint or by a client that is connected to it. */
interface Connection {
  proxy: FaultProxy;
  through: Table;
}

interface Writer {
  /** Runs the call or command. @returns whether it reports success */
  write(connection: Connection): Promise<boolean>;
  /** Does what the service does later, without a further call. */
  afterwards?(): Promise<void>;
  /** How many times the table shows its effect. */
  countEffects(): Promise<number>;
}

const call =
  (operation: ListedOperation, { appKey }: Account, body: object) =>
  async ({ through }: Pick<Connection, 'through'>): Promise<boolean> => {
    const handlers = handlersOver(testDeps(through, { now: () => NOW }));
    return (await callAlone(handlers, operation, { appKey, body })).status === 200;
  };

const admin =
  (...args: (string | number)[]) =>
  async ({ proxy }: Connection, stdin = ''): Promise<boolean> => {
    const { exitCode } = await adminOf(table, proxy.endpoint)(args.map(String), { stdin });
    return exitCode === 0;
  };

const countEntries = async (tenant: Account, id: string, kind: string) =>
  (await tenant.feed(id)).filter((row) => row.kind === kind && !row.pending).length;

async function mergeOf(tenant: Account, count: number) {
  const to = await tenant.incident();
  const alerts = await tenant.alerts(count);
  const areAllIn = async (incident: string | undefined) =>
    (await tenant.placements(alerts)).every((incidentId) => incidentId === incident);
  return { to, write: call(mergeAlerts, tenant, { alert_ids: alerts, incident_id: to }), areAllIn };
}
const merging = (count: number) => async (tenant: Account) => {
  const { to, write, areAllIn } = await mergeOf(tenant, count);
  return {
    write,
    afterwards: async () => finishFeed(table, await tenant.feed(to)),
    countEffects: async () => ((await areAllIn(to)) ? countEntries(tenant, to, 'merge') : 0),
  };
};
const undoing = (count: number) => async (tenant: Account) => {
  const { to, write, areAllIn } = await mergeOf(tenant, count);
  await write({ through: table });
  const { sequence } = (await tenant.feed(to)).find(({ kind }) => kind === 'merge');
  return {
    write: admin('merge', 'undo', to, sequence, '--account', tenant.account),
    countEffects: async () => ((await areAllIn(undefined)) ? countEntries(tenant, to, 'merge_undone') : 0),
  };
};

const workItem = (tenant: Account, row: object, write: Writer['write'], version: number) => async () => {
  const key = keys.workItem(tenant.account, 'w');
  await put(table, key, { work_item_id: 'w', title: 't', version, ...row });
  return { write, countEffects: async () => Number((await stored(table, key)).version) - version };
};

async function keysOf({ account }: Account): Promise<ListedAppKey[]> {
  const row = await readAccount(table, account);
  return row ? listAppKeys(table, row) : [];
}
/** Issues a key. @returns its id */
async function issueKey(tenant: Account, connection: Connection): Promise<string> {
  await admin('app-key', 'issue', '--account', tenant.account)(connection);
  return String((await keysOf(tenant))[0]?.app_key_id);
}

/** Functions that prepare a writer for a new account, by what it does. */
const WRITERS: Record<string, (tenant: Account, connection: Connection) => Promise<Writer>> = {
  'deleting a work item': (tenant) =>
    workItem(tenant, {}, call(deleteWorkItem, tenant, { work_item_id: 'w', version: 1 }), 1)(),
  'restoring a work item': (tenant) =>
    workItem(
      tenant,
      { deleted_at_ms: 5, deleted_by: 'k' },
      admin('work-item', 'restore', 'w', '--account', tenant.account),
      2,
    )(),
  'merging 3 alerts': merging(3),
  'merging 101 alerts': merging(101),
  'undoing a merge of 3': undoing(3),
  'undoing a merge of 101': undoing(101),
  async 'browsing, counted by the limit'(tenant) {
    const key = keys.rateCount(tenant.account, browseFleet.name, NOW / 60_000);
    return {
      write: call(browseFleet, tenant, {}),
      countEffects: async () => Number((await stored(table, key))?.total ?? 0),
    };
  },
  async 'creating an account'() {
    const id = newAccountId();
    return {
      write: admin('account', 'create', id, '--name', 'New', '--permission', 'monit'),
      async countEffects() {
        const [row, listed] = [await stored(table, keys.account(id)), await stored(table, keys.listedAccount(id))];
        return Number(row?.name === 'New' && listed !== undefined);
      },
    };
  },
  async 'granting a permission'(tenant, connection) {
    await admin('account', 'revoke', tenant.account, 'monit')(connection);
    const { revision: before } = await stored(table, keys.account(tenant.account));
    return {
      write: admin('account', 'grant', tenant.account, 'monit'),
      async countEffects() {
        const { permissions, revision } = await stored(table, keys.account(tenant.account));
        return permissions.join() === 'monit' ? Number(revision) - Number(before) : 0;
      },
    };
  },
  async 'issuing a key'(tenant) {
    return {
      write: admin('app-key', 'issue', '--account', tenant.account),
      countEffects: async () => (await keysOf(tenant)).length,
    };
  },
  async 'revoking a key'(tenant, connection) {
    return {
      write: admin('app-key', 'revoke', await issueKey(tenant, connection), '--account', tenant.account),
      countEffects: async () => (await keysOf(tenant)).filter(({ revoked_at }) => revoked_at !== undefined).length,
    };
  },
  async 'rotating a key'(tenant, connection) {
    return {
      write: admin('app-key', 'rotate', await issueKey(tenant, connection), '--account', tenant.account),
      async countEffects() {
        const appKeys = await keysOf(tenant);
        return appKeys.length === 2 && appKeys.some(({ expires_at }) => expires_at !== undefined)
          ? 1
          : appKeys.length - 1;
      },
    };
  },
  async 'importing 60 members'({ account }) {
    const member = { kind: 'member', account_id: account, name: 'm' };
    const lines = Array.from({ length: 60 }, (_, index) => JSON.stringify({ ...member, member_id: index + 1 }));
    return {
      write: (connection) => admin('import', '-')(connection, lines.join('\n')),
      countEffects: async () => Number((await storedUnder(table, collections.members(account))).length === 60),
    };
  },
};

/** Writers that are calls of the API. The others are commands, each with a client of its own. */
const API_WRITER_NAMES = [
  'deleting a work item',
  'merging 3 alerts',
  'merging 101 alerts',
  'browsing, counted by the limit',
];
/** Writers that an operator repeats when any of their writes fails. */
const REPEATED = ['undoing a merge of 3', 'undoing a merge of 101', 'importing 60 members'];

const isRead = (action: string) => /Get|Query/.test(action);
/** Plans a fault for one wire call. */
const once = (fault: Fault, nth: number): Plan => {
  // Only a write can meet a transaction on its row.
  const applies = ({ action }: ProxiedCall) => fault !== 'conflict' || !isRead(action);
  return (wireCall) => (wireCall.number === nth && applies(wireCall) ? fault : undefined);
};
/** Plans a fault for one wire call, and lets every retry of it by the SDK fail. */
const withFailingRetries = (fault: Fault, nth: number): Plan => {
  let faultyBody: string | undefined;
  return ({ number, body }) => {
    if (number === nth) faultyBody = body;
    if (body !== faultyBody) return undefined;
    return number === nth ? fault : 'error-before';
  };
};

/** Runs a writer with faults on the wire, and again until it succeeds. */
async function runWriter(prepare: (typeof WRITERS)[string], connection: Connection, plan?: Plan) {
  const { proxy } = connection;
  proxy.plan();
  const { write, afterwards, countEffects } = await prepare(await newAccount(table), connection);
  proxy.plan(plan);
  const succeeded = await write(connection);
  const actions = proxy.calls.map(({ action }) => action);
  proxy.plan();
  await afterwards?.();
  const effectsAtFirst = await countEffects();
  for (let tries = 0; !succeeded && tries < 3 && !(await write(connection)); tries += 1);
  return { succeeded, effectsAtFirst, effectsInTheEnd: await countEffects(), actions };
}

/** The wire calls at which faults are tried: only some of a long series of similar calls. */
const pointsOf = (actions: readonly string[]) =>
  actions
    .map((action, index) => ({ action, nth: index + 1 }))
    .filter(({ nth }) => nth <= 12 || nth > actions.length - 3 || nth % 20 === 0);

const SHORT = process.env.FAULTS === undefined;
const apiWriters = Object.entries(WRITERS).filter(([name]) => API_WRITER_NAMES.includes(name));

describe.each([
  { when: '', connect: connectThrough, writers: Object.entries(WRITERS) },
  // The short form tries only the writer with the fewest calls: each successful call refills the retry quota that the storm has used up.
  { when: ' after a storm', connect: connectAfterStorm, writers: SHORT ? apiWriters.slice(0, 1) : apiWriters },
])(`what is written$when (SEED=${SEED})`, ({ connect, writers }) => {
  const connections: Connection[] = [];
  afterAll(async () => {
    for (const { proxy, through } of connections) {
      through.client.destroy();
      await proxy.close();
    }
  });

  // Concurrently, since most of the time they wait for time-outs.
  it.concurrent.each(writers)(
    '%s takes effect once, and reports truly whether it did, when a reply is lost or wrong',
    async (name, prepare) => {
      const random = seededRandom(SEED);
      const chosenFrom = <Case>(all: readonly Case[], count: number) => (SHORT ? sample(all, count, random) : all);
      const proxy = await startFaultProxy(dynamodbEndpoint());
      const connection = { proxy, through: await connect(table, proxy, PATIENCE) };
      connections.push(connection);
      const { actions, ...clean } = await runWriter(prepare, connection);
      expect(clean).toEqual({ succeeded: true, effectsAtFirst: 1, effectsInTheEnd: 1 });
      const points = pointsOf(actions);
      const single = points.flatMap(({ nth }) => AMBIGUOUS.map((fault) => ({ nth, fault, plan: once })));
      // BatchWriteItem writes imported rows and the ends of audit entries, each of which is complete in itself.
      const writes = points.filter(({ action }) => !isRead(action) && action !== 'BatchWriteItem');
      const lasting = writes.flatMap(({ nth }) => APPLIED.map((fault) => ({ nth, fault, plan: withFailingRetries })));
      const wrong: string[] = [];
      for (const { nth, fault, plan } of [
        ...chosenFrom(single, 2),
        ...chosenFrom(REPEATED.includes(name) ? [] : lasting, 1),
      ]) {
        const { actions: _actions, ...outcome } = await runWriter(prepare, connection, plan(fault, nth));
        const { succeeded, effectsAtFirst, effectsInTheEnd } = outcome;
        // A call must succeed; a command must report truly whether it took effect.
        const isTrue = effectsAtFirst === Number(succeeded) && (succeeded || !API_WRITER_NAMES.includes(name));
        if (!isTrue || effectsInTheEnd !== 1)
          wrong.push(`${fault} ${plan.name} at call ${nth}, ${actions[nth - 1]}: ${JSON.stringify(outcome)}`);
      }
      expect(wrong).toEqual([]);
    },
    300_000,
  );
});
