import { randomBytes } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import type { IncidentRow } from '../../../lib/model/incident.ts';
import { orderOfTime } from '../../../lib/model/order.ts';
import { entryOf, entryRow } from '../../../lib/operations/merge-alerts/entry.ts';
import { changesOf } from '../../../lib/operations/merge-alerts/incident.ts';
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
  const moves = Array.from({ length: count }, () => ({
    ...{ alertId: objectId(), from: objectId(), to: own, takenBefore: true as const },
  }));
  expect(itemBytes(marshall(entryRow(1, { entry: { ...BARE, ...texts }, moves })))).toBeLessThan(MAX_ITEM_BYTES);
});

const FROM_FEED = { title: 'Fed', title_order: orderOfTime(5), owner_id: 2, owner_order: orderOfTime(6) };
const AT = orderOfTime(BARE.at_ms);
it.each<[Partial<HistoryEntry>, Partial<IncidentRow>, object]>([
  [{}, FROM_FEED, {}],
  [
    { new_title: 'New' },
    FROM_FEED,
    { title: 'New', title_order: AT, title_by: 7, feed_title: 'Fed', feed_title_order: orderOfTime(5) },
  ],
  [{ new_title: 'New' }, { ...FROM_FEED, feed_title: 'First' }, { title: 'New', title_order: AT, title_by: 7 }],
  [
    { new_owner_id: 0 },
    FROM_FEED,
    { owner_id: 0, owner_order: AT, owner_by: 7, feed_owner_id: 2, feed_owner_order: orderOfTime(6) },
  ],
  [{ new_owner_id: 1 }, { title: '' }, { owner_id: 1, owner_order: AT, owner_by: 7, feed_owner_id: null }],
  [{ new_owner_id: 1 }, { feed_owner_id: null }, { owner_id: 1, owner_order: AT, owner_by: 7 }],
])('an entry with %j changes of an incident with %j: %j', (fields, incident, changes) => {
  expect(changesOf({ ...BARE, ...fields }, incident)).toStrictEqual(changes);
});

it('an entry keeps which of its alerts an earlier entry had taken', () => {
  const moves = Array.from({ length: 19 }, (_, index) => ({
    ...{ alertId: objectId(), from: objectId(), to: own },
    ...([0, 7, 8, 18].includes(index) && { takenBefore: true as const }),
  }));
  expect(entryOf(entryRow(1, { entry: BARE, moves }))).toEqual({ entry: BARE, moves });
  const first = moves.map(({ takenBefore: _taken, ...move }) => move);
  expect(entryRow(1, { entry: BARE, moves: first })).not.toHaveProperty('taken_before');
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
