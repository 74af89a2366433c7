/** Accounts with incidents, alerts and members for tests of merges, and checks of the stored results. */
import { randomBytes } from 'node:crypto';
import type { SQSRecord } from 'aws-lambda';
import { expect } from 'vitest';
import type { Handler } from '../../lib/http/operation.ts';
import { Attempts } from '../../lib/operations/merge-alerts/commit.ts';
import type { PreparedEntry } from '../../lib/operations/merge-alerts/decide.ts';
import { entryOf, type Move } from '../../lib/operations/merge-alerts/entry.ts';
import { createFinishMerges } from '../../lib/operations/merge-alerts/finish.ts';
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

/** A new account with a key, and functions to fill it and to read what is stored. */
export async function newAccount(table: Table) {
  lastAccount += 1;
  const account = lastAccount;
  await putAccount(table, { account_id: account, name: 'Acme', permissions: ['monit'] });
  const appKey = await putAppKey(table, { account_id: account });
  const pending = async () => Object.keys((await stored(table, keys.logHead(account)))?.pending ?? {});

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
    /** Sequences of the merges that are pending. */
    pending,
    /** The incident of each alert. */
    async placements(ids: string[]): Promise<(string | undefined)[]> {
      const alertKeys = ids.map((id) => keys.alert(account, id));
      const { rows } = await batchGet(table, alertKeys);
      return alertKeys.map((key) => rows.of(key)?.incident_id);
    },
    /** The rows of an incident's history, with their moves, and with `pending` if they are. */
    async history(id: string) {
      const sequences = await pending();
      const rows = await storedUnder(table, partitions.historyEntry(account, id));
      return rows.map((row) => ({
        ...{ ...row, moves: entryOf(row).moves },
        ...(sequences.includes(String(row.sequence)) && { pending: true }),
      }));
    },
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
  const recorded = history.flatMap(({ moves }) => (moves as Move[]).map(({ alertId }) => alertId));
  expect(recorded.sort()).toEqual([...alerts].sort());
  expect(await tenant.pending()).toEqual([]);
}

/** Runs finish-merges on the large entries of a history. */
export function finishEntries(
  table: Table,
  entries: readonly Record<string, unknown>[],
  {
    deps = testDeps(table),
    transactionItems,
    leftMs = 60_000,
  }: { deps?: ReturnType<typeof testDeps>; transactionItems?: number; leftMs?: number } = {},
): Promise<void> {
  const large = entries.filter((entry) => entry.large);
  const Records = large.map(({ pk, sk }) => ({ body: JSON.stringify({ pk, sk }) })) as SQSRecord[];
  return createFinishMerges(deps, transactionItems)({ Records }, { getRemainingTimeInMillis: () => leftMs });
}
