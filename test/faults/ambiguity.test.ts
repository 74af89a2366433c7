/**
 * Calls and commands that write, when DynamoDB's replies are lost or wrong on the wire: each takes effect once, and reports truly whether it did.
 * `test/schedules` has the same for all calls, with faults outside the SDK's retries.
 */
import { expect, it } from 'vitest';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import { keys, partitions } from '../../lib/table/keys.ts';
import { listAppKeys, readAccount } from '../../packages/admin/accounts/accounts.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type Fault, type Plan, startFaultProxy } from '../support/fault-proxy.ts';
import { type Account, newAccount } from '../support/incidents.ts';
import {
  callAlone,
  connectThrough,
  createHandlers,
  newTable,
  PATIENCE,
  put,
  stored,
  storedUnder,
  testDeps,
} from '../support/service.ts';

const table = await newTable();

/** Runs a call or a command through an endpoint. @returns whether it reports success */
type Run = (endpoint: string) => Promise<boolean>;

const call =
  (operation: ListedOperation, { appKey }: Account, body: object): Run =>
  async (endpoint) => {
    const through = connectThrough(table, { endpoint }, PATIENCE);
    const { status } = await callAlone(createHandlers(testDeps(through)), operation, { appKey, body });
    through.client.destroy();
    return status === 200;
  };
const admin =
  (args: string, stdin = ''): Run =>
  async (endpoint) =>
    (await adminOf(table, endpoint)(args, { stdin })).exitCode === 0;

const storeWorkItem = (tenant: Account, row: object) =>
  put(table, keys.workItem(tenant.account, 'w'), { work_item_id: 'w', title: 't', ...row });
const versionOf = async (tenant: Account) => Number((await stored(table, keys.workItem(tenant.account, 'w'))).version);
const countEntries = async (tenant: Account, incident: string, kind: string) =>
  (await tenant.history(incident)).filter((entry) => entry.kind === kind).length;
const MEMBERS = 5;

interface Writer {
  run: Run;
  /** How many times the table shows its effect. */
  countEffects: () => Promise<number>;
}

/** What prepares a writer for a new account, by what it does. */
const WRITERS: Record<string, (tenant: Account) => Promise<Writer>> = {
  async 'deleting a work item'(tenant) {
    await storeWorkItem(tenant, { version: 1 });
    const run = call(deleteWorkItem, tenant, { work_item_id: 'w', version: 1 });
    return { run, countEffects: async () => (await versionOf(tenant)) - 1 };
  },
  async 'restoring a work item'(tenant) {
    await storeWorkItem(tenant, { version: 2, deleted_at_ms: 5, deleted_by: 'k' });
    const run = admin(`work-item restore w --account ${tenant.account}`);
    return { run, countEffects: async () => (await versionOf(tenant)) - 2 };
  },
  async 'merging alerts'(tenant) {
    const [to, alerts] = [await tenant.incident(), await tenant.alerts(3)];
    const run = call(mergeAlerts, tenant, { alert_ids: alerts, incident_id: to });
    return { run, countEffects: () => countEntries(tenant, to, 'merge') };
  },
  async 'undoing a merge'(tenant) {
    const [to, alerts] = [await tenant.incident(), await tenant.alerts(3)];
    await call(mergeAlerts, tenant, { alert_ids: alerts, incident_id: to })(dynamodbEndpoint());
    const [{ sequence }] = await tenant.history(to);
    const run = admin(`merge undo ${to} ${sequence} --account ${tenant.account}`);
    return { run, countEffects: () => countEntries(tenant, to, 'merge_undone') };
  },
  async 'issuing a key'(tenant) {
    const run = admin(`app-key issue --account ${tenant.account}`);
    return {
      run,
      async countEffects() {
        const row = await readAccount(table, tenant.account);
        return row ? (await listAppKeys(table, row)).length : 0;
      },
    };
  },
  async 'importing members'({ account }) {
    const member = { kind: 'member', account_id: account, name: 'm' };
    const lines = Array.from({ length: MEMBERS }, (_, index) => JSON.stringify({ ...member, member_id: index + 1 }));
    const run = admin('import -', lines.join('\n'));
    const isWhole = async () => (await storedUnder(table, partitions.member(account))).length === MEMBERS;
    return { run, countEffects: async () => Number(await isWhole()) };
  },
};
/** Calls must succeed whatever reply is lost. */
const CALLS = ['deleting a work item', 'merging alerts'];
/** Writers that an operator repeats when any of their writes fails. */
const REPEATED = ['undoing a merge', 'importing members'];

/** A fault of the n-th call on the wire. @param lasting whether all its retries by the SDK fail */
function planOf(fault: Fault, nth: number, lasting: boolean): Plan {
  let faultyBody: string | undefined;
  return (wireCall) => {
    if (wireCall.number !== nth) return lasting && wireCall.body === faultyBody ? 'error-before' : undefined;
    faultyBody = wireCall.body;
    return fault;
  };
}

// Concurrently, since most of the time they wait for time-outs.
it.concurrent.for(Object.entries(WRITERS))(
  '%s takes effect once, and reports truly whether it did, when a reply is lost or wrong',
  { timeout: 300_000 },
  async ([name, prepare], { onTestFinished }) => {
    const proxy = await startFaultProxy(dynamodbEndpoint());
    onTestFinished(proxy.close);
    /** Runs a writer with faults on the wire, and again until it succeeds. */
    async function outcomeOf(plan?: Plan) {
      const { run, countEffects } = await prepare(await newAccount(table));
      proxy.plan(plan);
      const succeeded = await run(proxy.endpoint);
      const actions = proxy.calls.map(({ action }) => action);
      proxy.plan();
      const effectsAtFirst = await countEffects();
      for (let tries = 0; !succeeded && tries < 3 && !(await run(proxy.endpoint)); tries += 1);
      return { actions, succeeded, effectsAtFirst, effectsInTheEnd: await countEffects() };
    }
    const { actions, ...clean } = await outcomeOf();
    expect(clean).toEqual({ succeeded: true, effectsAtFirst: 1, effectsInTheEnd: 1 });
    const faults = actions.flatMap((action, index) => {
      const isRead = /Get|Query/.test(action);
      // BatchWriteItem writes imported rows and the ends of audit entries, each of which is complete in itself.
      const isRepeated = REPEATED.includes(name) || action === 'BatchWriteItem';
      const all: [fault: Fault, lasting: boolean][] = [
        ['drop', false],
        ['error-before', false],
      ];
      // Only a write can meet a transaction on its row.
      if (!isRead) all.push(['conflict', false]);
      if (!isRead && !isRepeated) all.push(['drop', true]);
      return all.map(([fault, lasting]) => ({ fault, lasting, action, nth: index + 1 }));
    });
    for (const { fault, lasting, action, nth } of faults) {
      const { succeeded, effectsAtFirst, effectsInTheEnd } = await outcomeOf(planOf(fault, nth, lasting));
      const what = `${fault}${lasting ? ' for ever' : ''} at call ${nth}, ${action}`;
      expect(effectsAtFirst, what).toBe(Number(succeeded));
      expect(effectsInTheEnd, what).toBe(1);
      if (CALLS.includes(name)) expect(succeeded, what).toBe(true);
    }
  },
);
