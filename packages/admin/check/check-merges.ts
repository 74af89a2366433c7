/**
 * Checks that the merges of an account are complete. The feeds decide: their entries, in order, say where each alert
 * belongs, and all other rows must follow them. A table restored to a point in time may contain only a part
 * of the last transactions before that time. An entry that a feed has counts as committed, any other as never made.
 */
import { IS_NEW, isAsRead, set } from '../../../lib/dynamodb/expression.ts';
import { type Key, keys, parseKey } from '../../../lib/dynamodb/keys.ts';
import { conditionCheck, deleteAction, updateAction } from '../../../lib/dynamodb/transact.ts';
import { listParts, type Move } from '../../../lib/operations/merge-alerts/feed.ts';
import type { FeedEntryWithAlerts } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import { checkIncidents } from './check-incidents.ts';
import { checkMergeOrder } from './check-merge-order.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';

/** @param nowMs the current time, to report merges that are overdue; absent: these are not reported */
export function checkMerges(rows: MergeRows, nowMs = 0): Finding[] {
  const { account, orphans, idempotencyKeys } = rows;
  const isWhole = ({ entry, alertIds }: FeedEntryWithAlerts) => !entry.large || alertIds.length === entry.alerts;
  const incomplete = rows.entries.filter((item) => !isWhole(item));
  const entries = rows.entries.filter(isWhole).sort((a, b) => a.entry.sequence - b.entry.sequence);
  const entryNames = new Set(entries.map(({ entry }) => entryName(entry.incident_id, entry.sequence)));
  const isOfIncomplete = (key: Key) => {
    const [incidentId, sequence] = parseKey(key)?.parts ?? [];
    return incomplete.some(({ entry }) => entry.incident_id === incidentId && entry.sequence === sequence);
  };
  const orphaned = incomplete.length === 0 ? orphans : [...orphans, ...rows.rowsOfEntries.filter(isOfIncomplete)];

  const partsOf = (incidentId: string, sequence: number) =>
    new Set(
      rows.rowsOfEntries.flatMap((row) => {
        const { kind, parts: [incident, entry, part] = [] } = parseKey(row) ?? {};
        return kind === 'feedAlerts' && incident === incidentId && entry === sequence ? Number(part) : [];
      }),
    );

  const finding = findingsOf(account);

  return [
    ...checkAlerts(rows, entries),
    ...checkIncidents(rows, entries),
    ...incomplete.map(({ entry, alertIds }) => {
      const { incident_id, sequence, alerts } = entry;
      const detail = `it takes ${alerts} alerts and lists ${alertIds.length}: its commit is incomplete`;
      const remove = deleteAction(keys.feedEntry(account, incident_id, sequence));
      // The rows of a transaction may become visible one by one. If the missing row has appeared, nothing is removed.
      const missing = listParts(alerts).find((part) => !partsOf(incident_id, sequence).has(part)) ?? 0;
      const isMissing = conditionCheck(keys.feedAlerts(account, incident_id, sequence, missing), IS_NEW);
      return finding('entry_incomplete', { incident_id, sequence }, detail, remove, isMissing);
    }),
    ...orphaned.map((key) => {
      const [incidentId = '', sequence = 0] = parseKey(key)?.parts ?? [];
      const ids = { incident_id: String(incidentId), sequence: Number(sequence) };
      const isMissing = conditionCheck(keys.feedEntry(account, ids.incident_id, ids.sequence), IS_NEW);
      return finding('entry_rows_orphaned', ids, `row ${key.sk} of a missing entry`, deleteAction(key), isMissing);
    }),
    ...checkMergeOrder(rows, entries, nowMs),
    ...idempotencyKeys
      .filter(
        ({ incident_id, sequence }) => sequence !== undefined && !entryNames.has(entryName(incident_id, sequence)),
      )
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

/** What the feeds say about an alert. */
interface History {
  /** The latest move; absent: no entry has moved it. */
  last?: { move: Move; sequence: number };
  /** The latest entry that found the alert already in its incident, if that was after the latest move. */
  stay?: { incidentId: string; sequence: number };
  /** Sequence of the entry before the latest one. */
  previous?: number | undefined;
  sequences: Set<number>;
}

/** The history of each alert, from the entries in order; those before its last import do not count. */
function historiesOf(entries: readonly FeedEntryWithAlerts[], alerts: MergeRows['alerts']): Map<string, History> {
  const histories = new Map<string, History>();
  const record = (alertId: string, sequence: number, event: Pick<History, 'last' | 'stay'>) => {
    if ((alerts.get(alertId)?.loaded_after ?? 0) >= sequence) return;
    const { sequences = new Set<number>(), last, stay } = histories.get(alertId) ?? {};
    const previous = stay?.sequence ?? last?.sequence;
    histories.set(alertId, { ...(last && { last }), ...event, previous, sequences: sequences.add(sequence) });
  };
  for (const { entry, moves, stayed } of entries) {
    const { sequence, incident_id: incidentId } = entry;
    for (const move of moves) record(move.alertId, sequence, { last: { move, sequence } });
    for (const alertId of stayed) record(alertId, sequence, { stay: { incidentId, sequence } });
  }
  return histories;
}

const incidentText = (incidentId: string | undefined) => incidentId ?? 'no incident';

function* checkAlerts({ account, alerts }: MergeRows, entries: readonly FeedEntryWithAlerts[]): Generator<Finding> {
  const finding = findingsOf(account);
  const histories = historiesOf(entries, alerts);
  for (const [alertId, alert] of alerts) {
    const { incident_id: current, moved_sequence: by, moved_from: from, previous_sequence: previous } = alert;
    const { last, stay, previous: previousInFeeds, sequences } = histories.get(alertId) ?? {};
    const isRecorded = by === last?.sequence || (by !== undefined && sequences?.has(by) && by > (last?.sequence ?? 0));
    if (isRecorded && (by === undefined || current === (stay?.incidentId ?? last?.move.to))) continue;
    const expected = stay ? stay.incidentId : last ? last.move.to : from;
    const isUnknown = by !== undefined && !sequences?.has(by);
    const latest = stay?.sequence ?? last?.sequence;
    const why = latest === undefined ? 'where it came from' : `by entry ${latest}`;
    const ids = { alert_id: alertId, ...(by !== undefined && { sequence: by }) };
    if (isUnknown && latest === undefined && previous !== undefined && previous > (alert.loaded_after ?? 0)) {
      const detail = `entry ${previous}, which moved it before, is missing too: where it belongs is unknown`;
      yield finding('alert_entry_missing', ids, detail);
      continue;
    }
    yield finding(
      isUnknown ? 'alert_entry_missing' : 'alert_misplaced',
      ids,
      `it is in ${incidentText(current)} and belongs in ${incidentText(expected)}, ${why}`,
      updateAction(
        keys.alert(account, alertId),
        set({
          incident_id: expected,
          moved_sequence: latest,
          moved_from: stay ? stay.incidentId : last?.move.from,
          previous_sequence: previousInFeeds,
        }),
        isAsRead(alert, ['incident_id', 'moved_sequence']),
      ),
    );
  }
}
