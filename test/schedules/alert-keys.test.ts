/**
 * The life of the alerts of a key, by a model: what each write makes of an alert, that after each write its rows agree, and that no record is lost,
 * whatever happens to the messages on their way.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { IngestRecord } from '../../lib/ingest/records.ts';
import { createEndSilentAlerts } from '../../lib/ingest/silent-alerts.ts';
import { byRow, writeAllButRefused } from '../../lib/ingest/write-records.ts';
import type { AlertRow } from '../../lib/model/alert.ts';
import { isBefore, sentOf, timeOf } from '../../lib/model/order.ts';
import type { Table } from '../../lib/table/client.ts';
import { type Key, keys, ofKind, type Stored } from '../../lib/table/keys.ts';
import { rowName } from '../../lib/table/read.ts';
import { checkMergesOfTable } from '../../packages/admin/check/check.ts';
import { checkAlertKeys } from '../../packages/admin/check/check-alert-keys.ts';
import { mergeRowsOf } from '../../packages/admin/check/read-rows.ts';
import { mergesOf } from '../integration/merge-alerts/merging.ts';
import { newAccount } from '../support/incidents.ts';
import { recordFrom } from '../support/ingest.ts';
import { put, testDeps } from '../support/service.ts';
import { anyFate, lives, onSchedules, type Schedule } from './schedule.ts';

const NOW = 1_800_000_000_000;
const incidents = ['1', '2'].map((digit) => digit.repeat(24));

/**
 * What a sender's two replicas tell of what they watch, in the order in which their calls arrive. Their clocks and views differ, so either
 * may tell that something fires which the other has just resolved. A call that got a 503 although it was applied comes again, as a new one.
 */
const call = fc.record({
  /** Milliseconds since the call before. */
  after: fc.constantFrom(0, 1, 5_000, 70_000),
  alerts: fc.uniqueArray(
    fc.record({
      alert_key: fc.constantFrom('disk', 'disk', 'disk', 'cpu'),
      alert_status: fc.constantFrom('Ok', 'Ok', 'Critical', 'Warning', undefined),
      title: fc.constantFrom('one', 'two', undefined),
      labels: fc.option(fc.constantFrom({ host: 'a' }, { constructor: 'b' }), { nil: undefined }),
      // A restart makes the start later, or equal to the end before.
      started_at_ms: fc.option(fc.constantFrom(NOW - 60_000, NOW - 5_000, NOW), { nil: undefined }),
      // Before some start that another record gave: a late notice of an earlier episode.
      ended_at_ms: fc.option(fc.constantFrom(NOW - 60_000, NOW), { nil: undefined }),
      silent_after_s: fc.option(fc.constantFrom(60, 100), { nil: undefined }),
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
  fc.record({
    kind: fc.constant('silence' as const),
    afterMs: fc.constantFrom(60_000, 140_000, 10 ** 7),
    fate: anyFate,
  }),
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
      return alerts.map((alert, index) => {
        const title = alert.alert_status === 'Ok' ? alert.title : (alert.title ?? 'one');
        const fields = { kind: 'alert', account_id: account, at_ms: sentMs, ...alert, title };
        return recordFrom(fields, sentMs, { messageId: `${number}.${attempt}`, line: index + 1 });
      });
    }),
  );
}

const rowsOf = <Kind extends 'alert' | 'alertKey'>(kind: Kind, items: readonly object[]) =>
  ofKind(kind, items as readonly Key[]) as Stored<Kind>[];

/** What an alert says, in the model. */
type ShownName = 'title' | 'labels' | 'alert_severity' | 'started_at_ms' | 'ended_at_ms' | 'event';
type Shown = { [Name in ShownName]?: AlertRow[Name] | undefined };
const shown = ({ title, labels, alert_severity, started_at_ms, ended_at_ms, event }: Shown): Shown => ({
  ...{ title, labels, alert_severity, started_at_ms, ended_at_ms, event },
});
const isOpen = (row: Pick<AlertRow, 'ended_at_ms'>) => row.ended_at_ms === undefined;
const isLateNotice = ({ sent }: IngestRecord, { start_given, started_at_ms }: Partial<AlertRow>) =>
  sent.alert_status === 'Ok' && start_given === true && Number(sent.ended_at_ms) < (started_at_ms as number);

/** What a record makes of an alert; `before` undefined: a new one. */
function afterRecord(before: AlertRow | undefined, record: IngestRecord): Shown {
  const {
    alert_status = 'Warning',
    alert_key,
    title,
    labels,
    started_at_ms,
    ended_at_ms,
  } = record.sent as Partial<AlertRow> & {
    alert_status?: string;
  };
  const ends = alert_status === 'Ok';
  if (before) expect([isLateNotice(record, before), isOpen(before) || ends]).toEqual([false, true]);
  // A record by the alert's id, which has replaced the content, may be later than this one.
  const isContentKept = before !== undefined && !isBefore(before.row_order, record.order);
  const content = isContentKept
    ? { title: before.title, labels: before.labels }
    : {
        title: title ?? before?.title ?? alert_key,
        labels: ends && labels === undefined ? before?.labels : labels,
      };
  const start = before ? before.started_at_ms : (started_at_ms ?? (ends ? ended_at_ms : undefined) ?? record.atMs);
  const end = Math.max(start as number, ended_at_ms ?? record.atMs);
  const wasOpen = !before || isOpen(before);
  const event = ends ? wasOpen && 'AlertResolved' : !before && 'AlertTriggered';
  return shown({
    ...content,
    alert_severity: (ends ? before?.alert_severity : alert_status) as 'Info',
    started_at_ms: start as number,
    ended_at_ms: (ends ? (before?.ended_at_ms ?? end) : undefined) as number,
    event: (event || undefined) as 'AlertResolved',
  });
}

/** What silence makes of an open alert. */
function afterSilence(before: AlertRow, { key_order }: AlertRow): Shown {
  const { key_order: last, silent_after_s, started_at_ms = 0 } = before;
  const silentAtMs = sentOf(last as Uint8Array) + (silent_after_s as number) * 1_000;
  expect(isOpen(before) && isBefore(last, key_order as Uint8Array)).toBe(true);
  expect(timeOf(key_order as Uint8Array)).toBe(silentAtMs);
  return shown({ ...before, ended_at_ms: Math.max(started_at_ms, silentAtMs), event: 'AlertSilent' });
}

/** Goes through all writes: each does what the model does, and leaves rows that agree. */
function expectAsModel({ commits }: Schedule, account: number, records: readonly IngestRecord[]): void {
  const rows = new Map<string, Key>();
  for (const changes of commits) {
    for (const { before, after } of changes) {
      const row = (after ?? before) as unknown as Key;
      if (after) rows.set(rowName(row), row);
      else rows.delete(rowName(row));
      const [alert] = rowsOf('alert', after ? [after] : []);
      if (!alert) continue;
      const [was] = rowsOf('alert', before ? [before] : []);
      const isOfKey = !was || Buffer.compare(was.key_order as Uint8Array, alert.key_order as Uint8Array) !== 0;
      const record = records.find(({ order }) => Buffer.compare(order, alert.key_order as Uint8Array) === 0);
      // A merge, or a record with the id.
      if (!isOfKey)
        expect(shown(alert)).toEqual(shown({ ...was, title: alert.title, labels: alert.labels, event: undefined }));
      else expect(shown(alert)).toEqual(record ? afterRecord(was, record) : afterSilence(was as AlertRow, alert));
      const state = isOpen(alert) ? 'OPEN' : 'ENDED';
      expect([alert.index_partition, alert.ttl !== undefined]).toEqual([
        expect.stringContaining(`#${state}#${alert.alert_severity ?? 'None'}#`),
        !isOpen(alert),
      ]);
    }
    const ofAccount = ['alert', 'alertKey'].flatMap((kind) => rowsOf(kind as 'alert', [...rows.values()]));
    expect([...checkAlertKeys(mergeRowsOf(account, ofAccount))]).toEqual([]);
  }
}

onSchedules(
  'an alert opens, changes and ends as the records of its key say in their order, and no record is lost',
  cases,
  async (each, schedule) => {
    const tenant = await newAccount(schedule.table);
    const { account } = tenant;
    const merges = mergesOf(schedule.table, tenant, incidents);
    for (const id of incidents) await put(schedule.table, keys.incident(account, id), { incident_id: id, title: 't' });
    const records = recordsOf(each.calls, account);
    const alertRows = () => rowsOf('alert', schedule.items());
    const send = ({ indexes, fate }: (typeof each.batches)[number]) => {
      const batch = indexes.flatMap((index) => records[index] ?? []);
      const write = (table: Table) => Promise.all(byRow(batch).map((group) => writeAllButRefused(table, group)));
      return schedule.repeat(write, fate);
    };
    const others = (it: (typeof each.others)[number]) =>
      schedule.start(async (table) => {
        const process = { through: table, now: () => NOW };
        const [first] = await merges.entries();
        if (it.kind === 'silence') {
          const silent = testDeps(table, { now: () => NOW + it.afterMs });
          await createEndSilentAlerts(silent, async () => 0)({}, { getRemainingTimeInMillis: () => 60_000 });
        }
        if (it.kind === 'undo' && first) {
          const { incident_id: incidentId, sequence } = first.entry;
          await merges.undo({ incidentId, sequence }, process);
        }
        const ids = alertRows().map(({ alert_id }) => alert_id);
        if (it.kind === 'title' && ids[0]) {
          const fields = { kind: 'alert', account_id: account, alert_id: ids[0], title: 'named' };
          await writeAllButRefused(table, [recordFrom(fields, NOW + 9_999)]);
        }
        if (it.kind === 'merge' && ids.length > 0)
          expect(
            await merges.send({ alert_ids: ids.slice(0, it.count), incident_id: it.into }, process),
          ).not.toMatchObject({ status: 500 });
      }, it.fate);

    const sent = new Set(each.batches.flatMap(({ indexes }) => indexes));
    const rest = records.flatMap((_record, index) => (sent.has(index) ? [] : [{ indexes: [index], fate: lives }]));
    const [now, later] = [each.others.slice(0, 1), each.others.slice(1)];
    await schedule.run<unknown>([...each.batches.map(send), ...now.map(others)]);
    await schedule.run<unknown>([...rest.map(send), ...later.map(others)]);
    await merges.finish();

    expectAsModel(schedule, account, records);
    for (const [alertKey, its] of Map.groupBy(records, ({ sent }) => String(sent.alert_key))) {
      const alerts = alertRows().filter(({ alert_key }) => alert_key === alertKey);
      const isApplied = ({ order }: IngestRecord) => alerts.some(({ key_order }) => !isBefore(key_order, order));
      const lost = its.filter((record) => !isApplied(record) && !alerts.some((alert) => isLateNotice(record, alert)));
      expect(lost).toEqual([]);
    }
    const incidentOf = new Map(
      (await merges.entries()).flatMap(({ moves }) => moves.map(({ alertId, to }) => [alertId, to])),
    );
    for (const { alert_id, incident_id } of alertRows()) expect(incident_id).toBe(incidentOf.get(alert_id));
    expect((await Array.fromAsync(checkMergesOfTable(schedule.table, { nowMs: NOW }))).flat()).toEqual([]);
  },
);
