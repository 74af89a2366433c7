/** What a sender's last word on an alert key is decides whether it has an open alert, whatever happens to the messages on their way. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { reasonOf } from '../../lib/ingest/problems.ts';
import type { IngestRecord } from '../../lib/ingest/records.ts';
import { recordOf } from '../../lib/ingest/records.ts';
import { byRow, writeAllButRefused } from '../../lib/ingest/write-records.ts';
import { entryOf } from '../../lib/operations/merge-alerts/entry.ts';
import { createMergeAlerts } from '../../lib/operations/merge-alerts/handler.ts';
import { type Key, keys, ofKind, type Stored } from '../../lib/table/keys.ts';
import { undoMerge } from '../../packages/admin/incidents/undo-merge.ts';
import { finishEntries, newAccount } from '../support/incidents.ts';
import { put, testDeps } from '../support/service.ts';
import { anyFate, lives, onSchedules } from './schedule.ts';

const NOW = 1_800_000_000_000;
/** A merge of more than one alert is large. */
const LIMITS = { transactionItems: 5 };
const incidents = ['1', '2'].map((digit) => digit.repeat(24));

/**
 * What a sender's two replicas tell of what they watch, in the order in which their calls arrive. Their clocks and views differ, so either
 * may tell that something fires which the other has just resolved. A call that got a 503 although it was applied comes again, as a new one.
 */
const call = fc.record({
  /** Milliseconds since the call before. */
  after: fc.constantFrom(0, 1, 5_000),
  alerts: fc.uniqueArray(
    fc.record({
      alert_key: fc.constantFrom('disk', 'disk', 'disk', 'cpu'),
      alert_status: fc.constantFrom('Ok', 'Ok', 'Critical', 'Warning', undefined),
      title: fc.constantFrom('one', 'two'),
      labels: fc.option(fc.constantFrom({ host: 'a' }, { constructor: 'b' }), { nil: undefined }),
      // A restart makes the start later, or equal to the end before.
      started_at_ms: fc.option(fc.constantFrom(NOW - 60_000, NOW - 5_000, NOW), { nil: undefined }),
      ended_at_ms: fc.option(fc.constantFrom(NOW - 60_000, NOW), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 2, selector: ({ alert_key }) => alert_key },
  ),
  isRepeated: fc.boolean(),
});
const other = fc.oneof(
  fc.record({
    kind: fc.constant('merge' as const),
    count: fc.integer({ min: 1, max: 3 }),
    into: fc.constantFrom(...incidents),
    fate: anyFate,
  }),
  fc.record({ kind: fc.constant('undo' as const), fate: anyFate }),
  fc.record({ kind: fc.constant('title' as const), fate: anyFate }),
);
const cases = fc.record({
  calls: fc.array(call, { minLength: 2, maxLength: 6, size: 'max' }),
  /** The queue delivers records in any order, some repeatedly. */
  batches: fc.array(fc.record({ indexes: fc.array(fc.nat(7), { minLength: 1, maxLength: 4 }), fate: anyFate }), {
    minLength: 2,
    maxLength: 4,
    size: 'max',
  }),
  others: fc.array(other, { maxLength: 3 }),
});

/** The records of the calls, each with the arrival of its call as its time. */
function recordsOf(calls: (typeof cases extends fc.Arbitrary<infer Case> ? Case : never)['calls'], account: number) {
  let sentMs = NOW;
  return calls.flatMap(({ after, alerts, isRepeated }, number) =>
    [0, ...(isRepeated ? [1] : [])].flatMap((attempt) => {
      sentMs += after;
      return alerts.map((alert, index): IngestRecord => {
        const line = JSON.stringify({ kind: 'alert', account_id: account, at_ms: sentMs, ...alert });
        const found = recordOf(line, { sentMs, messageId: `${number}.${attempt}`, line: index + 1 });
        if (!('record' in found)) throw new Error(`${reasonOf(found.problems)}: ${line}`);
        return found.record;
      });
    }),
  );
}

const rowsOf = <Kind extends 'alert' | 'alertKey' | 'historyEntry'>(kind: Kind, items: readonly object[]) =>
  ofKind(kind, items as readonly Key[]) as Stored<Kind>[];

onSchedules(
  'an alert is open exactly if the last word on its key is not that it has ended',
  cases,
  async (each, schedule) => {
    const { account } = await newAccount(schedule.table);
    for (const id of incidents) await put(schedule.table, keys.incident(account, id), { incident_id: id, title: 't' });
    const records = recordsOf(each.calls, account);
    const alertRows = () => rowsOf('alert', schedule.items());
    const entries = () =>
      rowsOf('historyEntry', schedule.items())
        .map((row) => entryOf(row))
        .sort((a, b) => a.entry.sequence - b.entry.sequence);

    /** Sends records until all are written, as a queue does. */
    const send = async ({ indexes, fate }: (typeof each.batches)[number]) => {
      const batch = indexes.flatMap((index) => records[index] ?? []);
      let isOver = false;
      for (let its = fate; !isOver; its = lives)
        await schedule.start(async (table) => {
          await Promise.all(byRow(batch).map((group) => writeAllButRefused(table, group)));
          isOver = true;
        }, its);
    };
    const others = (it: (typeof each.others)[number]) =>
      schedule.start(async (table) => {
        const deps = testDeps(table, { now: () => NOW });
        const [first] = entries();
        if (it.kind === 'undo' && first) {
          const { incident_id: incidentId, sequence } = first.entry;
          await undoMerge(deps, { account, incidentId, sequence, by: 'o', requestId: 'u' }, LIMITS);
        }
        const ids = alertRows().map(({ alert_id }) => alert_id);
        if (it.kind === 'title' && ids[0]) {
          const found = recordOf(
            JSON.stringify({ kind: 'alert', account_id: account, alert_id: ids[0], title: 'named' }),
            { sentMs: NOW + 99_999, messageId: 'named', line: 1 },
          );
          if ('record' in found) await writeAllButRefused(table, [found.record]);
        }
        if (it.kind !== 'merge' || ids.length === 0) return;
        const caller = { accountId: account, appKeyId: 'k', permissions: [], cursorSecret: new Uint8Array() };
        const body = { alert_ids: ids.slice(0, it.count), incident_id: it.into };
        const call = { body, caller, requestId: 'r', arrivedMs: NOW, signal: AbortSignal.timeout(60_000) };
        await createMergeAlerts(
          deps,
          LIMITS,
        )(call as never).catch((error) => {
          if ((error as Error).name !== 'ApiError') throw error;
        });
      }, it.fate);

    const sent = new Set(each.batches.flatMap(({ indexes }) => indexes));
    const rest = records.flatMap((_record, index) => (sent.has(index) ? [] : [{ indexes: [index], fate: lives }]));
    const [now, later] = [each.others.slice(0, 1), each.others.slice(1)];
    await schedule.run<unknown>([...each.batches.map(send), ...now.map(others)]);
    await schedule.run<unknown>([...rest.map(send), ...later.map(others)]);
    await finishEntries(schedule.table, rowsOf('historyEntry', schedule.items()) as object[] as never, LIMITS);

    const items = schedule.items();
    for (const [alertKey, its] of Map.groupBy(records, ({ sent }) => String(sent.alert_key))) {
      const last = its.toSorted((a, b) => Buffer.compare(a.order, b.order)).at(-1) as IngestRecord;
      const isOpen = last.sent.alert_status !== 'Ok';
      const key = rowsOf('alertKey', items).find(({ sk }) => sk === alertKey);
      const alerts = alertRows().filter(({ alert_key }) => alert_key === alertKey);
      const open = alerts.filter(({ index_partition }) => index_partition !== undefined);
      expect([key?.is_open, open.map(({ alert_id }) => alert_id)]).toEqual([isOpen, isOpen ? [key?.alert_id] : []]);
      for (const { index_place, ended_at_ms } of alerts)
        expect([index_place === undefined]).toEqual([ended_at_ms !== undefined]);
      const { title, labels, alert_severity } = alerts.find(({ alert_id }) => alert_id === key?.alert_id) ?? {};
      if (title !== 'named') expect([title, labels]).toEqual([last.sent.title, last.sent.labels]);
      if (isOpen) expect(alert_severity).toBe(last.sent.alert_status ?? 'Warning');
      expect(alerts.length).toBeLessThanOrEqual(its.length);
    }
    const incidentOf = new Map(entries().flatMap(({ moves }) => moves.map(({ alertId, to }) => [alertId, to])));
    for (const { alert_id, incident_id } of alertRows()) expect(incident_id).toBe(incidentOf.get(alert_id));
  },
);
