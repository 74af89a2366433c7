/** Merges, undos, finishers and records of the feed: whatever the order of their calls, and whichever of them die, the feeds stay true. */

import { TransactionInProgressException } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeRow } from '../../lib/ingest/write-records.ts';
import { createMergeAlerts } from '../../lib/operations/merge-alerts/merge.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { checkAccount } from '../../packages/admin/check/check.ts';
import { readSnapshot } from '../../packages/admin/incidents/snapshot.ts';
import { undoMerge } from '../../packages/admin/incidents/undo-merge.ts';
import { recordFrom } from '../support/feed.ts';
import { createHandlers } from '../support/handlers.ts';
import { expectMerged, expectTrueFeeds, finishFeed, newAccount } from '../support/incidents.ts';
import { eventFor, invokeAlone, put, stored, testDeps } from '../support/service.ts';
import { connectDouble } from '../table-double/client.ts';
import { TableDouble } from '../table-double/table-double.ts';
import { anyFate, type Fate, lives, onSchedules } from './schedule.ts';

/** A merge of up to two alerts is small, and up to three alerts are moved at a time. */
const LIMITS = { transactionItems: 5 };
const START_MS = 1_800_000_000_000;
const idOf = (prefix: string) => (index: number) => `${prefix}${index}`.padEnd(24, String(index));
const alerts = [0, 1, 2, 3, 4].map(idOf('a'));
const [start = '', ...incidents] = [0, 1, 2, 3].map(idOf('b'));

interface Merge {
  alerts: number[];
  into: number;
  title?: boolean;
  /** The Idempotency-Key. */
  key?: string | undefined;
  aheadMs?: number;
}
interface SentMerge extends Merge {
  fate: Fate;
  /** Of its answer, unless its process has died. */
  status: number | undefined;
}
/** Merges that are done before the schedule begins; both may be undone in it. */
const EARLIER: Merge[] = [
  { alerts: [0, 1], into: 2, key: 'k', aheadMs: -2 * 24 * 3_600_000 }, // a key is kept for a day
  { alerts: [0, 1, 2, 3], into: 0 },
];

/** `again`: it is repeated after its end or death. */
const run = { again: fc.boolean(), fate: anyFate };
const process = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      ...run,
      kind: fc.constant('merge' as const),
      alerts: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 5 }),
      into: fc.nat(2),
      title: fc.boolean(),
      key: fc.option(fc.constantFrom('k', 'l'), { nil: undefined }),
      aheadMs: fc.constantFrom(0, 0, -60_000, 3_600_000),
    }),
  },
  fc.record({ ...run, kind: fc.constant('undo' as const), of: fc.nat(1) }),
  fc.record({ ...run, kind: fc.constant('finish' as const) }),
  fc.record({ ...run, kind: fc.constant('export' as const) }),
  fc.record({ ...run, kind: fc.constant('record' as const), alert: fc.nat(4) }),
);
const cases = fc.array(process, { minLength: 1, maxLength: 4 });

onSchedules('merges, undos and whatever finishes them keep the feeds true', cases, async (processes, schedule) => {
  const { table } = schedule;
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  for (const id of [start, ...incidents])
    await put(table, keys.incident(account, id), { incident_id: id, title: 'first' });
  for (const id of alerts)
    await put(table, keys.alert(account, id), { alert_id: id, title: 'alert', incident_id: start });
  const entriesNow = async () => (await Promise.all([start, ...incidents].map((id) => tenant.feed(id)))).flat();

  /** The merges that were sent, by their request ids. */
  const sent = new Map<string, SentMerge>();
  async function merge(through: Table, { aheadMs = 0, ...it }: Merge, name: string, fate = lives): Promise<void> {
    const deps = testDeps(through, { now: () => START_MS + aheadMs });
    const title = it.title && { title: name };
    const body = { alert_ids: it.alerts.map((index) => alerts[index]), incident_id: incidents[it.into], ...title };
    const event = eventFor(mergeAlerts, { appKey, body, headers: it.key ? { 'Idempotency-Key': it.key } : {} });
    const requestId = `${name} of ${sent.size}`;
    Object.assign(event.requestContext, { requestId });
    const call: SentMerge = { ...it, fate, status: undefined };
    sent.set(requestId, call);
    call.status = (await invokeAlone(createHandlers(deps, LIMITS).mergeAlerts, event)).status;
  }
  for (const [index, it] of EARLIER.entries()) await merge(table, it, `earlier ${index}`);
  const earlier = await entriesNow();
  /** Where the alerts are by each export. */
  const exported: (string | undefined)[][] = [];
  /** The sequences of merges whose undo succeeded. */
  const undone: number[] = [];
  const begin = (each: (typeof processes)[number], name: string, fate: Fate) =>
    schedule.start(async (through) => {
      if (each.kind === 'merge') return merge(through, each, name, fate);
      if (each.kind === 'finish') return finishFeed(through, await entriesNow(), LIMITS);
      if (each.kind === 'export') {
        const read = new Map(
          (await readSnapshot(through, account)).alerts.map((row) => [row.alert_id, row.incident_id]),
        );
        exported.push(alerts.map((id) => read.get(id)));
        return;
      }
      if (each.kind === 'undo') {
        const { sequence, incident_id: incidentId } = earlier.find((entry) =>
          entry.request_id.startsWith(`earlier ${each.of}`),
        );
        const request = { account, incidentId, sequence, by: 'operator', requestId: name };
        await undoMerge(testDeps(through, { now: () => START_MS }), request, LIMITS);
        undone.push(sequence);
        return;
      }
      const entity = {
        kind: 'alert',
        account_id: account,
        alert_id: alerts[each.alert],
        title: 'alert',
        at_ms: START_MS,
      };
      await writeRow(through, [recordFrom(entity, START_MS)]);
    }, fate);
  const running = processes.map(async (each, index) => {
    await begin(each, `title ${index}`, each.fate);
    if (each.again) await begin(each, `title ${index}`, lives);
  });
  await schedule.run(running);
  await finishFeed(table, await entriesNow(), LIMITS);

  const entries = await expectTrueFeeds(tenant, [start, ...incidents], alerts, start);
  expect(await checkAccount(table, account)).toEqual([]);
  for (const id of alerts) expect(await stored(table, keys.alert(account, id))).toMatchObject({ title: 'alert' });
  expectWholeMerges(entries, sent);
  expectUndone(entries, undone);
  for (const state of exported)
    expect(statesOf(entries), 'an export is the state after some entry').toContainEqual(state);
  for (const id of incidents) {
    let title = 'first';
    for (const { old_title = title, new_title = title } of entries.filter((entry) => entry.incident_id === id)) {
      expect(old_title).toBe(title);
      title = new_title;
    }
    expect(await tenant.incidentRow(id)).toMatchObject({ title });
  }
});

it('a merge whose time ends while its commit is in progress finds out whether it is committed', async () => {
  const double = new TableDouble();
  const tenant = await newAccount(connectDouble(async (request) => double.apply(request)));
  const [into, ids] = [await tenant.incident(), await tenant.alerts(1)];
  const time = new AbortController();
  const table = connectDouble(async (request) => {
    const reply = double.apply(request);
    if (request.name !== 'TransactWriteCommand') return reply;
    time.abort();
    throw new TransactionInProgressException({ message: 'in progress', $metadata: {} });
  });
  const caller = { accountId: tenant.account, appKeyId: 'k', permissions: [], cursorSecret: new Uint8Array() };
  const body = { alert_ids: ids, incident_id: into };
  const call = { body, caller, requestId: 'r', arrivedMs: 0, idempotencyKey: undefined, signal: time.signal };
  await createMergeAlerts(testDeps(table))(call);
  await expectMerged(tenant, into, ids);
});

// biome-ignore lint/suspicious/noExplicitAny: whatever an entry holds
type Entries = any[];
const takenBy = ({ moved, stayed }: Entries[number]): string[] =>
  [...Object.values(moved).flat(), ...stayed] as string[];

/** Where the alerts are after each entry. */
function statesOf(entries: Entries): (string | undefined)[][] {
  const incidentOf = new Map<string, string | undefined>(alerts.map((id) => [id, start]));
  return entries.map(({ kind, incident_id, moved }) => {
    for (const [other, ids] of Object.entries(moved as Record<string, string[]>))
      for (const id of ids) incidentOf.set(id, kind === 'merge' ? incident_id : other);
    return alerts.map((id) => incidentOf.get(id));
  });
}

/** A merge that succeeded has one entry, with all its alerts; one that was refused has none. */
function expectWholeMerges(entries: Entries, sent: ReadonlyMap<string, SentMerge>): void {
  const byRequest = Map.groupBy(entries, ({ request_id }) => request_id);
  for (const [requestId, { alerts: wanted, status, key, fate }] of sent) {
    const own = byRequest.get(requestId) ?? [];
    for (const entry of own) expect(takenBy(entry).sort()).toEqual(wanted.map((index) => alerts[index]).sort());
    expect(own.length, requestId).toBeLessThanOrEqual(status === 400 ? 0 : 1);
    if (status === 200 && !key) expect(own, requestId).toHaveLength(1);
    if (fate.dies) continue;
    const met = new Set(fate.faults.map(({ fault }) => fault));
    // A lost reply of a commit that was refused ends the call: but no committed merge is reported as failed.
    const isUnknown = met.has('not carried out') || met.has('late');
    if (!isUnknown && status !== 200) expect(own, requestId).toEqual([]);
    // A key may have been used for another merge.
    if (!isUnknown && !met.has('reply lost')) expect(key ? [200, 400] : [200], requestId).toContain(status);
  }
  const keyed = [...sent].filter(([requestId, { key }]) => key && !requestId.startsWith('earlier'));
  for (const [key, calls] of Map.groupBy(keyed, ([, call]) => call.key)) {
    const count = calls.flatMap(([requestId]) => byRequest.get(requestId) ?? []).length;
    expect(count, key).toBeLessThanOrEqual(1);
    // It is refused only after a merge with the key.
    if (calls.some(([, { status }]) => status === 200 || status === 400)) expect(count, key).toBe(1);
  }
}

/** An undo takes back each alert that no later entry took, once, to where the merge took it from. */
function expectUndone(entries: Entries, undone: readonly number[]): void {
  for (const undo of entries.filter(({ kind }) => kind === 'merge_undone'))
    for (const [to, ids] of Object.entries(undo.moved as Record<string, string[]>))
      for (const id of ids) {
        const last = entries.findLast((entry) => entry.sequence < undo.sequence && takenBy(entry).includes(id));
        expect(last.sequence, `the entry that took ${id} before its undo`).toBe(undo.undone_sequence);
        expect(last.moved[to], `what the merge took from ${to}`).toContain(id);
      }
  for (const sequence of undone)
    for (const id of takenBy(entries.find((entry) => entry.sequence === sequence))) {
      const { stayed } = entries.find((entry) => entry.sequence === sequence);
      if (stayed.includes(id)) continue;
      expect(entries.findLast((entry) => takenBy(entry).includes(id)).sequence, id).not.toBe(sequence);
    }
}
