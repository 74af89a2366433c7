/**
 * The previous release and this tree serve one table during an update, and after a roll back: whichever answers a call, the
 * contract holds.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FunctionName } from '../../infra/grants.ts';
import type { Table } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { browseFleet, deleteWorkItem, mergeAlerts, type Operation } from '../../lib/http/operations.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { SEED } from '../support/chance.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { messagesOf } from '../support/finish.ts';
import { grantedTo, requiredPermissions } from '../support/grants.ts';
import { type Account, expectTrueFeeds, newAccount } from '../support/incidents.ts';
import { type Release, startReleases } from '../support/releases.ts';
import { type Answer, type EventOptions, eventFor, newTable, stored } from '../support/service.ts';

const SEQUENCES = 30;
const RACES = 15;
/** Sizes of the groups in which alerts are merged. Some together take several transactions, which hold 100 items each. */
const GROUPS = [1, 1, 2, 30, 80] as const;
const INCIDENTS = 3;

let table: Table;
let releases: Release[];
beforeAll(async () => {
  table = await newTable();
  releases = await startReleases(table);
}, 15 * 60_000); // the previous release may have to install its packages
afterAll(() => Promise.all(releases.map((release) => release.stop())));

interface Merge {
  groups: number[];
  into: number;
  title: string | undefined;
}
type Call = { by: number } & (
  | { kind: 'merge'; merge: Merge; cut: { nth: number; fault: Fault } | undefined }
  | { kind: 'again' }
  | { kind: 'delete'; versionOff: number }
  | { kind: 'finish' }
);

/** An account, a model of what ought to be stored of it, and the merges that were sent. */
async function newScene() {
  const tenant = await newAccount(table);
  const incidents = await Promise.all(Array.from({ length: INCIDENTS }, () => tenant.incident({ title: 'first' })));
  const groups = await Promise.all(GROUPS.map((size) => tenant.alerts(size)));
  const item = { kind: 'work_item', account_id: tenant.account, work_item_id: 'w', version: 5, title: 't' };
  await loadData(table, 'item', [JSON.stringify(item)], { nowSeconds: 1 });
  const model = {
    places: groups.map((): number | undefined => undefined),
    titles: incidents.map(() => 'first'),
    /** Groups that each entry of an incident's feed moved, by where they came from. */
    feeds: incidents.map((): Map<number, number | undefined>[] => []),
    item: { version: 5, deletedFrom: undefined as number | undefined },
  };
  return { tenant, incidents, groups, model, merges: [] as { merge: Merge; key: string; committed: boolean }[] };
}
type Scene = Awaited<ReturnType<typeof newScene>>;

type Request = [operation: Operation, body: object, options?: EventOptions];

/** Sends a call to one of the releases. @param tries how often: a caller repeats it after a 503, which a busy machine causes */
async function call({ tenant }: { tenant: Account }, by: number, request: Request, tries = 5): Promise<Answer> {
  const [operation, body, options] = request;
  const event = eventFor(operation, { appKey: tenant.appKey, body, ...options });
  const answer = await (releases[by] as Release).call(operation.name, event);
  return answer.status === 503 && tries > 1 ? call({ tenant }, by, request, tries - 1) : answer;
}

function callMerge(scene: Scene, by: number, { groups, into, title }: Merge, key: string, tries?: number) {
  const alert_ids = groups.flatMap((group) => scene.groups[group] ?? []);
  const body = { alert_ids, incident_id: scene.incidents[into], ...(title && { title }) };
  return call(scene, by, [mergeAlerts, body, { headers: { 'Idempotency-Key': key } }], tries);
}

const entriesOf = ({ tenant, incidents }: Scene, incident: number) => tenant.feed(incidents[incident] as string);

async function finish({ tenant, incidents }: Pick<Scene, 'tenant' | 'incidents'>, by: number): Promise<void> {
  const feeds = (await Promise.all(incidents.map((id) => tenant.feed(id)))).flat();
  // As Lambda does with a call that fails.
  for (let tries = 1; ; tries += 1)
    try {
      return await (releases[by] as Release).finish(messagesOf(feeds));
    } catch (error) {
      if (tries === 10) throw error;
    }
}

function applyMerge({ model }: Scene, { groups, into, title }: Merge): void {
  const moved = groups.filter((group) => model.places[group] !== into);
  model.feeds[into]?.push(new Map(moved.map((group) => [group, model.places[group]])));
  for (const group of moved) model.places[group] = into;
  if (title) model.titles[into] = title;
}

/** Makes a call through one of the releases, checks its answer and updates the model. */
async function run(scene: Scene, one: Call): Promise<void> {
  const { model, merges } = scene;
  if (one.kind === 'finish') return finish(scene, one.by);
  if (one.kind === 'again') {
    const last = merges.at(-1);
    if (!last) return;
    const answer = await callMerge(scene, one.by, last.merge, last.key);
    expect(answer.status, answer.text).toBe(200);
    if (!last.committed) applyMerge(scene, last.merge);
    last.committed = true;
    return;
  }
  if (one.kind === 'merge') {
    const { merge, cut, by } = one;
    const key = `k${merges.length}`;
    const { proxy } = releases[by] as Release;
    const before = (await entriesOf(scene, merge.into)).length;
    proxy.plan(({ number }) => (number === cut?.nth ? cut.fault : undefined));
    const { status } = await callMerge(scene, by, merge, key, cut && 1);
    proxy.plan();
    const committed = (await entriesOf(scene, merge.into)).length > before;
    if (!cut || status === 200) expect({ status, committed }).toEqual({ status: 200, committed: true });
    if (committed) applyMerge(scene, merge);
    merges.push({ merge, key, committed });
    return;
  }
  const { item } = model;
  const version = item.version + one.versionOff;
  const { body } = await call(scene, one.by, [deleteWorkItem, { work_item_id: 'w', version }]);
  const wrong = item.deletedFrom === undefined ? 'InvalidParameter' : 'ResourceNotFound';
  const expected = version === (item.deletedFrom ?? item.version) ? undefined : wrong;
  expect(body.error?.code).toBe(expected);
  if (expected === undefined && item.deletedFrom === undefined)
    Object.assign(item, { deletedFrom: version, version: version + 1 });
}

async function compare(scene: Scene): Promise<void> {
  const { tenant, incidents, groups, model } = scene;
  const idOf = (incident: number | undefined) => (incident === undefined ? undefined : incidents[incident]);
  const where = await tenant.placements(groups.flat());
  expect(where).toEqual(groups.flatMap((ids, group) => ids.map(() => idOf(model.places[group]))));
  for (const [incident, expected] of model.feeds.entries()) {
    const entries = await entriesOf(scene, incident);
    const recorded = entries.map(({ moved }) => movesOf(moved));
    const moves = expected.map(
      (entry) =>
        new Map([...entry].flatMap(([group, from]) => (groups[group] ?? []).map((id) => [id, idOf(from) ?? 'none']))),
    );
    expect(recorded).toEqual(moves);
    expect(entries.filter((entry) => entry.pending)).toEqual([]);
    expect((await tenant.incidentRow(incidents[incident] as string)).title).toBe(model.titles[incident]);
  }
  expect(await tenant.pending()).toEqual([]);
  const item = await stored(table, keys.workItem(tenant.account, 'w'));
  expect(Number(item.version)).toBe(model.item.version);
}

/** For each moved alert the incident that it came from. */
const movesOf = (moved: Record<string, string[]>) =>
  new Map(Object.entries(moved).flatMap(([from, ids]) => ids.map((id) => [id, from])));

const by = fc.constantFrom(0, 1);
const someMerge = fc.record({
  groups: fc.uniqueArray(fc.nat(GROUPS.length - 1), { minLength: 1 }),
  into: fc.nat(INCIDENTS - 1),
  title: fc.option(fc.constantFrom('second', 'third'), { nil: undefined, freq: 3 }),
});
const cut = fc.record({
  nth: fc.integer({ min: 1, max: 12 }),
  fault: fc.constantFrom<Fault>('kill', 'kill-before', 'drop', 'throttle', 'conflict'),
});
const someCall: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('merge'), by, merge: someMerge, cut: fc.option(cut, { nil: undefined }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('again'), by }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), by, versionOff: fc.constantFrom(-1, 0, 0, 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('finish'), by }) },
);

describe(`two releases on one table (SEED=${SEED})`, () => {
  it(
    'any sequence of calls, each answered by either, leads where a model of the contract does',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(someCall, { minLength: 2, maxLength: 8 }), by, async (calls, last) => {
          const scene = await newScene();
          for (const one of calls) await run(scene, one);
          await finish(scene, last);
          await compare(scene);
        }),
        { numRuns: SEQUENCES, seed: SEED, endOnFailure: process.env.SEED === undefined },
      );
    },
    5 * 60_000,
  );

  it(
    'merges sent to both at once leave each alert in the incident that the feeds, read in order, lead to',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(by, someMerge), { minLength: 2, maxLength: 4 }),
          by,
          async (merges, last) => {
            const scene = await newScene();
            const racing = merges.map(([release, merge], index) => callMerge(scene, release, merge, `race ${index}`));
            for (const { status } of await Promise.all(racing)) expect([200, 503]).toContain(status);
            await finish(scene, last);
            await expectTrueFeeds(scene.tenant, scene.incidents, scene.groups.flat());
          },
        ),
        { numRuns: RACES, seed: SEED, endOnFailure: process.env.SEED === undefined },
      );
    },
    5 * 60_000,
  );

  it('a walk through the fleet goes on with the cursor of the other', async () => {
    const tenant = await newAccount(table);
    const hosts = Array.from({ length: 25 }, (_, index) => `host-${String(index).padStart(2, '0')}`);
    await loadData(
      table,
      'hosts',
      hosts.map((host_id) =>
        JSON.stringify({
          kind: 'host',
          account_id: tenant.account,
          host_id,
          agent_version: '1',
          edge_cluster: 'c',
          enabled: true,
          snapshot_ready: false,
        }),
      ),
      { nowSeconds: 1 },
    );
    const met: string[] = [];
    for (let page = 0, cursor: string | undefined; page === 0 || cursor; ) {
      const { status, body, text } = await call({ tenant }, page % 2, [
        browseFleet,
        { limit: 7, ...(cursor && { cursor }) },
      ]);
      if (status === 429) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        continue;
      }
      expect(status, text).toBe(200);
      met.push(...body.data.items.map(({ host_id }: { host_id: string }) => host_id));
      cursor = body.data.next_cursor;
      page += 1;
    }
    expect(met).toEqual(hosts);
  });

  it('the previous release may do with the table all that it does, by the grants of this one', async () => {
    const [{ proxy }] = releases as [Release];
    const used = new Map<FunctionName, Set<string>>();
    const recorded = async (name: FunctionName, act: () => Promise<unknown>) => {
      proxy.plan();
      await act();
      const asked = proxy.calls.flatMap(({ action, body }) => requiredPermissions(action, JSON.parse(body)));
      used.set(name, (used.get(name) ?? new Set()).union(new Set(asked)));
    };
    const tenant = await newAccount(table);
    await tenant.member(1);
    const [to, other] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(150);
    const merge = (body: object) =>
      recorded('merge-alerts', async () => {
        const options = { headers: { 'Idempotency-Key': JSON.stringify(body).slice(-200) } };
        expect((await call({ tenant }, 0, [mergeAlerts, body, options])).status).toBe(200);
      });
    await merge({ alert_ids: alerts.slice(0, 2), incident_id: to });
    await merge({ alert_ids: alerts.slice(0, 3), incident_id: to, owner_id: 1, title: 'New' });
    await merge({ alert_ids: alerts, incident_id: other });
    const finishAll = () => recorded('finish-merges', () => finish({ tenant, incidents: [to, other] }, 0));
    await finishAll();
    // Its commit is the first transaction: the moves are left to finish-merges.
    const options = { headers: { 'Idempotency-Key': 'cut' } };
    for (let tries = 0; tries < 5 && (await tenant.pending()).length === 0; tries += 1) {
      proxy.plan(({ action }) => (action === 'TransactWriteItems' ? 'kill' : undefined));
      await call({ tenant }, 0, [mergeAlerts, { alert_ids: alerts, incident_id: to }, options], 1);
    }
    expect(await tenant.pending()).toHaveLength(1);
    await finishAll();
    expect(await tenant.pending()).toEqual([]);
    for (const [name, asked] of used) {
      const { all, previous } = grantedTo(name);
      expect([name, ...asked.difference(all)]).toEqual([name]);
      expect([name, ...previous.difference(asked)]).toEqual([name]);
    }
  });

  it('both count against the same limit of fleet browse', async () => {
    const second = () => Math.floor(Date.now() / 1_000);
    for (;;) {
      // A new account each time, until all calls fall into one second of the clock.
      const tenant = await newAccount(table);
      await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000)));
      const began = second();
      const calls = Array.from({ length: 8 }, (_, index) => call({ tenant }, index % 2, [browseFleet, {}]));
      const accepted = (await Promise.all(calls)).filter(({ status }) => status === 200).length;
      if (second() > began) continue;
      expect(accepted).toBe(2);
      return;
    }
  });

  it(
    'an account and a key that the commands of either made are good for both, until either revokes it',
    async () => {
      const admin = async ({ tree, endpoint }: Release, ...args: string[]) => {
        const target = ['--endpoint', endpoint, '--table', table.name];
        const options = { cwd: tree, env: { PATH: process.env.PATH } };
        return promisify(execFile)('npm', ['run', '--silent', 'admin', '--', ...target, ...args], options);
      };
      for (const [index, release] of releases.entries()) {
        const account = String(900 + index);
        await admin(release, 'account', 'create', account, '--name', 'Acme', '--permission', 'monit');
        const { stdout, stderr } = await admin(release, 'app-key', 'issue', '--account', account);
        const event = eventFor(browseFleet, { appKey: stdout.trim(), body: {} });
        const statuses = () =>
          Promise.all(releases.map(async (one) => (await one.call(browseFleet.name, event)).status));
        expect(await statuses()).toEqual([200, 200]);
        const [, id = ''] = /Its id is (\w+)/.exec(stderr) ?? [];
        await admin(releases[1 - index] as Release, 'app-key', 'revoke', id, '--account', account);
        expect(await statuses()).toEqual([401, 401]);
      }
    },
    2 * 60_000,
  );
});
