/** Accounts with incidents, alerts and members for tests of merges, and checks of the stored results. */
import { randomBytes } from 'node:crypto';
import type { SQSEvent } from 'aws-lambda';
import { expect } from 'vitest';
import type { Handler } from '../../lib/http/operation.ts';
import { Attempts } from '../../lib/operations/merge-alerts/commit.ts';
import type { PreparedEntry } from '../../lib/operations/merge-alerts/decide.ts';
import { entryOf } from '../../lib/operations/merge-alerts/entry.ts';
import { createFinishMerges, finishMerge } from '../../lib/operations/merge-alerts/finish.ts';
import { logHeadOf } from '../../lib/operations/merge-alerts/log-head.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys, partitions } from '../../lib/table/keys.ts';
import { batchGet } from '../../lib/table/read.ts';
import { putAccount } from '../../packages/admin/accounts/accounts.ts';
import {
  type Answer,
  type EventOptions,
  eventFor,
  invokeAlone,
  put,
  putAll,
  putAppKey,
  stored,
  storedUnder,
  testDeps,
} from './service.ts';

export const objectId = () => randomBytes(12).toString('hex');

let lastAccount = 5_000;

/** The entries of a history, each with the alerts that it moved and those that stayed. @param pending sequences of the pending ones */
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever the rows hold
const entriesOf = (rows: any[], pending: readonly string[] = []): any[] =>
  rows.map(({ alert_ids, other_ids, ...row }) => {
    const { entry, moves } = entryOf({ ...row, alert_ids, other_ids });
    const moved: Record<string, string[]> = {};
    const stayed: string[] = [];
    for (const { alertId, from, to } of moves) {
      const other = (entry.kind === 'merge' ? from : to) ?? 'none';
      if (from === to) stayed.push(alertId);
      else moved[other] = [...(moved[other] ?? []), alertId];
    }
    return { ...row, moved, stayed, ...(pending.includes(String(entry.sequence)) && { pending: true }) };
  });

/** A new account with a key, and functions to fill it and to read what is stored. */
export async function newAccount(table: Table) {
  lastAccount += 1;
  const account = lastAccount;
  await putAccount(table, { account_id: account, name: 'Acme', permissions: ['monit'] });
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
      const assignment = incidentId && { incident_id: incidentId };
      await putAll(
        table,
        ids.map((id) => ({ ...keys.alert(account, id), alert_id: id, title: `Alert ${id}`, ...assignment })),
      );
      return ids;
    },
    member: (id: number | bigint) => put(table, keys.member(account, id), { member_id: id, name: 'Ada' }),
    incidentRow: (id: string) => stored(table, keys.incident(account, id)),
    /** Its log head, as the rows of a partition. */
    logHead: () => storedUnder(table, partitions.logHead(account)),
    /** Sequences of the merges that are pending. */
    pending: async () => Object.keys((await stored(table, keys.logHead(account)))?.pending ?? {}),
    /** The incident of each alert. */
    async placements(ids: string[]): Promise<(string | undefined)[]> {
      const alertKeys = ids.map((id) => keys.alert(account, id));
      const { rows } = await batchGet(table, alertKeys);
      return alertKeys.map((key) => rows.of(key)?.incident_id);
    },
    /** Entries of an incident's history, with `pending` if they are. */
    history: async (id: string) =>
      entriesOf(
        await storedUnder(table, partitions.historyEntry(account, id)),
        Object.keys((await stored(table, keys.logHead(account)))?.pending ?? {}),
      ),
    /** Commits a large merge as the first one of the account, and moves no alert: its call has died. */
    async commitOnly(incidentId: string, alerts: readonly string[]): Promise<void> {
      const merge: PreparedEntry = {
        account,
        entry: {
          ...{ kind: 'merge', incident_id: incidentId, sequence: 1, merge_id: 'm', at_ms: Date.now() - 60_000 },
          ...{ by: 'k', request_id: 'r', large: true },
        },
        moves: alerts.map((alertId) => ({ alertId, from: undefined, to: incidentId })),
        rows: new Map(),
        incident: { incident_id: incidentId, title: '' },
        head: logHeadOf(undefined),
      };
      expect(await new Attempts(table).commit(merge)).toBe(merge);
    },
    /** Finishes the large merges into an incident, as finish-merges does. */
    async finish(id: string, transactionItems?: number): Promise<void> {
      for (const { large, sequence } of entriesOf(await storedUnder(table, partitions.historyEntry(account, id))))
        if (large) await finishMerge(table, account, { incidentId: id, sequence }, transactionItems);
    },
    event: (body: unknown, options: EventOptions = {}) => eventFor(mergeAlerts, { appKey, body, ...options }),
    merge: (handler: Handler, body: unknown, options: EventOptions = {}): Promise<Answer> =>
      invokeAlone(handler, eventFor(mergeAlerts, { appKey, body, ...options })),
  };
}

export type Account = Awaited<ReturnType<typeof newAccount>>;

/** What must hold once a merge is done: every alert is moved, one entry records each, nothing is pending. */
export async function expectMerged(tenant: Account, to: string, alerts: string[], entries = 1): Promise<void> {
  expect(new Set(await tenant.placements(alerts))).toEqual(new Set([to]));
  const history = await tenant.history(to);
  expect(history.filter(({ kind }) => kind === 'merge')).toHaveLength(entries);
  expect(history.filter((row) => 'pending' in row)).toEqual([]);
  const recorded = history.flatMap(({ moved, stayed }) => [...(Object.values(moved) as string[][]).flat(), ...stayed]);
  expect(recorded.sort()).toEqual([...alerts].sort());
  expect(await tenant.pending()).toEqual([]);
}

/**
 * Replays the histories of incidents in the order of their entries: each entry must name the incident that its alerts were in, the last entries
 * must lead to the incidents that they are in now, and nothing may be pending.
 * @param start the incident of all alerts before the first entry; absent: none
 * @returns the entries in their order
 */
export async function expectTrueHistories(
  tenant: Account,
  incidents: readonly string[],
  alerts: string[],
  start = 'none',
): Promise<Awaited<ReturnType<Account['history']>>> {
  const rows = (await Promise.all(incidents.map((id) => tenant.history(id)))).flat();
  const entries = rows.toSorted((a, b) => a.sequence - b.sequence);
  const incidentOf = new Map(alerts.map((id) => [id, start]));
  for (const { kind, incident_id, moved, stayed } of entries) {
    for (const [incident, ids] of Object.entries(moved as Record<string, string[]>))
      for (const id of ids) {
        const [from, to] = kind === 'merge' ? [incident, incident_id] : [incident_id, incident];
        expect(`${id} from ${incidentOf.get(id)}`).toBe(`${id} from ${from}`);
        incidentOf.set(id, to);
      }
    for (const id of stayed) expect(`${id} in ${incidentOf.get(id)}`).toBe(`${id} in ${incident_id}`);
  }
  expect(entries.filter(({ pending }) => pending)).toEqual([]);
  const placements = await tenant.placements(alerts);
  expect(placements.map((id) => id ?? 'none')).toEqual(alerts.map((id) => incidentOf.get(id)));
  return entries;
}

type Entries = readonly Record<string, unknown>[];

/** The event of the queue with a message for each large entry of a history. */
const messagesOf = (entries: Entries) =>
  ({
    Records: entries.filter(({ large }) => large).map(({ pk, sk }) => ({ body: JSON.stringify({ pk, sk }) })),
  }) as SQSEvent;

/** Runs finish-merges on the large entries of a history. */
export const finishEntries = (
  table: Table,
  entries: Entries,
  {
    deps = testDeps(table),
    transactionItems,
    leftMs = 60_000,
  }: { deps?: ReturnType<typeof testDeps>; transactionItems?: number; leftMs?: number } = {},
): Promise<void> =>
  createFinishMerges(deps, transactionItems)(messagesOf(entries), { getRemainingTimeInMillis: () => leftMs });
