/** Random commands to the service, and a model of their expected results. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { collections, keys } from '../../lib/dynamodb/keys.ts';
import { deleteWorkItem, type ListedOperation, mergeAlerts } from '../../lib/http/operations.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { restoreWorkItem } from '../../packages/admin/incidents/restore-work-item.ts';
import { undoMerge } from '../../packages/admin/incidents/undo-merge.ts';
import { expectEnvelope } from './answers.ts';
import { FAULTS, type Fault } from './fault-proxy.ts';
import type { NumberedPlan } from './faulty-table.ts';
import { type Account, newAccount } from './incidents.ts';
import { type Answer, type EventOptions, stored, storedUnder, testDeps } from './service.ts';

/** A call that takes longer may have no time left to find out whether its merge is committed. */
const IN_TIME_MS = 1_800;
/** So small that a merge of four alerts, or of three with a new title, is too large for one transaction. */
export const TRANSACTION_ITEMS = 6;
/** How many alerts each group has. The alerts of a group are always merged together. */
const GROUPS: readonly number[] = [1, 1, 1, 1, 1, 1];
const INCIDENTS = 3;

interface Entry {
  incident: number;
  kind: 'merge' | 'merge_undone';
  /** The incident from which each group was moved; for an undo, the incident to which it was moved. */
  moves: Map<number, number | undefined>;
  sequence: number;
}

/** What is expected to be stored, without the service's own attributes. */
interface Model {
  /** The incident of each group of alerts, and the entry that moved it there. */
  groups: { incident: number | undefined; by: Entry | undefined }[];
  titles: string[];
  feeds: Entry[][];
  item: { version: number; deletedFrom: number | undefined };
  /** Merges that their callers may repeat. */
  sent: { merge: MergeArguments; key: string; done: boolean }[];
  /** Number of merges so far, which makes their keys distinct. */
  serial: number;
}

interface MergeArguments {
  groups: number[];
  into: number;
  title: string | undefined;
}

/** The service, and what tests know of its account. */
export interface Real {
  tenant: Account;
  groups: string[][];
  incidents: string[];
  /** The table without faults. */
  table: Table;
  /** The client of the operator's commands. */
  through: Table;
  plan(plan?: NumberedPlan): void;
  call(operation: ListedOperation, options: EventOptions): Promise<Answer>;
  /** Does what finish-merges does with these entries. */
  finish(feed: Record<string, unknown>[]): Promise<void>;
}

type Command = fc.AsyncCommand<Model, Real>;

/** A new account in the table, and the model of it. */
export async function newModelAndTenant(table: Table, sizes = GROUPS) {
  const tenant = await newAccount(table);
  const incidents = await Promise.all(Array.from({ length: INCIDENTS }, () => tenant.incident({ title: 'first' })));
  const groups = await Promise.all(sizes.map((size) => tenant.alerts(size)));
  const item = { kind: 'work_item', account_id: tenant.account, work_item_id: 'w', version: 1, title: 't' };
  await loadData(table, 'item', [JSON.stringify(item)], { nowMs: 1_000 });
  const model: Model = {
    groups: groups.map(() => ({ incident: undefined, by: undefined })),
    titles: incidents.map(() => 'first'),
    feeds: incidents.map(() => []),
    item: { version: 1, deletedFrom: undefined },
    sent: [],
    serial: 0,
  };
  return { model, tenant, groups, incidents };
}

let aheadMs = 0;
/** The clock of each command is some seconds ahead of the one before, as if an operator or a caller sent them one by one. */
export function depsOn(through: Table) {
  aheadMs += 5_000;
  return testDeps(through, { now: () => Date.now() + aheadMs });
}

const entriesOf = ({ tenant, incidents }: Pick<Real, 'tenant' | 'incidents'>, incident: number) =>
  tenant.feed(incidents[incident] as string);

/** Finishes all merges, in any order, since the queue keeps none. */
async function finishAllMerges({ tenant, incidents, finish }: Real): Promise<void> {
  await finish((await Promise.all(incidents.map((id) => tenant.feed(id)))).flat());
}

/** A merge as a caller sends it, with a key so that it can be retried. */
function callMerge(real: Real, { groups, into, title }: MergeArguments, key: string): Promise<Answer> {
  const alert_ids = groups.flatMap((group) => real.groups[group] ?? []);
  const body = { alert_ids, incident_id: real.incidents[into], ...(title && { title }) };
  return real.call(mergeAlerts, { appKey: real.tenant.appKey, body, headers: { 'Idempotency-Key': key } });
}

/** Adds an entry to a feed of the model. The stored feed must have it already. */
async function newEntry(model: Model, real: Real, entry: Omit<Entry, 'sequence'>): Promise<Entry> {
  const feed = model.feeds[entry.incident] as Entry[];
  const entries = await entriesOf(real, entry.incident);
  expect(entries).toHaveLength(feed.length + 1);
  const added = { ...entry, sequence: entries.at(-1).sequence };
  feed.push(added);
  return added;
}

/** What a merge does to the model, once it is known to be committed. */
async function applyMerge(model: Model, real: Real, { groups, into, title }: MergeArguments): Promise<void> {
  const moving = groups.filter((group) => model.groups[group]?.incident !== into);
  const moves = new Map(moving.map((group) => [group, model.groups[group]?.incident]));
  const entry = await newEntry(model, real, { incident: into, kind: 'merge', moves });
  for (const group of groups) model.groups[group] = { incident: into, by: entry };
  if (title) model.titles[into] = title;
}

/** A command that fast-check runs where `check` holds, and shows by this text. */
const command = (text: string, run: Command['run'], check: Command['check'] = () => true): Command => ({
  check,
  run,
  toString: () => text,
});

/** @param interruption a fault at the `nth` call of the merge to DynamoDB */
const merging = (merge: MergeArguments, interruption?: { nth: number; fault: Fault }) =>
  command(
    `merge ${JSON.stringify(merge)}${interruption ? ` with ${interruption.fault} at call ${interruption.nth}` : ''}`,
    async (model, real) => {
      model.serial += 1;
      const key = `k${model.serial}`;
      const before = model.feeds[merge.into]?.length ?? 0;
      real.plan(({ number }) => (number === interruption?.nth ? interruption.fault : undefined));
      const beganMs = Date.now();
      const answer = await callMerge(real, merge, key);
      const isInTime = Date.now() - beganMs < IN_TIME_MS;
      real.plan();
      const done = (await entriesOf(real, merge.into)).length > before;
      if (!interruption) expectEnvelope(answer, 200);
      // The answer must be true. A function that is killed gives none.
      if (answer.status === 200 || (isInTime && !interruption?.fault.startsWith('kill')))
        expect(done, answer.text).toBe(answer.status === 200);
      if (done) await applyMerge(model, real, merge);
      model.sent.push({ merge, key, done });
    },
  );

const retrying = command(
  'repeat the last merge',
  async (model, real) => {
    const last = model.sent.pop();
    if (!last) return;
    expectEnvelope(await callMerge(real, last.merge, last.key), 200);
    if (!last.done) await applyMerge(model, real, last.merge);
  },
  ({ sent }) => sent.length > 0,
);

const undoing = (index: number, killedAt: number | undefined) =>
  command(
    `undo merge ${index}${killedAt === undefined ? '' : `, killed at call ${killedAt}`}`,
    async (model, real) => {
      const merges = model.feeds.flat().filter(({ kind }) => kind === 'merge');
      const entry = merges[index % merges.length] as Entry;
      const { account } = real.tenant;
      const incidentId = real.incidents[entry.incident] as string;
      const request = { account, incidentId, sequence: entry.sequence, by: 'model', requestId: 'r' };
      const undo = () => undoMerge(depsOn(real.through), request, { transactionItems: TRANSACTION_ITEMS });
      real.plan(({ number }) => (number === killedAt ? 'kill' : undefined));
      await undo().catch((error) => {
        if (killedAt === undefined) throw error;
      });
      real.plan();
      await undo(); // the operator repeats it: it completes, or finds nothing to do
      const moves = new Map<number, number | undefined>();
      for (const [group, from] of entry.moves) {
        const current = model.groups[group];
        // An alert that a later entry has moved stays. An imported alert moves back if it is in the incident of the merge.
        if (current?.incident === entry.incident && (current.by === undefined || current.by === entry))
          moves.set(group, from);
      }
      if (moves.size === 0) return;
      const undoEntry = await newEntry(model, real, { incident: entry.incident, kind: 'merge_undone', moves });
      for (const [group, from] of moves) model.groups[group] = { incident: from, by: undoEntry };
    },
    ({ feeds }) => feeds.flat().some(({ kind }) => kind === 'merge'),
  );

const importing = (group: number, into: number | undefined) =>
  command(`import group ${group} into ${into}`, async (_model, real) => {
    // An import changes titles: it moves no alerts.
    const incident = into !== undefined && { incident_id: real.incidents[into] };
    const alert = { kind: 'alert', account_id: real.tenant.account, title: 'imported', ...incident };
    const lines = (real.groups[group] ?? []).map((alert_id) => JSON.stringify({ ...alert, alert_id }));
    await loadData(real.table, 'alert', lines, { nowMs: 1_000 });
  });

const deleting = (versionOffset: number) =>
  command(`delete with the version changed by ${versionOffset}`, async ({ item }, real) => {
    const version = Math.max(1, item.version + versionOffset);
    const options = { appKey: real.tenant.appKey, body: { work_item_id: 'w', version } };
    const { body } = await real.call(deleteWorkItem, options);
    const refusal = item.deletedFrom === undefined ? 'InvalidParameter' : 'ResourceNotFound';
    const expected = version === (item.deletedFrom ?? item.version) ? undefined : refusal;
    expect(body.error?.code).toBe(expected);
    if (expected !== undefined || item.deletedFrom !== undefined) return;
    Object.assign(item, { deletedFrom: version, version: version + 1 });
  });

const restoring = command(
  'restore',
  async ({ item }, real) => {
    const row = await stored(real.table, keys.workItem(real.tenant.account, 'w'));
    expect(await restoreWorkItem(real.through, real.tenant.account, row)).toBe(true);
    Object.assign(item, { deletedFrom: undefined, version: item.version + 1 });
  },
  ({ item }) => item.deletedFrom !== undefined,
);

/** Finishes all merges, and expects the stored rows to agree with the model. */
export async function compare(model: Model, real: Real): Promise<void> {
  await finishAllMerges(real);
  const { tenant, groups, incidents, table } = real;
  const idOf = (incident: number | undefined) => (incident === undefined ? undefined : incidents[incident]);
  /** Each alert of these groups, with the incident of its group. */
  const byAlert = (byGroup: Iterable<readonly [group: number, incident: number | undefined]>) =>
    [...byGroup].flatMap(([group, incident]) => (groups[group] ?? []).map((id) => [id, idOf(incident)] as const));
  const assignments = byAlert(model.groups.map(({ incident }, group) => [group, incident] as const));
  expect(await tenant.placements(groups.flat())).toEqual(assignments.map(([, incident]) => incident));
  for (const [incident, entries] of model.feeds.entries()) {
    const rows = await entriesOf(real, incident);
    const recorded = rows.map(({ kind, moved }) => {
      const moves = Object.entries(moved as Record<string, string[]>);
      return { kind, moves: new Map(moves.flatMap(([origin, ids]) => ids.map((id) => [id, origin]))) };
    });
    const expected = entries.map(({ kind, moves }) => ({
      kind,
      moves: new Map(byAlert(moves).map(([id, origin]) => [id, origin ?? 'none'])),
    }));
    expect(recorded).toEqual(expected);
    expect(rows.filter((row) => row.pending)).toEqual([]);
    expect((await tenant.incidentRow(incidents[incident] as string)).title).toBe(model.titles[incident]);
  }
  expect(await tenant.pending()).toEqual([]);
  const [item] = await storedUnder(table, collections.workItems(tenant.account));
  expect(Number(item.version)).toBe(model.item.version);
  expect('deleted_at_ms' in item).toBe(model.item.deletedFrom !== undefined);
}

/** Random merges, each of some of `groupCount` groups of alerts. */
const mergesOf = (groupCount: number): fc.Arbitrary<MergeArguments> =>
  fc.record({
    groups: fc.uniqueArray(fc.nat(groupCount - 1), { minLength: 1 }),
    into: fc.nat(INCIDENTS - 1),
    title: fc.option(fc.constantFrom('second', 'third'), { nil: undefined, freq: 3 }),
  });
const interruption = (...faults: Fault[]) =>
  fc.record({ nth: fc.integer({ min: 1, max: 12 }), fault: fc.constantFrom(...faults) });

/** Commands of callers and of finish-merges. @param faults that interrupt merges */
const callsWith = (merges: fc.Arbitrary<MergeArguments>, ...faults: Fault[]) => [
  merges.map((merge) => merging(merge)),
  fc.tuple(merges, interruption(...faults)).map((args) => merging(...args)),
  fc.constant(retrying),
  fc.constant(command('finish-merges', (_model, real) => finishAllMerges(real))),
  fc.constantFrom(-1, 0, 0, 1).map(deleting),
];

/** Commands of callers and of operators. */
export const commands = [
  ...callsWith(mergesOf(GROUPS.length), ...FAULTS),
  fc.tuple(fc.nat(5), fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined })).map((undo) => undoing(...undo)),
  fc
    .tuple(fc.nat(GROUPS.length - 1), fc.option(fc.nat(INCIDENTS - 1), { nil: undefined }))
    .map((line) => importing(...line)),
  fc.constant(restoring),
];
