/** Incidents, alerts and members for tests of the merge operation, and what became of them. */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { mergeAlerts } from '../../lib/api/operations.ts';
import type { Handler } from '../../lib/api/serve.ts';
import type { Table } from '../../lib/table/client.ts';
import { collections, keys } from '../../lib/table/keys.ts';
import {
  type Answer,
  type EventOptions,
  eventFor,
  invoke,
  put,
  putAll,
  putAppKey,
  stored,
  storedUnder,
} from './service.ts';

export const objectId = () => randomBytes(12).toString('hex');

let lastAccount = 5_000;

/** An account of its own with a key, and means to fill it and look at it. */
export async function newAccount(table: Table) {
  lastAccount += 1;
  const account = lastAccount;
  const appKey = await putAppKey(table, { account_id: account });

  return {
    account,
    appKey,
    async incident(row: { title?: string; owner_id?: number | bigint } = {}): Promise<string> {
      const id = objectId();
      await put(table, keys.incident(account, id), { incident_id: id, title: 'Checkout is down', ...row });
      return id;
    },
    async alerts(count: number, incidentId?: string): Promise<string[]> {
      const ids = Array.from({ length: count }, objectId);
      const of = incidentId && { incident_id: incidentId };
      await putAll(
        table,
        ids.map((id) => ({ ...keys.alert(account, id), alert_id: id, title: `Alert ${id}`, ...of })),
      );
      return ids;
    },
    member: (id: number | bigint) => put(table, keys.member(account, id), { member_id: id, name: 'Ada' }),
    incidentRow: (id: string) => stored(table, keys.incident(account, id)),
    ledger: () => stored(table, keys.mergeLedger(account)),
    /** The incident of each alert. */
    async whereabouts(ids: string[]): Promise<(string | undefined)[]> {
      const rows = await storedUnder(table, collections.alerts(account));
      const incidentOf = new Map(rows.map((row) => [row.alert_id, row.incident_id]));
      return ids.map((id) => incidentOf.get(id));
    },
    /** Entries of an incident's feed, parts and all. */
    feed: (id: string) => storedUnder(table, collections.feed(account, id)),
    event: (body: unknown, options: EventOptions = {}) => eventFor(mergeAlerts, { appKey, body, ...options }),
    merge: (handler: Handler, body: unknown, options: EventOptions = {}): Promise<Answer> =>
      invoke(handler, eventFor(mergeAlerts, { appKey, body, ...options })),
  };
}

export type Account = Awaited<ReturnType<typeof newAccount>>;

/** All that must hold once a merge is done: every alert moved, one entry that tells of each, no mark left. */
export async function isMerged(at: Account, to: string, alerts: string[], entries = 1): Promise<void> {
  expect(new Set(await at.whereabouts(alerts))).toEqual(new Set([to]));
  const feed = await at.feed(to);
  expect(feed.filter(({ kind }) => kind === 'merge')).toHaveLength(entries);
  expect(feed.filter((row) => 'pending' in row)).toEqual([]);
  const told = feed.flatMap(({ moved, stayed }) => [...(Object.values(moved) as string[][]).flat(), ...stayed]);
  expect(told.sort()).toEqual([...alerts].sort());
  expect(Object.keys((await at.ledger()) ?? {}).filter((name) => /^p\d/.test(name))).toEqual([]);
}
