/** Merges, undos, finishers and records of the feed: whatever the order of their calls, and whichever of them die, the histories stay true. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { writeRow } from '../../lib/ingest/write-records.ts';
import type { EntryWithMoves } from '../../lib/operations/merge-alerts/entry.ts';
import { keys } from '../../lib/table/keys.ts';
import { checkAccount } from '../../packages/admin/check/check.ts';
import { readSnapshot } from '../../packages/admin/incidents/snapshot.ts';
import { expectTrueEntries, mergesOf, type Process } from '../integration/merge-alerts/merging.ts';
import { newAccount } from '../support/incidents.ts';
import { recordFrom } from '../support/ingest.ts';
import { put, stored } from '../support/service.ts';
import { anyFate, type Fate, lives, onSchedules } from './schedule.ts';

const START_MS = 1_800_000_000_000;
const idOf = (prefix: string) => (index: number) => `${prefix}${index}`.padEnd(24, String(index));
const alerts = [0, 1, 2, 3, 4].map(idOf('a'));
const incidents = [0, 1, 2, 3].map(idOf('b'));
const [start = '', ...targets] = incidents;

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

onSchedules('merges, undos and whatever finishes them keep the histories true', cases, async (processes, schedule) => {
  const { table } = schedule;
  const tenant = await newAccount(table);
  const { account } = tenant;
  for (const id of incidents) await put(table, keys.incident(account, id), { incident_id: id, title: 'first' });
  for (const id of alerts)
    await put(table, keys.alert(account, id), { alert_id: id, title: 'alert', incident_id: start });
  const merges = mergesOf(table, tenant, incidents);

  /** The merges that were sent, by their request ids. */
  const sent = new Map<string, SentMerge>();
  async function merge({ aheadMs = 0, ...it }: Merge, name: string, fate: Fate, process: Process): Promise<void> {
    const body = {
      alert_ids: it.alerts.map((index) => alerts[index] ?? ''),
      incident_id: targets[it.into] ?? '',
      ...(it.title && { title: name }),
    };
    const requestId = `${name} of ${sent.size}`;
    const call: SentMerge = { ...it, fate, status: undefined };
    sent.set(requestId, call);
    const now = () => START_MS + aheadMs;
    call.status = (await merges.send(body, { ...process, now, key: it.key, requestId })).status;
  }
  for (const [index, it] of EARLIER.entries()) await merge(it, `earlier ${index}`, lives, {});
  const earlier = (await merges.entries()).map(({ entry }) => ({
    sequence: entry.sequence,
    incidentId: entry.incident_id,
  }));
  /** Where the alerts are by each export. */
  const exported: (string | undefined)[][] = [];
  /** The sequences of merges whose undo succeeded. */
  const undone: number[] = [];
  const begin = (each: (typeof processes)[number], name: string, fate: Fate) =>
    schedule.start(async (through) => {
      if (each.kind === 'merge') await merge(each, name, fate, { through });
      else if (each.kind === 'finish') await merges.finish(through);
      else if (each.kind === 'undo') {
        const entry = earlier[each.of] ?? expect.unreachable();
        await merges.undo(entry, { through, now: () => START_MS });
        undone.push(entry.sequence);
      } else if (each.kind === 'export') {
        const rows = (await readSnapshot(through, account)).alerts;
        const read = new Map(rows.map((row) => [row.alert_id, row.incident_id]));
        exported.push(alerts.map((id) => read.get(id)));
      } else {
        const alert = { kind: 'alert', account_id: account, alert_id: alerts[each.alert], title: 'alert' };
        await writeRow(through, [recordFrom({ ...alert, at_ms: START_MS }, START_MS)]);
      }
    }, fate);
  await schedule.run(
    processes.map(async (each, index) => {
      await begin(each, `title ${index}`, each.fate);
      if (each.again) await begin(each, `title ${index}`, lives);
    }),
  );
  await merges.finish();

  const entries = await merges.entries();
  const states = await expectTrueEntries(table, tenant, entries, { incidents, alerts, start, title: 'first' });
  expect(await checkAccount(table, account)).toEqual([]);
  for (const id of alerts) expect(await stored(table, keys.alert(account, id))).toMatchObject({ title: 'alert' });
  for (const state of exported) expect(states, 'an export is the state after some entry').toContainEqual(state);
  expectWholeMerges(entries, sent);
  for (const { entry, moves } of entries)
    for (const { alertId, from, to } of undone.includes(entry.sequence) ? moves : []) {
      const last = entries.findLast((other) => other.moves.some((move) => move.alertId === alertId));
      if (from !== to) expect(last, `the last entry of ${alertId}, whose merge was undone`).not.toBe(entry);
    }
});

/** A merge that succeeded has one entry, with all its alerts; one that was refused has none. */
function expectWholeMerges(entries: readonly EntryWithMoves[], sent: ReadonlyMap<string, SentMerge>): void {
  const byRequest = Map.groupBy(entries, ({ entry }) => entry.request_id);
  for (const [requestId, { alerts: wanted, status, key, fate }] of sent) {
    const own = byRequest.get(requestId) ?? [];
    for (const { moves } of own)
      expect(moves.map(({ alertId }) => alertId).sort()).toEqual(wanted.map((index) => alerts[index]).sort());
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
