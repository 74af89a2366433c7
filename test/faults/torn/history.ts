/** A random history of all that writes, on a table in memory that keeps every version of every row, with what the feed had said by then. */

import { writeRow } from '../../../lib/ingest/write-records.ts';
import { isBefore, type Order } from '../../../lib/model/order.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { isUnavailable } from '../../../lib/shared/concurrency.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type Key, keys, ofKind } from '../../../lib/table/keys.ts';
import { rowName } from '../../../lib/table/read.ts';
import { AccountError, changeAccount, putAccount, readAccount } from '../../../packages/admin/accounts/accounts.ts';
import { identityOfAppKey, putAppKey, revokeAppKey } from '../../../packages/admin/accounts/app-key-admin.ts';
import { readWorkItem, restoreWorkItem } from '../../../packages/admin/incidents/restore-work-item.ts';
import { UndoError } from '../../../packages/admin/incidents/undo-merge.ts';
import { LIMITS, mergesOf } from '../../integration/merge-alerts/merging.ts';
import { RUM_RECORD, RUM_USAGE } from '../../support/accounts.ts';
import { connectionLost, isTransaction } from '../../support/faults.ts';
import { type Account, newAccount } from '../../support/incidents.ts';
import { recordFrom } from '../../support/ingest.ts';
import { callAlone, createHandlers, newAppKey, newDouble, testDeps } from '../../support/service.ts';
import { connectDouble, type Request } from '../../table-double/client.ts';
import { type Rows, TableDouble } from '../../table-double/table-double.ts';
import type { Item } from '../../table-double/values.ts';

/** The account whose keys are issued, revoked and suspended. The calls of the other one are let in. */
export const ACCESS = 9_000;
const idOf = (prefix: string) => (index: number) => `${prefix}${index}`.padEnd(24, String(index));

/** What the feed said last of an attribute. */
interface Said {
  value: unknown;
  order: Order;
}
/** By attribute: `incident_id` of an alert, `title` and `owner_id` of an incident. */
export type Feed = Readonly<Record<string, Said | undefined>>;
interface Version {
  write: number;
  row: Item | undefined;
  feed: Feed;
}

export type Random = ReturnType<typeof createRandom>;
export const createRandom = (random: () => number) => ({
  below: (count: number) => Math.floor(random() * count),
  chance: (of: number) => random() < of,
  one: <Each>(all: readonly Each[]) => all[Math.floor(random() * all.length)] as Each,
});

const CHANGES = [{ suspended: true }, { suspended: false }, { permissions: ['monit'] }, { permissions: ['feed'] }];
const INVENTORY = { agent_version: '1', edge_cluster: 'c', enabled: true, snapshot_ready: true };

/** Records of all kinds; of those that merges change more than one. */
function recordsOf({ below, chance, one }: Random, incident_id: string, deleted_at_ms: number) {
  const title = `feed ${deleted_at_ms}`;
  const alert = { kind: 'alert', alert_id: idOf('a')(below(7)), title };
  const keyed = { kind: 'alert', alert_key: one(['k', 'l']), alert_status: one(['Critical', 'Ok']), title };
  const incident = { kind: 'incident', incident_id, title };
  const item = { kind: 'work_item', work_item_id: 'w', version: 1 + below(3), title };
  return [
    ...[alert, { ...alert, incident_id }, { ...alert, incident_id }, keyed, keyed],
    ...[incident, { ...incident, owner_id: below(4) }, { kind: 'member', member_id: below(4), name: 'Bo' }],
    { kind: 'host', host_id: 'h', ...(chance(0.5) ? { retired: true } : INVENTORY) },
    { kind: 'host_status', host_id: 'h', node_count: below(9), edge_count: 1 },
    { ...item, ...(chance(0.3) && { deleted_at_ms }) },
    ...[
      { kind: 'rum_resource', ...RUM_RECORD, deleted: chance(0.2) },
      { kind: 'rum_usage', ...RUM_USAGE },
    ],
  ];
}

export class World {
  /** By the names of rows. */
  readonly versions = new Map<string, Version[]>();
  readonly feeds: Map<string, Feed>;
  readonly appKeys: string[];
  /** Writes so far. */
  write = 0;
  now: number;
  readonly tenant: Account;
  readonly #double: TableDouble;

  private constructor(rows: Rows, from: Pick<World, 'tenant' | 'now' | 'appKeys'>, feeds: ReadonlyMap<string, Feed>) {
    this.tenant = from.tenant;
    this.now = from.now;
    this.appKeys = [...from.appKeys];
    this.feeds = new Map(feeds);
    for (const [name, row] of rows) this.versions.set(name, [{ write: 0, row, feed: this.feeds.get(name) ?? {} }]);
    this.#double = new TableDouble(rows, (changes) => {
      this.write += 1;
      for (const { before, after } of changes) {
        const name = rowName((after ?? before) as unknown as Key);
        const earlier = this.versions.get(name) ?? [{ write: 0, row: undefined, feed: {} }];
        this.versions.set(name, [...earlier, { write: this.write, row: after, feed: this.feeds.get(name) ?? {} }]);
      }
    });
  }

  /** An account with incidents, alerts in the first of them, members and a host, all from the feed. */
  static async create(): Promise<World> {
    const double = new TableDouble();
    const table = newDouble(double);
    const tenant = await newAccount(table);
    const first = await readAccount(table, tenant.account);
    if (first) await putAppKey(table, first, identityOfAppKey(tenant.appKey), { created_at: 1 });
    const world = new World(double.rows, { tenant, now: 1_800_000_000_000, appKeys: [] }, new Map());
    for (let index = 0; index < 3; index += 1) await world.send({ kind: 'member', member_id: index, name: 'Ada' });
    for (let index = 0; index < 2; index += 1)
      await world.send({ kind: 'incident', incident_id: idOf('b')(index), title: 'first' });
    for (let index = 0; index < 3; index += 1)
      await world.send({ kind: 'alert', alert_id: idOf('a')(index), title: 'first', incident_id: idOf('b')(0) });
    await world.send({ kind: 'host', host_id: 'h', ...INVENTORY });
    return world.with(world.rows, world.feeds);
  }

  /** The same world with other rows, and what the feed had said when they were written. */
  with = (rows: Rows, feeds: ReadonlyMap<string, Feed>) => new World(rows, this, feeds);

  get rows(): Rows {
    return this.#double.rows;
  }
  get items(): readonly Key[] {
    return [...this.rows.values()] as unknown as readonly Key[];
  }
  /**
   * @param writes after which its process dies
   * @param meanwhile what others do before its first transaction
   */
  connect(writes = Number.POSITIVE_INFINITY, meanwhile?: () => Promise<unknown>): Table {
    let left = writes;
    const before = [meanwhile];
    return connectDouble(async (request: Request) => {
      if (left <= 0) throw connectionLost();
      if (isTransaction(request)) await before.shift()?.();
      if (!/^(Get|BatchGet|Query|Scan)/.test(request.name)) left -= 1;
      return this.#double.apply(request);
    });
  }
  table = this.connect();

  async send(fields: Record<string, unknown>, aheadMs = 0): Promise<void> {
    this.now += 1;
    const record = recordFrom({ account_id: this.tenant.account, at_ms: this.now + aheadMs, ...fields }, this.now);
    const { kind, alert_id, incident_id, title, owner_id } = fields;
    const key = kind === 'incident' ? keys.incident : keys.alert;
    const name = rowName(key(this.tenant.account, String(kind === 'incident' ? incident_id : alert_id)));
    const values = kind === 'incident' ? { title, owner_id } : { ...(incident_id !== undefined && { incident_id }) };
    const feed = { ...this.feeds.get(name) };
    for (const [attribute, value] of Object.entries(values))
      if (isBefore(feed[attribute]?.order, record.order)) feed[attribute] = { value, order: record.order };
    this.feeds.set(name, feed);
    await writeRow(this.table, [record]);
    // If nothing was written, the row has none the less to tell it.
    const last = this.versions.get(name)?.at(-1);
    if (last && last.feed !== feed) this.versions.get(name)?.push({ ...last, write: this.write, feed });
  }

  /** Does something by chance, in whose midst others may do something. What cannot be done is refused, as in life. */
  async step(random: Random): Promise<void> {
    const { below, chance, one } = random;
    this.now += one([1, 500, 2_000, 20_000]);
    const aheadMs = one([0, 0, 0, -300_000, 300_000]);
    const now = () => this.now + aheadMs;
    const { table, tenant, write } = this;
    const meanwhile = chance(0.15) ? () => this.step(random) : undefined;
    const through = this.connect(chance(0.25) ? 1 + below(4) : undefined, meanwhile);
    const merges = mergesOf(table, tenant, []);
    const incident_id = idOf('b')(below(5));

    const merge = async () => {
      const alert_ids = ofKind('alert', this.items).flatMap(({ sk }) => (chance(0.5) ? sk : []));
      if (alert_ids.length === 0) return;
      const isNew = !this.rows.has(rowName(keys.incident(tenant.account, incident_id)));
      if (isNew) await this.send({ kind: 'incident', incident_id, title: 'new' });
      const change = { ...(chance(0.4) && { title: `merge ${write}` }), ...(chance(0.2) && { owner_id: below(3) }) };
      const key = chance(0.3) ? `key ${write}` : undefined;
      await merges.send({ alert_ids, incident_id, ...change }, { through, now, limits: one([LIMITS, {}]), key });
    };
    const undo = async () => {
      const merged = ofKind('historyEntry', this.items).filter(({ kind }) => kind === 'merge');
      const { sequence, incident_id: incidentId = '' } = one(merged.slice(-3)) ?? {};
      if (sequence) await merges.undo({ sequence, incidentId }, { through, now });
    };
    const record = () => this.send(one(recordsOf(random, incident_id, this.now)), aheadMs);
    const workItem = async () => {
      const item = await readWorkItem(table, tenant.account, 'w');
      const call = { appKey: tenant.appKey, body: { work_item_id: 'w', version: item?.version } };
      if (item?.deleted_at_ms !== undefined) await restoreWorkItem(table, tenant.account, item);
      else if (item) await callAlone(createHandlers(testDeps(table, { now })), deleteWorkItem, call);
    };
    const access = () => changeAccount(through, ACCESS, () => one(CHANGES));
    const issue = async () => {
      const created = { account_id: ACCESS, name: 'n', permissions: ['feed'] };
      const row = (await readAccount(table, ACCESS)) ?? (await putAccount(table, created));
      const issued = newAppKey();
      await putAppKey(table, row, identityOfAppKey(issued), { created_at: 1 });
      this.appKeys.push(issued);
    };
    const revoke = async () => {
      const key = one(this.appKeys);
      if (key) await revokeAppKey(table, ACCESS, identityOfAppKey(key).hash, 1);
    };
    const often = [merge, merge, record, record, access].flatMap((action) =>
      Array<() => Promise<unknown>>(4).fill(action),
    );
    const actions = [...often, undo, undo, undo, merges.finish, workItem, issue, issue, revoke];
    await one(actions)().catch((error: Error) => {
      const isExpected = error instanceof UndoError || error instanceof AccountError || isUnavailable(error);
      if (!isExpected) throw error;
    });
  }

  /** The table as of some write, in which each row has any of its versions of the writes before that. */
  cut({ below, chance, one }: Random): { rows: Map<string, Item>; feeds: Map<string, Feed> } {
    const last = 1 + below(this.write);
    const first = last - one([1, 2, 3, 6, 100]);
    const isLatest = one([0.2, 0.5, 0.8]);
    const rows = new Map<string, Item>();
    const feeds = new Map<string, Feed>();
    for (const [name, versions] of this.versions) {
      const latest = versions.findLastIndex(({ write }) => write <= last);
      const earlier = versions.findLastIndex(({ write }) => write <= first);
      const earliest = Math.max(0, earlier);
      const chosen = versions[chance(isLatest) ? latest : earliest + below(latest - earliest + 1)];
      if (!chosen?.row) continue;
      rows.set(name, chosen.row);
      feeds.set(name, chosen.feed);
    }
    return { rows, feeds };
  }
}
