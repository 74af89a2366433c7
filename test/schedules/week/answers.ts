/** Each answer is true of the write log. */
import { expect } from 'vitest';
import { type Key, parseKey, type RowKind } from '../../../lib/table/keys.ts';
import type { Item } from '../../table-double/values.ts';
import type { Replayed } from './replay.ts';
import { type Answer, APP_KEYS, type World } from './world.ts';

const KEY_MS = 30_000;
const RUM_MS = 60_000;

type Row = Item & Record<string, unknown>;

/** The states of the rows of a kind, each with the commits between which it was. */
function statesOf({ schedule: { commits } }: World, wanted: RowKind) {
  const states: { row: Row; from: number; to: number }[] = [];
  for (const [index, { changes }] of commits.entries())
    for (const { before, after } of changes) {
      const row = (after ?? before) as Row;
      if (parseKey(row as unknown as Key)?.kind !== wanted) continue;
      const last = states.findLast((state) => state.row.pk === row.pk && state.row.sk === row.sk);
      if (last && last.to === Number.POSITIVE_INFINITY) last.to = index;
      if (after) states.push({ row: after as Row, from: index + 1, to: Number.POSITIVE_INFINITY });
    }
  return states;
}

export function expectTrueAnswers(world: World, { entries }: Replayed): void {
  const { answers, schedule, msAt } = world;
  const deletions = statesOf(world, 'workItem').filter(({ row }) => row.deleted_at_ms !== undefined);
  const rum = statesOf(world, 'rumResource');
  const alertRows = statesOf(world, 'alert');
  const open = alertRows.filter(({ row }) => row.open_partition !== undefined);
  const hosts = statesOf(world, 'host');
  const revoked = statesOf(world, 'appKey').find(({ row }) => row.revoked_at !== undefined);
  const revokedMs = revoked && msAt(schedule.commits[revoked.from - 1]?.call ?? 0);

  const judges: Record<string, (answer: Answer) => void> = {
    'merge-alerts'({ requestId, status, fields }) {
      const own = entries.filter(({ entry }) => entry.request_id === requestId);
      const { alert_ids, key } = fields as { alert_ids: string[]; key?: string };
      for (const { moves } of own) expect(moves.map(({ alertId }) => alertId).sort()).toEqual([...alert_ids].sort());
      expect(own.length).toBeLessThanOrEqual(status === 400 ? 0 : 1);
      if (status === 200 && key === undefined) expect(own, 'the entry of a merge that succeeded').toHaveLength(1);
    },
    'delete-work-item'({ requestId, status, fields, commits: [, after] }) {
      const { version } = fields as { version: number };
      const own = deletions.filter(({ row }) => row.deleted_request_id === requestId);
      // Its request may come once more after a refusal: docs/reliability.md.
      if (status === 400) expect(own.every(({ from }) => from > after)).toBe(true);
      const isDone = deletions.some(({ row, from }) => row.version === version + 1 && from <= after);
      if (status === 200) expect(isDone, 'a deletion that succeeded').toBe(true);
    },
    'get-rum-resource'({ status, data, startMs, commits: [, after] }) {
      if (status !== 200) return;
      const { resource_name, offering_id, order_id } = data;
      const possible = rum.filter(
        ({ from, to }) =>
          from <= after && msAt(schedule.commits[to]?.call ?? Number.POSITIVE_INFINITY) >= startMs - RUM_MS,
      );
      const shown = possible.map(({ row }) => [row.resource_name, row.offering_id, row.order_id]);
      expect(shown, 'a record of the last minute').toContainEqual([resource_name, offering_id, order_id]);
    },
    'list-alerts': ({ status, data, commits }) => status === 200 && expectAmong(data.items, 'alert_id', open, commits),
    'browse-fleet': ({ status, data, commits }) => status === 200 && expectAmong(data.items, 'host_id', hosts, commits),
    'get-alert'({ status, data, commits }) {
      if (status !== 200) return;
      const states = alertRows.filter(({ row }) => row.alert_id === data.alert_id);
      const titles = duringCall(states, commits).map(({ row }) => row.title);
      expect(titles, 'the title of an alert during the call').toContain(data.title);
    },
  };
  for (const answer of answers) {
    const { operation, status, startMs, appKey } = answer;
    expect([200, 400, 401, 404, 429, 503, undefined], operation).toContain(status);
    if (appKey === APP_KEYS.length - 1 && revokedMs !== undefined && startMs >= revokedMs + KEY_MS)
      expect([401, 503, undefined], 'a call with a revoked key').toContain(status);
    else if (appKey === 0 || !revoked) expect(status, 'a call with a valid key').not.toBe(401);
    judges[operation]?.(answer);
  }
  expectTrueLimits(world);
  expectOneMergeForAKey(answers, entries);
}

const duringCall = (states: ReturnType<typeof statesOf>, [before, after]: Answer['commits']) =>
  states.filter(({ from, to }) => from <= after && to >= before);

/** What is listed was there at some moment of the call, and all that was there throughout is listed. */
function expectAmong(
  items: readonly Row[],
  name: string,
  states: ReturnType<typeof statesOf>,
  [before, after]: Answer['commits'],
): void {
  const ids = (some: typeof states) => [...new Set(some.map(({ row }) => String(row.sk)))];
  const listed = items.map((item) => String(item[name]));
  const sometime = ids(duringCall(states, [before, after]));
  expect(sometime, 'what was there during the call').toEqual(expect.arrayContaining(listed));
  const throughout = ids(states.filter(({ from, to }) => from <= before && to >= after));
  expect(listed, 'what was there throughout the call').toEqual(expect.arrayContaining(throughout));
}

/** Calls that passed are counted once, and no window has more than its limit. */
function expectTrueLimits({ schedule, answers }: World): void {
  const rows = schedule.items().filter((row) => /#RATE#/.test(String(row.pk)));
  const counted = (name: string) => rows.filter(({ pk }) => String(pk).endsWith(`RATE#${name}`));
  const browse = answers.filter(({ operation }) => operation === 'browse-fleet');
  const total = counted('browse-fleet').reduce((sum, row) => sum + Number(row.total), 0);
  const passed = browse.filter(({ status }) => status === 200).length;
  const unknown = browse.filter(({ status }) => status === undefined || status === 503).length;
  expect(total, 'calls of fleet browse that are counted').toBeGreaterThanOrEqual(passed);
  expect(total, 'calls of fleet browse that are counted').toBeLessThanOrEqual(passed + unknown);
  for (const row of counted('browse-fleet'))
    for (const [name, count] of Object.entries(row))
      if (/^w\d/.test(name)) expect(Number(count), 'calls of a second').toBeLessThanOrEqual(2);
  const sent = answers.filter(({ operation, status }) => operation.startsWith('send-') && status === 200);
  const items = sent.flatMap(({ fields }) => Object.values(fields)[0] as unknown[]).length;
  expect(counted('feed').reduce((sum, row) => sum + Number(row.total), 0)).toBeGreaterThanOrEqual(items);
}

function expectOneMergeForAKey(answers: readonly Answer[], entries: Replayed['entries']): void {
  const keyed = answers.filter(({ fields }) => (fields as { key?: string }).key !== undefined);
  for (const [key, calls] of Map.groupBy(keyed, ({ fields }) => (fields as { key?: string }).key)) {
    const ids = new Set(calls.map(({ requestId }) => requestId));
    const own = entries.filter(({ entry }) => ids.has(entry.request_id));
    expect(own.length, `merges with the key ${key}`).toBeLessThanOrEqual(1);
    if (calls.some(({ status }) => status === 200)) expect(own, `merges with the key ${key}`).toHaveLength(1);
  }
}
