/**
 * Whether an account's merges are whole: the feeds, read in the order of their entries, say where each alert is, and all else
 * follows them. A restored table may hold any part of the last transactions before its moment: an entry that is in a feed
 * is done, one that is not has never been.
 */
import type { Move } from '../incidents/feed.ts';
import type { FeedItem } from '../incidents/read.ts';
import { isAsRead, set } from '../table/expression.ts';
import { type Key, keys, parseKey } from '../table/keys.ts';
import { deleteAction, updateAction } from '../table/transact.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkIncidents } from './incidents.ts';
import { checkMergeOrder } from './merge-order.ts';
import type { MergeRows } from './read.ts';

/** @param nowMs tells merges that should be finished; absent: they are not looked for */
export function checkMerges(rows: MergeRows, nowMs = 0): Finding[] {
  const { account, orphans, idempotencyKeys } = rows;
  const isWhole = ({ entry, alertIds }: FeedItem) => !entry.large || alertIds.length === entry.alerts;
  const incomplete = rows.entries.filter((item) => !isWhole(item));
  const entries = rows.entries.filter(isWhole).sort((one, other) => one.entry.sequence - other.entry.sequence);
  const has = new Set(entries.map(({ entry }) => entryName(entry.incident_id, entry.sequence)));
  const isOfIncomplete = (key: Key) => {
    const [incidentId, sequence] = parseKey(key)?.parts ?? [];
    return incomplete.some(({ entry }) => entry.incident_id === incidentId && entry.sequence === sequence);
  };
  const orphaned = incomplete.length === 0 ? orphans : [...orphans, ...rows.rowsOfEntries.filter(isOfIncomplete)];

  const finding = findingsOf(account);

  return [
    ...checkAlerts(rows, entries),
    ...checkIncidents(rows, entries),
    ...incomplete.map(({ entry, alertIds }) => {
      const { incident_id, sequence, alerts } = entry;
      const detail = `it takes ${alerts} alerts and lists ${alertIds.length}: its commit is incomplete`;
      const remove = deleteAction(keys.feedEntry(account, incident_id, sequence));
      return finding('entry_incomplete', { incident_id, sequence }, detail, remove);
    }),
    ...orphaned.map((key) => {
      const [incidentId = '', sequence = 0] = parseKey(key)?.parts ?? [];
      const ids = { incident_id: String(incidentId), sequence: Number(sequence) };
      return finding('entry_rows_orphaned', ids, `row ${key.sk} of a missing entry`, deleteAction(key));
    }),
    ...checkMergeOrder(rows, entries, nowMs),
    ...idempotencyKeys
      .filter(({ incident_id, sequence }) => sequence !== undefined && !has.has(entryName(incident_id, sequence)))
      .map((row) => {
        const { incident_id, sequence } = row;
        const detail = 'a repeated call would be answered as done';
        return finding(
          'idempotency_entry_missing',
          { incident_id, sequence },
          detail,
          deleteAction(row, isAsRead(row, ['sequence'])),
        );
      }),
  ];
}

const entryName = (incidentId: string, sequence: number) => `${incidentId} ${sequence}`;

interface Told {
  /** The latest move; absent: none has moved it. */
  last?: { move: Move; sequence: number };
  sequences: Set<number>;
}

/** Reads the entries in their order. An alert that was loaded again is told of only by entries after that. */
function replay(entries: readonly FeedItem[], alerts: MergeRows['alerts']): Map<string, Told> {
  const told = new Map<string, Told>();
  for (const { entry, moves } of entries)
    for (const move of moves) {
      if ((alerts.get(move.alertId)?.loaded_after ?? 0) >= entry.sequence) continue;
      const one = told.get(move.alertId) ?? { sequences: new Set() };
      one.last = { move, sequence: entry.sequence };
      one.sequences.add(entry.sequence);
      told.set(move.alertId, one);
    }
  return told;
}

const placeText = (incidentId: string | undefined) => incidentId ?? 'no incident';

function* checkAlerts({ account, alerts }: MergeRows, entries: readonly FeedItem[]): Generator<Finding> {
  const finding = findingsOf(account);
  const told = replay(entries, alerts);
  for (const [alertId, alert] of alerts) {
    const { incident_id: current, moved_sequence: by, moved_from: from } = alert;
    const { last, sequences } = told.get(alertId) ?? {};
    if (by === last?.sequence && (!last || current === last.move.to)) continue;
    const should = last ? last.move.to : from;
    const isUnknown = by !== undefined && !sequences?.has(by);
    const why = last ? `by entry ${last.sequence}` : 'where it came from';
    yield finding(
      isUnknown ? 'alert_entry_missing' : 'alert_misplaced',
      { alert_id: alertId, ...(by !== undefined && { sequence: by }) },
      `it is in ${placeText(current)} and belongs in ${placeText(should)}, ${why}`,
      updateAction(
        keys.alert(account, alertId),
        set({ incident_id: should, moved_sequence: last?.sequence, moved_from: last?.move.from }),
        isAsRead(alert, ['incident_id', 'moved_sequence']),
      ),
    );
  }
}
