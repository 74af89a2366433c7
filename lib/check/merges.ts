/**
 * Whether an account's merges are whole: the feeds, read in the order of their entries, say where each alert is, and all else
 * follows them. A restored table may hold any part of the last transactions before its moment: an entry that is in a feed
 * is done, one that is not has never been.
 */
import type { AlertRow, Move } from '../incidents/feed.ts';
import type { FeedItem } from '../incidents/read.ts';
import { Condition, updateOf, valuesOf } from '../incidents/transaction.ts';
import type { Int64 } from '../json.ts';
import { type Key, keys, parseKey } from '../table/keys.ts';
import type { Finding, Fix } from './finding.ts';
import { checkIncidents } from './incidents.ts';
import { checkMergeOrder } from './merge-order.ts';
import type { CheckedAlert, MergeRows } from './merge-rows.ts';

/**
 * @param tableName what the fixes are written to
 * @param nowMs tells merges that should be finished; absent: they are not looked for
 */
export function checkMerges(rows: MergeRows, tableName: string, nowMs = 0): Finding[] {
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
  const remove = (key: Key): Fix => ({ Delete: { TableName: tableName, Key: { pk: key.pk, sk: key.sk } } });

  return [
    ...checkAlerts(rows, entries, tableName),
    ...checkIncidents(rows, entries, tableName),
    ...incomplete.map(
      ({ entry, alertIds }): Finding => ({
        kind: 'entry_incomplete',
        account,
        ids: { incident_id: entry.incident_id, sequence: entry.sequence },
        detail: `it takes ${entry.alerts} alerts and lists ${alertIds.length}: its commit is incomplete`,
        fixes: [remove(keys.feedEntry(account, entry.incident_id, entry.sequence))],
      }),
    ),
    ...orphaned.map((key): Finding => {
      const [incidentId = '', sequence = 0] = parseKey(key)?.parts ?? [];
      return {
        kind: 'entry_rows_orphaned',
        account,
        ids: { incident_id: String(incidentId), sequence: Number(sequence) },
        detail: `row ${key.sk} of a missing entry`,
        fixes: [remove(key)],
      };
    }),
    ...checkMergeOrder(rows, entries, tableName, nowMs),
    ...idempotencyKeys.flatMap(({ pk, sk, incident_id, sequence }): Finding[] =>
      sequence === undefined || has.has(entryName(String(incident_id), Number(sequence)))
        ? []
        : [
            {
              kind: 'idempotency_entry_missing',
              account,
              ids: { incident_id: String(incident_id), sequence: Number(sequence) },
              detail: 'a repeated call would be answered as done',
              fixes: [remove({ pk, sk })],
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

function* checkAlerts(
  { account, alerts }: MergeRows,
  entries: readonly FeedItem[],
  tableName: string,
): Generator<Finding> {
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
        place(tableName, account, alertId, alert, {
          incident_id: should,
          moved_sequence: last?.sequence,
          moved_from: last?.move.from,
        }),
      ],
    };
  }
}

/** Puts an alert where it belongs, if it is where it was read. */
function place(
  tableName: string,
  account: Int64,
  alertId: string,
  { incident_id, moved_sequence }: CheckedAlert,
  should: { [Name in 'incident_id' | 'moved_sequence' | 'moved_from']: AlertRow[Name] | undefined },
): Fix {
  const condition = new Condition();
  const { expression, values } = updateOf(should);
  const conditions = [
    'attribute_exists(pk)',
    condition.is('incident_id', incident_id),
    condition.is('moved_sequence', moved_sequence),
  ];
  return {
    Update: {
      TableName: tableName,
      Key: keys.alert(account, alertId),
      ...expression,
      ConditionExpression: conditions.join(' AND '),
      ...valuesOf({ ...condition.values, ...values }),
    },
  };
}
