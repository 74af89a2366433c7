/** Merges on a table in memory, by processes whose calls to the table a test can disturb, and what must be true of their entries. */
import { expect } from 'vitest';
import { bySequence, type EntryWithMoves, isMoved, readHistory } from '../../../lib/operations/merge-alerts/entry.ts';
import { finishMerge } from '../../../lib/operations/merge-alerts/finish.ts';
import { listPendingEntryIds } from '../../../lib/operations/merge-alerts/log-head.ts';
import type { MergeLimits } from '../../../lib/operations/merge-alerts/move.ts';
import { mergeAlerts } from '../../../lib/operations/merge-alerts/schema.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import type { Settings } from '../../../lib/shared/settings.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { checkMerges } from '../../../packages/admin/check/check-merges.ts';
import { readMergeRows } from '../../../packages/admin/check/read-rows.ts';
import { undoMerge } from '../../../packages/admin/incidents/undo-merge.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { dyingAfterCommit, intercepted, isTransaction } from '../../support/faults.ts';
import { type Account, newAccount } from '../../support/incidents.ts';
import {
  type Answer,
  createHandlers,
  eventFor,
  invokeAlone,
  newDouble,
  stored,
  testDeps,
} from '../../support/service.ts';

/** So few rows that a merge of more than two alerts is large, and that few alerts are moved at a time. */
export const LIMITS = { transactionItems: 5 };
export const HOUR_MS = 3_600_000;

interface MergeBody {
  alert_ids: readonly string[];
  incident_id: string;
  comment?: string;
  title?: string | undefined;
  owner_id?: number | bigint;
}

export interface Process {
  /** Its connection to the table. */
  through?: Table;
  now?: () => number;
  limits?: MergeLimits;
  /** Idempotency-Key of a merge. */
  key?: string | undefined;
  requestId?: string;
  /** When API Gateway got its call; absent: when the process began. */
  arrivedMs?: number;
  deps?: ReturnType<typeof testDeps>;
  /** Those of a warm function. */
  handlers?: ReturnType<typeof createHandlers>;
}

/** What processes do with the merges of an account. */
export function mergesOf(
  table: Table,
  { account, appKey }: Account,
  incidents: readonly string[],
  settings: Partial<Settings> = {},
) {
  const send = (body: MergeBody, process: Process = {}): Promise<Answer> => {
    const { through = table, now = Date.now, limits = LIMITS, key, requestId, arrivedMs } = process;
    const { deps = testDeps(through, { now, settings }), handlers = createHandlers(deps, limits) } = process;
    const event = eventFor(mergeAlerts, {
      appKey,
      rawBody: stringifyJson(body),
      ...(key && { headers: { 'Idempotency-Key': key } }),
    });
    if (arrivedMs !== undefined) event.requestContext.requestTimeEpoch = arrivedMs;
    if (requestId) event.requestContext.requestId = requestId;
    return invokeAlone(handlers.mergeAlerts, event);
  };
  return {
    send,
    /** Merges, and expects success. */
    merge: async (body: MergeBody, process?: Process) => expectEnvelope(await send(body, process), 200),
    undo: (
      { sequence, incidentId }: { sequence: number; incidentId: string },
      { through = table, ...process }: Process = {},
    ) =>
      undoMerge(
        testDeps(through, { ...process, settings }),
        { account, incidentId, sequence, by: 'operator', requestId: 'r' },
        LIMITS,
      ),
    async finish(through = table): Promise<void> {
      for (const { entryId } of await listPendingEntryIds(through, account))
        await finishMerge(through, account, entryId, LIMITS.transactionItems);
    },
    entries: async (): Promise<EntryWithMoves[]> =>
      bySequence((await Promise.all(incidents.map((id) => readHistory(table, account, id)))).flat()),
  };
}

/** An account with alerts in the first of four incidents, with the title `start`. */
export async function newWorld(alertCount: number) {
  const table = newDouble();
  const tenant = await newAccount(table);
  const incidents: string[] = [];
  for (let index = 0; index < 4; index += 1) incidents.push(await tenant.incident({ title: 'start' }));
  const [start = '', one = '', two = '', three = ''] = incidents;
  const alerts = await tenant.alerts(alertCount, start);
  const merges = mergesOf(table, tenant, incidents);
  /** A connection that does something before its first transaction. */
  function beforeCommit(action: () => unknown): Table {
    let isDone = false;
    return intercepted(table, async (reply, request) => {
      const isFirst = isTransaction(request) && !isDone;
      isDone ||= isFirst;
      if (isFirst) await action();
      return reply();
    });
  }
  return {
    ...merges,
    ...{ beforeCommit, table, tenant, incidents, start, one, two, three, alerts },
    /** Commits a large merge whose process dies before its first move. @returns its entry */
    async mergePending(
      incident_id: string,
      { alert_ids = alerts, ...process }: Process & { alert_ids?: string[] } = {},
    ) {
      const through = intercepted(table, dyingAfterCommit());
      await merges.merge({ alert_ids, incident_id }, { through, ...process });
      const pending = await listPendingEntryIds(table, tenant.account);
      return pending.at(-1)?.entryId ?? expect.unreachable('the merge is not pending');
    },
    placements: () => tenant.placements(alerts),
    /** Finishes what is pending, and checks all entries. */
    async expectTrue(): Promise<EntryWithMoves[]> {
      await merges.finish();
      const entries = await merges.entries();
      await expectTrueEntries(table, tenant, entries, { incidents, alerts, start, title: 'start' });
      return entries;
    },
  };
}

/**
 * Replays entries in the order of their sequences: each names the incidents that its alerts were in, an undo takes exactly the alerts that no
 * later entry took, and the rows are as after the last entry.
 * @returns where the alerts are after each entry
 */
export async function expectTrueEntries(
  table: Table,
  tenant: Account,
  entries: readonly EntryWithMoves[],
  first: { incidents: readonly string[]; alerts: readonly string[]; start: string | undefined; title: string },
): Promise<(string | undefined)[][]> {
  const incidentOf = new Map<string, string | undefined>(first.alerts.map((id) => [id, first.start]));
  const titles = new Map(first.incidents.map((id) => [id, first.title]));
  const latest = new Map<string, number>();
  const taken = new Map<number, EntryWithMoves['moves']>();
  const states: (string | undefined)[][] = [];
  for (const { entry, moves } of entries) {
    const { kind, sequence, incident_id, undone_sequence = 0, old_title, new_title } = entry;
    if (kind === 'merge_undone') {
      const undone = taken.get(undone_sequence)?.filter(({ alertId }) => latest.get(alertId) === undone_sequence);
      expect(new Map(moves.map(({ alertId, to }) => [alertId, to])), 'what an undo takes').toEqual(
        new Map(undone?.map(({ alertId, from }) => [alertId, from])),
      );
    } else for (const { to } of moves) expect(to).toBe(incident_id);
    for (const { alertId, from, to } of moves) {
      expect(`${alertId} from ${from}`).toBe(`${alertId} from ${incidentOf.get(alertId)}`);
      incidentOf.set(alertId, to);
      latest.set(alertId, sequence);
    }
    taken.set(sequence, moves.filter(isMoved));
    states.push(first.alerts.map((id) => incidentOf.get(id)));
    if (new_title === undefined) continue;
    expect(old_title).toBe(titles.get(incident_id));
    titles.set(incident_id, new_title);
  }
  expect(await tenant.placements([...first.alerts])).toEqual(first.alerts.map((id) => incidentOf.get(id)));
  for (const [id, title] of titles) expect((await tenant.incidentRow(id)).title).toBe(title);
  const head = (await stored(table, keys.logHead(tenant.account))) ?? {};
  expect([head.entries ?? 0, Object.keys(head.pending ?? {})]).toEqual([entries.length, []]);
  expect(checkMerges(await readMergeRows(table, tenant.account))).toEqual([]);
  return states;
}
