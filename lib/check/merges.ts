/**
 * Whether an account's merges are whole: the feeds, read in the order of their entries, say where each alert is, and all else
 * follows them. A restored table may hold any part of the last transactions before its moment: an entry that is in a feed
 * is done, one that is not has never been.
 */
import type { Move } from '../incidents/feed.ts';
import type { FeedItem } from '../incidents/read.ts';
import type { AlertRow } from '../incidents/rows.ts';
import type { Int64 } from '../json.ts';
import { isAsRead, set } from '../table/expression.ts';
import { type Key, keys, parseKey } from '../table/keys.ts';
import { type Action, deleteAction, updateAction } from '../table/transact.ts';
import type { Finding } from './finding.ts';
import { checkIncidents } from './incidents.ts';
import { checkMergeOrder } from './merge-order.ts';
import type { CheckedAlert, MergeRows } from './merge-rows.ts';

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

  return [
    ...checkAlerts(rows, entries),
    ...checkIncidents(rows, entries),
    ...incomplete.map(
      ({ entry, alertIds }): Finding => ({
        kind: 'entry_incomplete',
        account,
        ids: { incident_id: entry.incident_id, sequence: entry.sequence },
        detail: `it takes ${entry.alerts} alerts and lists ${alertIds.length}: its commit is incomplete`,
        fixes: [deleteAction(keys.feedEntry(account, entry.incident_id, entry.sequence))],
      }),
    ),
    ...orphaned.map((key): Finding => {
      const [incidentId = '', sequence = 0] = parseKey(key)?.parts ?? [];
      return {
        kind: 'entry_rows_orphaned',
        account,
        ids: { incident_id: String(incidentId), sequence: Number(sequence) },
        detail: `row ${key.sk} of a missing entry`,
        fixes: [deleteAction(key)],
      };
    }),
    ...checkMergeOrder(rows, entries, nowMs),
    ...idempotencyKeys.flatMap((row): Finding[] =>
      row.sequence === undefined || has.has(entryName(row.incident_id, row.sequence))
        ? []
        : [
            {
              kind: 'idempotency_entry_missing',
              account,
              ids: { incident_id: row.incident_id, sequence: row.sequence },
              detail: 'a repeated call would be answered as done',
              fixes: [deleteAction(row, isAsRead(row, ['sequence']))],
            },
          ],
    ),
  ];
}

const entryName = (incidentId: string, sequence: number) => `${incidentId} ${sequence}`;

/** What the feeds say of an alert. */
interface Told {
  /** The latest move; absent: none has moved it. */
  last?: { move: Move; sequence: number };
  /** All entries that have moved it. */
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
  const told = replay(entries, alerts);
  for (const [alertId, alert] of alerts) {
    const { incident_id: current, moved_sequence: by, moved_from: from } = alert;
    const { last, sequences } = told.get(alertId) ?? {};
    if (by === last?.sequence && (!last || current === last.move.to)) continue;
    const should = last ? last.move.to : from;
    const isUnknown = by !== undefined && !sequences?.has(by);
    yield {
      kind: isUnknown ? 'alert_entry_missing' : 'alert_misplaced',
      account,
      ids: { alert_id: alertId, ...(by !== undefined && { sequence: by }) },
      detail: `it is in ${placeText(current)} and belongs in ${placeText(should)}${last ? `, by entry ${last.sequence}` : ', where it came from'}`,
      fixes: [
        place(account, alertId, alert, {
          incident_id: should,
          moved_sequence: last?.sequence,
          moved_from: last?.move.from,
        }),
      ],
    };
  }
}

/** Puts an alert where it belongs, if it is where it was read. */
const place = (
  account: Int64,
  alertId: string,
  was: CheckedAlert,
  should: { [Name in 'incident_id' | 'moved_sequence' | 'moved_from']: AlertRow[Name] | undefined },
): Action => updateAction(keys.alert(account, alertId), set(should), isAsRead(was, ['incident_id', 'moved_sequence']));
