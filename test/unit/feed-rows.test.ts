import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type FeedEntry, feedRows, type Move, readAlerts } from '../../lib/incidents/feed.ts';

/** Bytes of a value as DynamoDB counts them for its limit of 400 KB a row. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + sizeOf(one) + 1, 3);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce((sum, [name, one]) => sum + sizeOf(name) + sizeOf(one) + 1, 3);
}

const objectId = () => randomBytes(12).toString('hex');
const ENTRY: FeedEntry = {
  kind: 'merge',
  incident_id: objectId(),
  stamp: 7,
  merge_id: objectId(),
  at_ms: 2_000_000_000_000,
  by: 'k'.repeat(64),
  request_id: 'r'.repeat(36),
  comment: '😀'.repeat(1_024),
  old_title: '😀'.repeat(512),
  new_title: '😀'.repeat(512),
  parts: 0,
  pending: true,
};

describe('the rows of a feed entry', () => {
  it.each([
    [0, 1],
    [4_000, 1],
    [4_001, 2],
    [8_000, 2],
    [8_001, 3],
  ])('of %i alerts, each from an incident of its own, are %i, none above 400 KB', (count, rows) => {
    const moves: Move[] = Array.from({ length: count }, () => ({
      alertId: objectId(),
      from: objectId(),
      to: ENTRY.incident_id,
    }));
    const all = feedRows(1, ENTRY, moves, []);
    expect(all).toHaveLength(rows);
    expect(all[0]).toMatchObject({ parts: rows - 1 });
    for (const row of all) expect(sizeOf(row)).toBeLessThan(400 * 1_024);
    expect(new Set(all.map(({ pk, sk }) => `${pk} ${sk}`)).size).toBe(rows);
    expect(readAlerts({ ...ENTRY, parts: rows - 1 }, all)).toEqual({ moves, stayed: [] });
  });

  it('tell which alerts stayed, wherever the rows part', () => {
    const moves: Move[] = Array.from({ length: 3_999 }, () => ({
      alertId: objectId(),
      from: undefined,
      to: ENTRY.incident_id,
    }));
    const stayed = [objectId(), objectId()];
    const all = feedRows(1, ENTRY, moves, stayed);
    expect(all).toHaveLength(2);
    expect(readAlerts({ ...ENTRY, parts: 1 }, all)).toEqual({ moves, stayed });
  });
});
