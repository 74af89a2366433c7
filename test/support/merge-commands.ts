/** Random commands on the service, and a model of what ought to become of them. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { collections, keys } from '../../lib/dynamodb/keys.ts';
import { deleteWorkItem } from '../../lib/http/operations.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { restoreWorkItem } from '../../packages/admin/incidents/restore-work-item.ts';
import { undoMerge } from '../../packages/admin/incidents/undo-merge.ts';
import { expectEnvelope } from './answers.ts';
import type { FaultyTable } from './faulty-table.ts';
import { finishFeed } from './finish.ts';
import { newAccount } from './incidents.ts';
import { type Answer, callAlone, handlersOver, invokeAlone, stored, storedUnder, testDeps } from './service.ts';

const ALERTS = 6;
const INCIDENTS = 3;
/** A merge of three alerts or more is too large for one transaction here. */
export const TRANSACTION_ITEMS = 6;

interface Entry {
  incident: number;
  kind: 'merge' | 'merge_undone';
  /** For each alert that it moved the incident it came from; for an undo the one it went to. */
  moves: Map<number, number | undefined>;
  sequence: number;
}

/** What ought to be stored, without what the service notes for itself. */
interface Model {
  /** The incident of each alert, and the entry that moved it there. */
  alerts: { incident: number | undefined; by: Entry | undefined }[];
  titles: string[];
  feeds: Entry[][];
  item: { version: number; deletedFrom: number | undefined };
  /** Merges that were cut, which their callers may retry. */
  cut: { merge: MergeArguments; key: string; done: boolean }[];
  serial: number;
}

interface MergeArguments {
  alerts: number[];
  into: number;
  title: string | undefined;
}

/** The service, and means to look at it. */
export interface Real {
  tenant: Awaited<ReturnType<typeof newAccount>>;
  alerts: string[];
  incidents: string[];
  faulty: FaultyTable;
  through: Table;
  /** How far the handlers' clock is ahead, in milliseconds. */
  ahead: number;
}

/** Seconds pass between two commands: merges at nearly the same time that share no alert have no order (see `nextSequence`). */
function depsOf(real: Real) {
  real.ahead += 5_000;
  return testDeps(real.through, { now: () => Date.now() + real.ahead });
}

type Command = fc.AsyncCommand<Model, Real>;

/** A new account in the table, and the model of it. */
export async function newModelAndSystem(faulty: FaultyTable): Promise<{ model: Model; real: Real }> {
  faulty.clear();
  const { table } = faulty;
  const tenant = await newAccount(table);
  const incidents = await Promise.all(Array.from({ length: INCIDENTS }, () => tenant.incident({ title: 'first' })));
  const alerts = await tenant.alerts(ALERTS);
  await loadData(table, 'item', [itemLine(tenant.account, 1)], { nowSeconds: 1 });
  faulty.plan();
  return {
    real: { tenant, alerts, incidents, faulty, through: faulty.connect(), ahead: 0 },
    model: {
      alerts: Array.from({ length: ALERTS }, () => ({ incident: undefined, by: undefined })),
      titles: Array.from({ length: INCIDENTS }, () => 'first'),
      feeds: Array.from({ length: INCIDENTS }, () => []),
      item: { version: 1, deletedFrom: undefined },
      cut: [],
      serial: 0,
    },
  };
}

const itemLine = (account_id: number, version: number) =>
  JSON.stringify({ kind: 'work_item', account_id, work_item_id: 'w', version, title: 't' });

export const entriesOf = ({ tenant, incidents }: Real, incident: number) => tenant.feed(incidents[incident] as string);

export async function finish({ tenant, incidents, faulty }: Real, through = faulty.table): Promise<void> {
  // The queue keeps no order.
  const feeds = (await Promise.all(incidents.map((id) => tenant.feed(id)))).flat();
  await finishFeed(through, feeds, { transactionItems: TRANSACTION_ITEMS });
}

/** A merge as a caller sends it, with a key so that it can be retried. */
export async function callMerge(real: Real, { alerts, into, title }: MergeArguments, key: string): Promise<Answer> {
  const { mergeAlerts } = handlersOver(depsOf(real), { transactionItems: TRANSACTION_ITEMS });
  const body = {
    alert_ids: alerts.map((alert) => real.alerts[alert]),
    incident_id: real.incidents[into],
    ...(title && { title }),
  };
  return invokeAlone(mergeAlerts, real.tenant.event(body, { headers: { 'Idempotency-Key': key } }));
}

/** Adds an entry to the model's feed, which the stored feed must have by now. */
async function newEntry(model: Model, real: Real, entry: Omit<Entry, 'sequence'>): Promise<Entry> {
  const feed = model.feeds[entry.incident] as Entry[];
  const entries = await entriesOf(real, entry.incident);
  expect(entries).toHaveLength(feed.length + 1);
  const added = { ...entry, sequence: entries.at(-1).sequence };
  feed.push(added);
  return added;
}

/** What a merge does to the model, once it is known to be committed. */
async function applyMerge(model: Model, real: Real, { alerts, into, title }: MergeArguments): Promise<void> {
  const moving = alerts.filter((alert) => model.alerts[alert]?.incident !== into);
  const moves = new Map(moving.map((alert) => [alert, model.alerts[alert]?.incident]));
  const entry = await newEntry(model, real, { incident: into, kind: 'merge', moves });
  for (const alert of alerts) model.alerts[alert] = { incident: into, by: entry };
  if (title) model.titles[into] = title;
}

/** A command that fast-check runs where `check` holds, and shows by this text. */
const command = (text: string, run: Command['run'], check: Command['check'] = () => true): Command => ({
  check,
  run,
  toString: () => text,
});

const merging = (merge: MergeArguments) =>
  command(`merge ${JSON.stringify(merge)}`, async (model, real) => {
    model.serial += 1;
    expectEnvelope(await callMerge(real, merge, `k${model.serial}`), 200);
    await applyMerge(model, real, merge);
  });

const cuttingMerge = (merge: MergeArguments, nth: number, fault: 'kill' | 'kill-before') =>
  command(`merge ${JSON.stringify(merge)} with ${fault} at call ${nth}`, async (model, real) => {
    model.serial += 1;
    const key = `k${model.serial}`;
    const before = (await entriesOf(real, merge.into)).length;
    real.faulty.plan(({ number }) => (number === nth ? fault : undefined));
    await callMerge(real, merge, key);
    real.faulty.plan();
    const done = (await entriesOf(real, merge.into)).length > before;
    if (done) await applyMerge(model, real, merge);
    model.cut.push({ merge, key, done });
  });

const retrying = command(
  'retry the last merge that was cut',
  async (model, real) => {
    const last = model.cut.pop();
    if (!last) return;
    expectEnvelope(await callMerge(real, last.merge, last.key), 200);
    if (!last.done) await applyMerge(model, real, last.merge);
  },
  ({ cut }) => cut.length > 0,
);

const undoing = (which: number, cutAt: number | undefined) =>
  command(
    `undo merge ${which}${cutAt === undefined ? '' : `, killed at call ${cutAt}`}`,
    async (model, real) => {
      const merges = model.feeds.flat().filter(({ kind }) => kind === 'merge');
      const entry = merges[which % merges.length] as Entry;
      const { account } = real.tenant;
      const incidentId = real.incidents[entry.incident] as string;
      const request = { account, incidentId, sequence: entry.sequence, by: 'model', requestId: 'r' };
      const undo = () => undoMerge(depsOf(real), request, { transactionItems: TRANSACTION_ITEMS });
      real.faulty.plan(({ number }) => (number === cutAt ? 'kill' : undefined));
      await undo().catch((error) => {
        if (cutAt === undefined) throw error;
      });
      real.faulty.plan();
      await undo(); // the operator repeats it: it completes, or finds nothing to do
      const moves = new Map<number, number | undefined>();
      for (const [alert, from] of entry.moves) {
        const place = model.alerts[alert];
        // An alert that another entry moved since stays; one that was imported since goes by its incident.
        if (place?.incident === entry.incident && (place.by === undefined || place.by === entry))
          moves.set(alert, from);
      }
      if (moves.size === 0) return;
      const own = await newEntry(model, real, { incident: entry.incident, kind: 'merge_undone', moves });
      for (const [alert, from] of moves) model.alerts[alert] = { incident: from, by: own };
    },
    ({ feeds }) => feeds.flat().some(({ kind }) => kind === 'merge'),
  );

const importing = (alert: number, into: number | undefined) =>
  command(`import alert ${alert} into ${into}`, async (model, real) => {
    await finish(real); // an import is as the file says: moves that are pending would come after it
    const line = JSON.stringify({
      kind: 'alert',
      account_id: real.tenant.account,
      alert_id: real.alerts[alert],
      title: 'imported',
      ...(into !== undefined && { incident_id: real.incidents[into] }),
    });
    await loadData(real.faulty.table, 'alert', [line], { nowSeconds: 1 });
    model.alerts[alert] = { incident: into, by: undefined };
  });

const deleting = (versionOff: number) =>
  command(`delete at version ${versionOff} off`, async ({ item }, real) => {
    const version = Math.max(1, item.version + versionOff);
    const options = { appKey: real.tenant.appKey, body: { work_item_id: 'w', version } };
    const { body } = await callAlone(handlersOver(depsOf(real)), deleteWorkItem, options);
    const wrong = item.deletedFrom === undefined ? 'InvalidParameter' : 'ResourceNotFound';
    const expected = version === (item.deletedFrom ?? item.version) ? undefined : wrong;
    expect(body.error?.code).toBe(expected);
    if (expected !== undefined || item.deletedFrom !== undefined) return;
    Object.assign(item, { deletedFrom: version, version: version + 1 });
  });

const restoring = command(
  'restore',
  async ({ item }, real) => {
    const row = await stored(real.faulty.table, keys.workItem(real.tenant.account, 'w'));
    expect(await restoreWorkItem(real.through, real.tenant.account, row)).toBe(true);
    Object.assign(item, { deletedFrom: undefined, version: item.version + 1 });
  },
  ({ item }) => item.deletedFrom !== undefined,
);

/** Compares all that is stored with the model, after finish-merges. */
export async function compare(model: Model, real: Real): Promise<void> {
  await finish(real);
  const { tenant, alerts, incidents, faulty } = real;
  const idOf = (incident: number | undefined) => (incident === undefined ? undefined : incidents[incident]);
  expect(await tenant.placements(alerts)).toEqual(model.alerts.map((place) => idOf(place.incident)));
  for (const [incident, entries] of model.feeds.entries()) {
    const rows = await entriesOf(real, incident);
    const recorded = rows.map(({ kind, moved }) => ({
      kind,
      moves: new Map(
        Object.entries(moved as Record<string, string[]>).flatMap(([other, ids]) => ids.map((id) => [id, other])),
      ),
    }));
    const expected = entries.map(({ kind, moves }) => ({
      kind,
      moves: new Map([...moves].map(([alert, other]) => [alerts[alert], idOf(other) ?? 'none'])),
    }));
    expect(recorded).toEqual(expected);
    expect(rows.filter((row) => row.pending)).toEqual([]);
    expect((await tenant.incidentRow(incidents[incident] as string)).title).toBe(model.titles[incident]);
  }
  expect(await tenant.pending()).toEqual([]);
  const [item] = await storedUnder(faulty.table, collections.workItems(tenant.account));
  expect(Number(item.version)).toBe(model.item.version);
  expect('deleted_at_ms' in item).toBe(model.item.deletedFrom !== undefined);
}

const someAlerts = fc.uniqueArray(fc.nat(ALERTS - 1), { minLength: 1, maxLength: ALERTS });
export const mergeArguments = fc.record({
  alerts: someAlerts,
  into: fc.nat(INCIDENTS - 1),
  title: fc.option(fc.constantFrom('second', 'third'), { nil: undefined, freq: 3 }),
});
export const commands = [
  mergeArguments.map(merging),
  fc
    .tuple(mergeArguments, fc.integer({ min: 1, max: 12 }), fc.constantFrom('kill' as const, 'kill-before' as const))
    .map((cut) => cuttingMerge(...cut)),
  fc.constant(retrying),
  fc.tuple(fc.nat(5), fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined })).map((undo) => undoing(...undo)),
  fc.constant(command('finish-merges', (_model, real) => finish(real))),
  fc.tuple(fc.nat(ALERTS - 1), fc.option(fc.nat(INCIDENTS - 1), { nil: undefined })).map((line) => importing(...line)),
  fc.constantFrom(-1, 0, 0, 1).map(deleting),
  fc.constant(restoring),
];
