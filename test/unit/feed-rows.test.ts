import { randomBytes } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemBytes, MAX_ITEM_BYTES } from '../../lib/dynamodb/item-size.ts';
import { ofKind } from '../../lib/dynamodb/keys.ts';
import type { FeedEntry } from '../../lib/dynamodb/rows.ts';
import {
  changeOf,
  decodeAlertList,
  decodeMoves,
  gapsIn,
  largeEntryRows,
  listParts,
  type Move,
  movesRow,
  smallEntryRow,
} from '../../lib/operations/merge-alerts/feed.ts';

const sizeOf = (row: object) => itemBytes(marshall(row));

const objectId = () => randomBytes(12).toString('hex');
const ENTRY: FeedEntry = {
  kind: 'merge',
  incident_id: objectId(),
  sequence: 7,
  merge_id: objectId(),
  at_ms: 2_000_000_000_000,
  by: 'k'.repeat(64),
  request_id: 'r'.repeat(36),
  comment: '😀'.repeat(1_024),
  old_title: '😀'.repeat(512),
  new_title: '😀'.repeat(512),
};

const movesOf = (count: number): Move[] =>
  Array.from({ length: count }, () => ({ alertId: objectId(), from: objectId(), to: ENTRY.incident_id }));

const stayedOf = (alertIds: string[]): Move[] =>
  alertIds.map((alertId) => ({ alertId, from: ENTRY.incident_id, to: ENTRY.incident_id }));

describe('the rows of a feed entry', () => {
  it.each([
    [1, 2],
    [30_000, 2],
    [30_001, 3],
  ])('for a large merge of %i alerts are %i rows below 400 KB, which list the alerts in order', (count, rows) => {
    const ids = Array.from({ length: count }, objectId);
    const entryRows = largeEntryRows(1, ENTRY, ids);
    expect(entryRows).toHaveLength(rows);
    expect(entryRows[0]).toMatchObject({ ...ENTRY, large: true, alerts: count });
    for (const row of entryRows) expect(sizeOf(row)).toBeLessThan(MAX_ITEM_BYTES);
    expect(new Set(entryRows.map(({ pk, sk }) => `${pk} ${sk}`)).size).toBe(rows);
    expect(decodeAlertList(ofKind('feedAlerts', entryRows))).toEqual(ids);
  });

  it('for a small merge stay far below 400 KB, even if each of 100 alerts comes from another incident', () => {
    const moves = movesOf(100);
    const stayed = [objectId(), objectId()];
    const row = smallEntryRow(1, ENTRY, moves, stayedOf(stayed));
    expect(sizeOf(row)).toBeLessThan(MAX_ITEM_BYTES / 10);
    expect(decodeMoves(ENTRY, [row as never])).toEqual({ moves, stayed });
  });

  it('yield an alert once, even if two rows list it', () => {
    const moves = movesOf(3);
    const stayed = [objectId()];
    const ranges = [movesRow(1, ENTRY, { start: 0, end: 4 }, moves, stayedOf(stayed))];
    ranges.push(movesRow(1, ENTRY, { start: 3, end: 4 }, [], stayedOf(stayed)));
    expect(decodeMoves(ENTRY, ranges as never[])).toEqual({ moves, stayed });
  });

  it.each<[Partial<FeedEntry>, object]>([
    [{}, {}],
    [{ new_title: 'New' }, { old_title: '' }],
    [{ new_owner_id: 1 }, { old_owner_id: null }],
    [{ new_owner_id: 0, old_owner_id: 2 }, { old_owner_id: 2 }],
  ])('with the fields %j record the change %j on the incident', (fields, change) => {
    const { comment: _comment, old_title: _old, new_title: _new, ...bare } = ENTRY;
    expect(changeOf({ ...bare, ...fields })).toStrictEqual({ sequence: 7, ...change });
  });

  it('of an undo list the incidents to which alerts moved back', () => {
    const undo: FeedEntry = { ...ENTRY, kind: 'merge_undone', undone_sequence: 5 };
    const moves = [objectId(), undefined].map((to) => ({ alertId: objectId(), from: ENTRY.incident_id, to }));
    expect(decodeMoves(undo, [smallEntryRow(1, undo, moves, [])] as never[])).toEqual({ moves, stayed: [] });
  });
});

it('the gaps between ranges contain every index of the whole that is in no range, in order', () => {
  const indexesOf = ({ start, end }: { start: number; end: number }) =>
    Array.from({ length: end - start }, (_, index) => start + index);
  const range = fc.tuple(fc.nat(30), fc.nat(30)).map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) }));

  fc.assert(
    fc.property(range, fc.array(range), (whole, ranges) => {
      const gaps = gapsIn(whole, ranges);
      const isCovered = (index: number) => ranges.some(({ start, end }) => start <= index && index < end);
      expect(gaps.flatMap(indexesOf)).toEqual(indexesOf(whole).filter((index) => !isCovered(index)));
      for (const { start, end } of gaps) expect(end).toBeGreaterThan(start);
    }),
  );
});

it('the alert list of a large entry takes one row for every 30,000 alerts', () => {
  expect([0, 1, 30_000, 30_001].map(listParts)).toEqual([[], [0], [0], [0, 1]]);
  expect(listParts()).toEqual([]);
});

it('an incident records the sequence of its previous change', () => {
  expect(changeOf(ENTRY)).not.toHaveProperty('previous_sequence');
  expect(changeOf(ENTRY, { sequence: 3 })).toMatchObject({ sequence: 7, previous_sequence: 3 });
});
