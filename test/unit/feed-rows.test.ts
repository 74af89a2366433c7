import { randomBytes } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { changeOf, entryOf, entryRow } from '../../lib/operations/merge-alerts/entry.ts';
import { SETTINGS } from '../../lib/shared/settings.ts';
import type { HistoryEntry } from '../../lib/table/rows.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../limits-proxy/item-size.ts';

const objectId = () => randomBytes(12).toString('hex');
const ENTRY: HistoryEntry = {
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

describe('the row of a feed entry', () => {
  it('of the largest merge that a request can name stays below 400 KB', () => {
    const count = Math.floor(SETTINGS.maxBodyBytes.max / `"${objectId()}",`.length);
    const moves = Array.from({ length: count }, () => ({
      alertId: objectId(),
      from: objectId(),
      to: ENTRY.incident_id,
    }));
    expect(itemBytes(marshall(entryRow(1, { entry: ENTRY, moves })))).toBeLessThan(MAX_ITEM_BYTES);
  });

  it.each(['merge', 'merge_undone'] as const)('of a %s reads back to the moves that it was built from', (kind) => {
    const own = ENTRY.incident_id;
    const moves = [objectId(), undefined, own].map((other) => ({
      alertId: objectId(),
      ...(kind === 'merge' ? { from: other, to: own } : { from: own, to: other }),
    }));
    const found = { entry: { ...ENTRY, kind }, moves };
    expect(entryOf(entryRow(1, found))).toEqual(found);
  });
});

describe('the change that an incident records', () => {
  it.each<[Partial<HistoryEntry>, object]>([
    [{}, {}],
    [{ new_title: 'New' }, { old_title: '' }],
    [{ new_owner_id: 1 }, { old_owner_id: null }],
    [{ new_owner_id: 0, old_owner_id: 2 }, { old_owner_id: 2 }],
  ])('of an entry with %j is %j', (fields, change) => {
    const { comment: _comment, old_title: _old, new_title: _new, ...bare } = ENTRY;
    expect(changeOf({ ...bare, ...fields }, {})).toStrictEqual({ sequence: 7, ...change });
  });

  it('has the sequence of the previous change', () => {
    expect(changeOf(ENTRY, {}, { sequence: 3 })).toMatchObject({ sequence: 7, previous_sequence: 3 });
  });
});
