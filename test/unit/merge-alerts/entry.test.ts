import { randomBytes } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { changeOf, entryRow } from '../../../lib/operations/merge-alerts/entry.ts';
import { isPending } from '../../../lib/operations/merge-alerts/log-head.ts';
import { SETTINGS } from '../../../lib/shared/settings.ts';
import type { HistoryEntry } from '../../../lib/table/rows.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../../limits-proxy/item-size.ts';

const objectId = () => randomBytes(12).toString('hex');
const own = objectId();
const BARE: HistoryEntry = {
  ...{ kind: 'merge', incident_id: own, sequence: 7, merge_id: objectId(), at_ms: 2_000_000_000_000 },
  ...{ by: 'k'.repeat(64), request_id: 'r'.repeat(36) },
};
const texts = { comment: '😀'.repeat(1_024), old_title: '😀'.repeat(512), new_title: '😀'.repeat(512) };

it('the row of the largest merge that a request can name stays below 400 KB', () => {
  const count = Math.floor(SETTINGS.maxBodyBytes.max / `"${own}",`.length);
  const moves = Array.from({ length: count }, () => ({ alertId: objectId(), from: objectId(), to: own }));
  expect(itemBytes(marshall(entryRow(1, { entry: { ...BARE, ...texts }, moves })))).toBeLessThan(MAX_ITEM_BYTES);
});

it.each<[Partial<HistoryEntry>, object]>([
  [{}, {}],
  [{ new_title: 'New' }, { old_title: '' }],
  [{ new_owner_id: 1 }, { old_owner_id: null }],
  [{ new_owner_id: 0, old_owner_id: 2 }, { old_owner_id: 2 }],
])('the change that an incident records of an entry with %j is %j, and names the change before', (fields, change) => {
  const entry = { ...BARE, ...fields };
  expect(changeOf(entry, {})).toStrictEqual({ sequence: 7, ...change });
  expect(changeOf(entry, {}, { sequence: 3 })).toMatchObject({ sequence: 7, previous_sequence: 3 });
});

it.each<[entry: Partial<HistoryEntry>, isPending: boolean]>([
  [{ sequence: 5, large: true }, true],
  [{ sequence: 6, large: true }, false],
  [{ sequence: 7, large: true }, true], // committed after the log head was read
  [{ sequence: 7 }, false],
])('beside pending entry 5 and latest entry 6, entry %j may be pending: %s', (fields, expected) => {
  const order = { last: 6, entries: 2, lastLarge: 6, pending: [{ sequence: 5, incidentId: own }] };
  expect(Boolean(isPending(order, { ...BARE, ...fields }))).toBe(expected);
});
