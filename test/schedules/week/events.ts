/** Each commit that the service tells has one event, which nothing else has. */
import { expect } from 'vitest';
import { type Key, parseKey } from '../../../lib/table/keys.ts';
import type { Change } from '../../table-double/table-double.ts';
import type { World } from './world.ts';

/** What an event tells, as far as a test can say without the product's own code; undefined if the change has no event. */
function toldOf({ before, after }: Change, finals: ReadonlyMap<unknown, unknown>): string | undefined {
  const row = after as unknown as (Key & Record<string, unknown>) | undefined;
  if (!row) return undefined;
  const completed = row.completed as { sequence: number } | undefined;
  switch (parseKey(row)?.kind) {
    case 'historyEntry':
      return before ? undefined : `${row.kind === 'merge' ? 'AlertsMerged' : 'MergeUndone'} ${row.sequence}`;
    case 'logHead': {
      const isNew = completed && completed.sequence !== (before?.completed as typeof completed)?.sequence;
      return isNew && finals.get(completed.sequence) === 'merge' ? `MergeCompleted ${completed.sequence}` : undefined;
    }
    case 'workItem': {
      const isDeleted = row.deleted_at_ms !== undefined && before?.deleted_at_ms === undefined;
      return isDeleted ? `WorkItemDeleted ${row.version} ${row.deleted_at_ms}` : undefined;
    }
    case 'alert': {
      if (row.alert_key === undefined) return undefined;
      if (!before) return `${row.ended_at_ms === undefined ? 'AlertTriggered' : 'AlertResolved'} ${row.alert_id}`;
      const hasEnded = row.ended_at_ms !== undefined && before.ended_at_ms === undefined;
      return hasEnded ? `AlertResolved ${row.alert_id}` : undefined;
    }
    case 'audit':
      return `${row.event} ${row.at_ms}`;
    default:
      return undefined;
  }
}

export function expectTrueEvents({ schedule, bus }: World): void {
  const kinds = new Map(schedule.items().flatMap(({ sequence, kind }) => (kind ? [[sequence, kind] as const] : [])));
  const told = schedule.commits.flatMap(({ changes }) => changes.flatMap((change) => toldOf(change, kinds) ?? []));
  const events = [...bus.events.values()].map(({ type, detail }) => {
    const { sequence, work_item_version: version, at_ms, alert_id } = detail;
    return `${type} ${type === 'WorkItemDeleted' ? `${version} ` : ''}${sequence ?? alert_id ?? at_ms}`;
  });
  expect(events.sort(), 'the events of all commits').toEqual(told.sort());
  for (const { texts } of bus.events.values()) expect([...texts], 'one event for an id').toHaveLength(1);
}
