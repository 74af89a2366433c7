/** What must be true after a week, by its write log, queues and answers. */
import { expect } from 'vitest';
import type { IngestRecord } from '../../../lib/ingest/records.ts';
import { byRow, writeRow } from '../../../lib/ingest/write-records.ts';
import { parseJson } from '../../../lib/shared/json.ts';
import { type Key, keys, parseKey } from '../../../lib/table/keys.ts';
import { rowName } from '../../../lib/table/read.ts';
import { checkTable } from '../../../packages/admin/check/check.ts';
import { loadData } from '../../../packages/admin/data/load.ts';
import { connectDouble } from '../../table-double/client.ts';
import { type Change, TableDouble } from '../../table-double/table-double.ts';
import type { Item } from '../../table-double/values.ts';
import { expectTrueAnswers } from './answers.ts';
import { expectTrueEvents } from './events.ts';
import { expectTrueItems } from './items.ts';
import { expectTrueKeys } from './keys.ts';
import { modelOf, plain, shownRows } from './model.ts';
import type { Action } from './plan.ts';
import { type Replayed, replay } from './replay.ts';
import { ACCOUNT, type World } from './world.ts';

const MAX_ROUNDS = 50;
type Perform = (action: Action) => Promise<void>;

/** Lets the queues and the stream run empty, without faults. */
async function drain({ queues, relayed, stream }: World, perform: Perform): Promise<void> {
  const isEmpty = () =>
    [queues.feed, queues.events, queues.merges].every(({ waiting }) => waiting.size === 0) &&
    relayed.upTo === stream().length;
  for (let round = 0; !isEmpty(); round += 1) {
    expect(round, 'the queues do not run empty').toBeLessThan(MAX_ROUNDS);
    await perform({ kind: 'ingest', count: 10, isImport: false });
    await perform({ kind: 'relay', count: 100 });
    await perform({ kind: 'publish', count: 10 });
    if (queues.merges.waiting.size > 0) await perform({ kind: 'finish', isOverdue: false });
  }
}

export async function expectTrueWeek(world: World, perform: Perform): Promise<void> {
  const { schedule, queues, taker, deadLetters, exports } = world;
  taker.end();
  await drain(world, perform);
  expect([deadLetters, queues.refused.sent], 'what the service gave up').toEqual([[], []]);
  const items = schedule.items();
  const replayed = replay(schedule.commits, items);
  const records = world.records();
  const model = modelOf(records, replayed);
  const rows = shownRows(items);
  expectTrueItems(schedule.commits, rows, model);
  expect(plain(rows)).toEqual(plain(model));
  expectTrueKeys(records, items);
  expectTruePlaces(world, replayed);
  expectTrueEvents(world);
  expectTrueAnswers(world, replayed);
  expect((await Array.fromAsync(checkTable(schedule.table))).flat()).toEqual([]);
  for (const each of exports) expectTrueExport(each, replayed);
  await expectNothingNew(world, perform);
  await expectSameElsewhere(world, perform);
}

function expectTruePlaces({ schedule }: World, { entries, placeOf }: Replayed): void {
  for (const row of schedule.items()) {
    const place = placeOf.get(String(row.alert_id));
    if (place && row.title !== undefined)
      expect([row.incident_id, row.moved_sequence], `the place of ${row.alert_id}`).toEqual([place.to, place.sequence]);
    if (row.sk === 'HEAD') expect([row.entries ?? 0, row.pending ?? {}]).toEqual([entries.length, {}]);
  }
}

/** The alerts of an export are where they were after some entry. */
function expectTrueExport(
  { lines, commits: [first, last] }: World['exports'][number],
  { states, before }: Replayed,
): void {
  const exported = lines.map((line) => parseJson(line) as Record<string, string>).filter(({ alert_id }) => alert_id);
  const possible = states.filter(
    ({ commit }, index) => commit <= last && (states[index + 1]?.commit ?? Number.POSITIVE_INFINITY) > first,
  );
  const isAsAfter = ({ places }: Replayed['states'][number]) =>
    exported.every(({ alert_id: id = '', incident_id }) =>
      places.has(id) ? places.get(id) === incident_id : before.get(rowName(keys.alert(ACCOUNT, id)))?.has(incident_id),
    );
  expect(possible.some(isAsAfter), 'an export is the state after some entry').toBe(true);
}

/** All messages and the stream once more, and old exports, change nothing and tell nothing new. */
async function expectNothingNew(world: World, perform: Perform): Promise<void> {
  const { schedule, queues, bus, relayed, exports, nowMs } = world;
  const commits = schedule.commits.length;
  const events = bus.events.size;
  for (const { lines } of exports) await loadData(schedule.table, 'old export', lines, { nowMs: nowMs() });
  for (const queue of [queues.feed, queues.merges]) for (const message of queue.sent) queue.waiting.add(message);
  relayed.upTo = 0;
  await drain(world, perform);
  const changes = schedule.commits.slice(commits).flatMap((commit) => commit.changes);
  const isNew = ({ after, before }: (typeof changes)[number]) => {
    const { kind = '' } = parseKey((after ?? before) as unknown as Key) ?? {};
    // An import writes the rows of accounts and keys again. When the last record came is stored by best effort. What came while an item was
    // deleted changes it once it is restored.
    return !/^(account|appKey|lastRecord)$/.test(kind) && !(kind === 'workItem' && before?.undone_deletion);
  };
  expect(changes.filter(isNew), 'what repetition changes').toEqual([]);
  expectTrueItems(schedule.commits, shownRows(schedule.items()), new Map());
  const told = [...bus.events.values()].slice(events).map(({ type }) => type);
  expect(
    told.filter((type) => type !== 'WorkItemDeleted'),
    'what repetition tells',
  ).toEqual([]);
  expectTrueEvents(world);
}

/** An export gives an empty table the same rows, and all records once more change nothing there. */
async function expectSameElsewhere({ schedule, exports, nowMs, records }: World, perform: Perform): Promise<void> {
  await perform({ kind: 'export' });
  const { lines = [] } = exports.at(-1) ?? {};
  const changes: Change[] = [];
  const double = new TableDouble(new Map(), (of) => changes.push(...of));
  const table = connectDouble(async (request) => double.apply(request));
  await loadData(table, 'export', lines, { nowMs: nowMs() });
  const contentOf = (items: readonly Item[]) => {
    const rows = shownRows(items.filter(({ pk }) => !/#RETIREMENTS$/.test(String(pk))));
    // Elsewhere no call and no operator has deleted it.
    const {
      deleted_by: _by,
      deleted_request_id: _id,
      undone_deletion: _undone,
      ...item
    } = rows.get('work_item w') ?? {};
    return { ...plain(rows), 'work_item w': item, keys: openAlerts(items) };
  };
  expect(contentOf(double.items()), 'the rows of an imported export').toEqual(contentOf(schedule.items()));
  const imported = changes.length;
  // Neither retirements nor what merges took are in an export.
  const isOfCall = shownRows(schedule.items()).get('work_item w')?.deleted_request_id !== undefined;
  const isRepeated = ({ sent: { kind, incident_id } }: IngestRecord) =>
    !/^host/.test(kind) && incident_id === undefined && !(kind === 'work_item' && isOfCall);
  for (const group of byRow(records().filter(isRepeated))) await writeRow(table, group);
  expect(
    changes.slice(imported).filter(({ before }) => !before?.undone_deletion),
    'what records change after an import',
  ).toEqual([]);
}

/** The alert that each alert key has, if it is open. */
const openAlerts = (items: readonly Item[]) =>
  Object.fromEntries(
    items.flatMap(({ pk, sk, alert_id, is_open }) =>
      /#ALERT_KEYS#/.test(String(pk)) && is_open ? [[sk, alert_id]] : [],
    ),
  );
