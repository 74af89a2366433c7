import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putAccount } from '../../lib/accounts/accounts.ts';
import { deleteWorkItem } from '../../lib/api/operations.ts';
import { loadData } from '../../lib/data/load.ts';
import { restoreWorkItem } from '../../lib/incidents/restore-work-item.ts';
import { undoMerge } from '../../lib/incidents/undo-merge.ts';
import { connectTable, type Table } from '../../lib/table/client.ts';
import { collections, keys } from '../../lib/table/keys.ts';
import { SEED } from '../support/chance.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { finishFeed } from '../support/finish.ts';
import { newAccount } from '../support/incidents.ts';
import {
  connectAgain,
  eventFor,
  handlersOver,
  invokeAlone,
  newTable,
  stored,
  storedUnder,
  testDeps,
} from '../support/service.ts';
import { connectAfterStorm } from '../support/storm.ts';

/** Sequences of commands in all, further ones after a storm, and races. */
const RUNS: Readonly<Record<string, { sequences: number; afterStorm: number; races: number }>> = {
  quick: { sequences: 32, afterStorm: 0, races: 12 },
  ci: { sequences: 1_200, afterStorm: 240, races: 300 },
  full: { sequences: 10_000, afterStorm: 10_000, races: 2_000 },
};
const { sequences, afterStorm, races } = RUNS[process.env.FAULTS ?? 'quick'] ?? {
  sequences: 0,
  afterStorm: 0,
  races: 0,
};
const LANES = 4;
const ALERTS = 6;
const INCIDENTS = 3;
/** A merge of three alerts or more is too large for one transaction here. */
const TRANSACTION_ITEMS = 6;

let table: Table;
let proxies: FaultProxy[];
beforeAll(async () => {
  table = await newTable();
  proxies = await Promise.all(Array.from({ length: LANES }, () => startFaultProxy(dynamodbEndpoint())));
});
afterAll(() => Promise.all(proxies.map((proxy) => proxy.close())));

interface Entry {
  incident: number;
  kind: 'merge' | 'merge_undone';
  /** Alerts that it moved, by where they came from, or went. */
  moves: Map<number, number | undefined>;
  sequence: number;
}

/** What ought to be: no merge order, no marks, no sequences. */
interface Model {
  /** Where each alert is, and the entry that put it there. */
  alerts: { at: number | undefined; by: Entry | undefined }[];
  titles: string[];
  feeds: Entry[][];
  item: { version: number; deletedFrom: number | undefined };
  /** Merges that were cut: their callers may say them again. */
  cut: { merge: MergeArguments; key: string; done: boolean }[];
  serial: number;
}

interface MergeArguments {
  alerts: number[];
  into: number;
  title: string | undefined;
}

/** The service, and means to look at it. */
interface Real {
  tenant: Awaited<ReturnType<typeof newAccount>>;
  alerts: string[];
  incidents: string[];
  proxy: FaultProxy;
  through: Table;
}

type Command = fc.AsyncCommand<Model, Real>;

async function newReal(proxy: FaultProxy, stormed?: Table): Promise<{ model: Model; real: Real }> {
  const tenant = await newAccount(table);
  await putAccount(table, { account_id: tenant.account, name: 'Acme', permissions: [] });
  const incidents = await Promise.all(Array.from({ length: INCIDENTS }, () => tenant.incident({ title: 'first' })));
  const alerts = await tenant.alerts(ALERTS);
  await loadData(table, 'item', [itemLine(tenant.account, 1)], { nowSeconds: 1 });
  proxy.plan();
  const through = stormed ?? connectTable({ name: table.name, endpoint: proxy.endpoint });
  return {
    real: { tenant, alerts, incidents, proxy, through },
    model: {
      alerts: Array.from({ length: ALERTS }, () => ({ at: undefined, by: undefined })),
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

const entriesOf = ({ tenant, incidents }: Real, incident: number) => tenant.feed(incidents[incident] as string);

async function finish({ tenant, incidents }: Pick<Real, 'tenant' | 'incidents'>, through = table): Promise<void> {
  // The queue keeps no order.
  const feeds = (await Promise.all(incidents.map((id) => tenant.feed(id)))).flat();
  await finishFeed(through, feeds, { transactionItems: TRANSACTION_ITEMS });
}

/** A merge as a caller sends it, with a key so that it can be said again. */
async function callMerge(real: Real, { alerts, into, title }: MergeArguments, key: string): Promise<number> {
  const { mergeAlerts } = handlersOver(testDeps(real.through), { transactionItems: TRANSACTION_ITEMS });
  const body = {
    alert_ids: alerts.map((alert) => real.alerts[alert]),
    incident_id: real.incidents[into],
    ...(title && { title }),
  };
  return (await invokeAlone(mergeAlerts, real.tenant.event(body, { headers: { 'Idempotency-Key': key } }))).status;
}

/** What a merge does to the model, once it is known to be committed. */
async function applyMerge(model: Model, real: Real, { alerts, into, title }: MergeArguments): Promise<void> {
  const entries = await entriesOf(real, into);
  expect(entries).toHaveLength((model.feeds[into]?.length ?? 0) + 1);
  const entry: Entry = { incident: into, kind: 'merge', moves: new Map(), sequence: entries.at(-1).sequence };
  for (const alert of alerts) {
    const place = model.alerts[alert];
    if (!place || place.at === into) continue;
    entry.moves.set(alert, place.at);
    Object.assign(place, { at: into, by: entry });
  }
  if (title) model.titles[into] = title;
  model.feeds[into]?.push(entry);
}

class Merge implements Command {
  readonly merge: MergeArguments;
  constructor(merge: MergeArguments) {
    this.merge = merge;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    model.serial += 1;
    expect(await callMerge(real, this.merge, `k${model.serial}`)).toBe(200);
    await applyMerge(model, real, this.merge);
  }
  toString = () => `merge ${JSON.stringify(this.merge)}`;
}

class CutMerge implements Command {
  readonly merge: MergeArguments;
  readonly at: number;
  readonly fault: 'kill' | 'kill-before';
  constructor(merge: MergeArguments, at: number, fault: 'kill' | 'kill-before') {
    this.merge = merge;
    this.at = at;
    this.fault = fault;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    model.serial += 1;
    const key = `k${model.serial}`;
    const before = (await entriesOf(real, this.merge.into)).length;
    real.proxy.plan(({ number }) => (number === this.at ? this.fault : undefined));
    await callMerge(real, this.merge, key);
    real.proxy.plan();
    const done = (await entriesOf(real, this.merge.into)).length > before;
    if (done) await applyMerge(model, real, this.merge);
    model.cut.push({ merge: this.merge, key, done });
  }
  toString = () => `merge ${JSON.stringify(this.merge)} with ${this.fault} at ${this.at}`;
}

class Retry implements Command {
  check = ({ cut }: Readonly<Model>) => cut.length > 0;
  async run(model: Model, real: Real): Promise<void> {
    const last = model.cut.pop();
    if (!last) return;
    expect(await callMerge(real, last.merge, last.key)).toBe(200);
    if (!last.done) await applyMerge(model, real, last.merge);
  }
  toString = () => 'retry the last merge that was cut';
}

class Undo implements Command {
  readonly which: number;
  readonly cutAt: number | undefined;
  constructor(which: number, cutAt: number | undefined) {
    this.which = which;
    this.cutAt = cutAt;
  }
  check = ({ feeds }: Readonly<Model>) => feeds.flat().some(({ kind }) => kind === 'merge');
  async run(model: Model, real: Real): Promise<void> {
    const merges = model.feeds.flat().filter(({ kind }) => kind === 'merge');
    const entry = merges[this.which % merges.length] as Entry;
    const { account } = real.tenant;
    const incidentId = real.incidents[entry.incident] as string;
    const request = { account, incidentId, sequence: entry.sequence, by: 'model', requestId: 'r' };
    const undo = () => undoMerge(testDeps(real.through), request, { transactionItems: TRANSACTION_ITEMS });
    real.proxy.plan(({ number }) => (number === this.cutAt ? 'kill' : undefined));
    await undo().catch((error) => {
      if (this.cutAt === undefined) throw error;
    });
    real.proxy.plan();
    await undo(); // the operator says it again: it completes, or finds nothing to do
    const back = new Map<number, number | undefined>();
    for (const [alert, from] of entry.moves) {
      const place = model.alerts[alert];
      // Moved since, by whatever: it stays. What was imported since is judged by its place.
      if (!place || place.at !== entry.incident || (place.by !== undefined && place.by !== entry)) continue;
      back.set(alert, from);
    }
    if (back.size === 0) return;
    const entries = await entriesOf(real, entry.incident);
    expect(entries).toHaveLength((model.feeds[entry.incident]?.length ?? 0) + 1);
    const own: Entry = {
      incident: entry.incident,
      kind: 'merge_undone',
      moves: back,
      sequence: entries.at(-1).sequence,
    };
    for (const [alert, from] of back) Object.assign(model.alerts[alert] as object, { at: from, by: own });
    model.feeds[entry.incident]?.push(own);
  }
  toString = () => `undo merge ${this.which}${this.cutAt === undefined ? '' : `, killed at ${this.cutAt}`}`;
}

class Finish implements Command {
  check = () => true;
  run = (_model: Model, real: Real) => finish(real);
  toString = () => 'finish-merges';
}

class Import implements Command {
  readonly alert: number;
  readonly into: number | undefined;
  constructor(alert: number, into: number | undefined) {
    this.alert = alert;
    this.into = into;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    await finish(real); // an import is as the file says: moves that are pending would come after it
    const line = JSON.stringify({
      kind: 'alert',
      account_id: real.tenant.account,
      alert_id: real.alerts[this.alert],
      title: 'imported',
      ...(this.into !== undefined && { incident_id: real.incidents[this.into] }),
    });
    await loadData(table, 'alert', [line], { nowSeconds: 1 });
    model.alerts[this.alert] = { at: this.into, by: undefined };
  }
  toString = () => `import alert ${this.alert} into ${this.into}`;
}

class Delete implements Command {
  readonly versionOff: number;
  constructor(versionOff: number) {
    this.versionOff = versionOff;
  }
  check = () => true;
  async run({ item }: Model, real: Real): Promise<void> {
    const version = Math.max(1, item.version + this.versionOff);
    const { deleteWorkItem: handler } = handlersOver(testDeps(real.through));
    const event = eventFor(deleteWorkItem, { appKey: real.tenant.appKey, body: { work_item_id: 'w', version } });
    const { body } = await invokeAlone(handler, event);
    const expected =
      item.deletedFrom === undefined
        ? version === item.version
          ? undefined
          : 'InvalidParameter'
        : version === item.deletedFrom
          ? undefined
          : 'ResourceNotFound';
    expect(body.error?.code).toBe(expected);
    if (expected !== undefined || item.deletedFrom !== undefined) return;
    Object.assign(item, { deletedFrom: version, version: version + 1 });
  }
  toString = () => `delete at version ${this.versionOff} off`;
}

class Restore implements Command {
  check = ({ item }: Readonly<Model>) => item.deletedFrom !== undefined;
  async run({ item }: Model, real: Real): Promise<void> {
    const row = await stored(table, keys.workItem(real.tenant.account, 'w'));
    expect(await restoreWorkItem(real.through, real.tenant.account, row)).toBe(true);
    Object.assign(item, { deletedFrom: undefined, version: item.version + 1 });
  }
  toString = () => 'restore';
}

/** Everything that can be looked at, against the model, once finish-merges has run. */
async function compare(model: Model, real: Real): Promise<void> {
  await finish(real);
  const { tenant, alerts, incidents } = real;
  const idOf = (incident: number | undefined) => (incident === undefined ? undefined : incidents[incident]);
  expect(await tenant.placements(alerts)).toEqual(model.alerts.map((place) => idOf(place.at)));
  for (const [incident, entries] of model.feeds.entries()) {
    const rows = await entriesOf(real, incident);
    const told = rows.map(({ kind, moved }) => ({
      kind,
      moves: new Map(
        Object.entries(moved as Record<string, string[]>).flatMap(([other, ids]) => ids.map((id) => [id, other])),
      ),
    }));
    const expected = entries.map(({ kind, moves }) => ({
      kind,
      moves: new Map([...moves].map(([alert, other]) => [alerts[alert], idOf(other) ?? 'none'])),
    }));
    expect(told).toEqual(expected);
    expect(rows.filter((row) => row.pending)).toEqual([]);
    expect((await tenant.incidentRow(incidents[incident] as string)).title).toBe(model.titles[incident]);
  }
  expect(await tenant.pending()).toEqual([]);
  const [item] = await storedUnder(table, collections.workItems(tenant.account));
  expect(Number(item.version)).toBe(model.item.version);
  expect('deleted_at_ms' in item).toBe(model.item.deletedFrom !== undefined);
}

const someAlerts = fc.uniqueArray(fc.nat(ALERTS - 1), { minLength: 1, maxLength: ALERTS });
const mergeArguments = fc.record({
  alerts: someAlerts,
  into: fc.nat(INCIDENTS - 1),
  title: fc.option(fc.constantFrom('second', 'third'), { nil: undefined, freq: 3 }),
});
const commands = [
  mergeArguments.map((merge) => new Merge(merge)),
  fc
    .tuple(mergeArguments, fc.integer({ min: 1, max: 12 }), fc.constantFrom('kill' as const, 'kill-before' as const))
    .map(([merge, at, fault]) => new CutMerge(merge, at, fault)),
  fc.constant(new Retry()),
  fc
    .tuple(fc.nat(5), fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }))
    .map(([which, cutAt]) => new Undo(which, cutAt)),
  fc.constant(new Finish()),
  fc
    .tuple(fc.nat(ALERTS - 1), fc.option(fc.nat(INCIDENTS - 1), { nil: undefined }))
    .map(([alert, into]) => new Import(alert, into)),
  fc.constantFrom(-1, 0, 0, 1).map((off) => new Delete(off)),
  fc.constant(new Restore()),
];

const FORMS = [
  { when: '', runs: sequences },
  ...(afterStorm > 0 ? [{ when: ' after a storm', runs: afterStorm }] : []),
];

describe.each(FORMS)(`against a model of what ought to be$when (SEED=${SEED})`, ({ when, runs }) => {
  it.concurrent.each(Array.from({ length: LANES }, (_, lane) => lane))(
    'any sequence of merges, cuts, retries, undoings, imports, deletions leads where the model does (%i)',
    async (lane) => {
      const proxy = proxies[lane] as FaultProxy;
      const stormed = when ? await connectAfterStorm(table, proxy) : undefined;
      await fc.assert(
        fc.asyncProperty(fc.commands(commands, { maxCommands: 9 }), async (sequence) => {
          const { model, real } = await newReal(proxy, stormed);
          try {
            await fc.asyncModelRun(async () => ({ model, real }), sequence);
            await compare(model, real);
          } finally {
            if (!stormed) real.through.client.destroy();
          }
        }),
        { numRuns: Math.ceil(runs / LANES), seed: SEED + lane, endOnFailure: process.env.SEED === undefined },
      );
      stormed?.client.destroy();
    },
    20 * 60_000,
  );
});

describe(`races, in every order that fast-check's scheduler tries (SEED=${SEED})`, () => {
  /** Lets the scheduler decide which of the calls that are under way goes on. */
  function scheduled(scheduler: fc.Scheduler): Table {
    const own = connectAgain(table);
    own.client.middlewareStack.add(
      (next, context) => async (args) => {
        await scheduler.schedule(Promise.resolve(), context.commandName ?? '');
        return next(args);
      },
      { step: 'initialize', priority: 'high', name: 'schedule' },
    );
    return own;
  }

  it(
    'leave feeds that, read in order, lead to where the alerts are',
    async () => {
      let done = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.array(mergeArguments, { minLength: 2, maxLength: 3 }),
          fc.boolean(),
          async (scheduler, merges, withUndo) => {
            const { real } = await newReal(proxies[0] as FaultProxy);
            const first = { alerts: [0, 1, 2], into: 0, title: undefined };
            expect(await callMerge(real, first, 'first')).toBe(200);
            const [entry] = await entriesOf(real, 0);
            const own = scheduled(scheduler);
            const racing = merges.map((merge, at) => callMerge({ ...real, through: own }, merge, `race ${at}`));
            const { account } = real.tenant;
            const request = {
              account,
              incidentId: real.incidents[0] as string,
              sequence: entry.sequence,
              by: 'o',
              requestId: 'r',
            };
            const undoing = withUndo
              ? [undoMerge(testDeps(own), request, { transactionItems: TRANSACTION_ITEMS })]
              : [];
            const finishing = finish(real, own);
            const statuses = await scheduler.waitFor(Promise.all(racing));
            await scheduler.waitFor(Promise.all([...undoing, finishing]));
            own.client.destroy();
            await finish(real);
            // Losing to others until the time is over is told as such; nothing else may fail.
            for (const status of statuses) expect([200, 503]).toContain(status);
            done += statuses.filter((status) => status === 200).length;
            await tellsTheTruth(real);
          },
        ),
        { numRuns: races, seed: SEED, endOnFailure: process.env.SEED === undefined },
      );
      expect(done).toBeGreaterThan(races / 2);
    },
    20 * 60_000,
  );

  async function tellsTheTruth({ tenant, alerts, incidents }: Real): Promise<void> {
    const rows = (await Promise.all(incidents.map((id) => tenant.feed(id)))).flat();
    const entries = rows.toSorted((one, other) => one.sequence - other.sequence);
    const place = new Map<string, string>(alerts.map((id) => [id, 'none']));
    for (const { kind, moved, incident_id } of entries)
      for (const [other, ids] of Object.entries(moved as Record<string, string[]>))
        for (const id of ids) {
          const [from, to] = kind === 'merge' ? [other, incident_id] : [incident_id, other];
          expect(place.get(id)).toBe(from);
          place.set(id, to);
        }
    const where = await tenant.placements(alerts);
    expect(where.map((incident) => incident ?? 'none')).toEqual(alerts.map((id) => place.get(id)));
    expect(rows.filter((row) => row.pending)).toEqual([]);
  }
});
