/**
 * Checks that the merges of an account are complete. The histories decide: their entries, in order, say where each alert
 * belongs, and all other rows must follow them. A table restored to a point in time may contain only a part
 * of the last transactions before that time. An entry that a history has counts as committed, any other as never made.
 */

import { bySequence, type EntryWithMoves, entryRow, type Move } from '../../../lib/operations/merge-alerts/entry.ts';
import { withOrigins } from '../../../lib/operations/merge-alerts/finish.ts';
import { pendingAt } from '../../../lib/operations/merge-alerts/log-head.ts';
import { EXISTS, expression, IS_NEW, isAsRead, isBelow, set } from '../../../lib/table/expression.ts';
import { keys, type Stored } from '../../../lib/table/keys.ts';
import { conditionCheck, deleteAction, putAction, updateAction } from '../../../lib/table/write.ts';
import { checkAlertKeys } from './check-alert-keys.ts';
import { checkIncidents } from './check-incidents.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';

/** An unfinished merge is reported this long after its commit; finish-merges begins within a minute. */
const OVERDUE_MS = 5 * 60_000;

/** @param nowMs the current time, to report merges that are overdue; absent: these are not reported */
export function checkMerges(rows: MergeRows, nowMs = 0): Finding[] {
  const { account, idempotencyKeys } = rows;
  const finding = findingsOf(account);
  const entries = bySequence(rows.entries);
  const incidentOf = new Map(entries.map(({ entry }) => [entry.sequence, entry.incident_id]));
  const forgotten = idempotencyKeys.filter(
    ({ incident_id, sequence }) => sequence !== undefined && incidentOf.get(sequence) !== incident_id,
  );
  return [
    ...checkReferences(rows),
    ...checkAlerts(rows, entries),
    ...checkAlertKeys(rows),
    ...checkIncidents(rows, entries),
    ...checkHead(rows, entries, nowMs),
    ...checkLog(rows, entries),
    ...forgotten.map((row) => {
      const { incident_id, sequence } = row;
      const detail = 'a repeated call would be answered as done';
      const forget = deleteAction(row, isAsRead(row, ['sequence']));
      return finding('idempotency_entry_missing', { incident_id, sequence }, detail, forget);
    }),
  ];
}

/** Checks that the incidents of alerts and the owners of incidents exist: records of the feed may name them first. */
function* checkReferences({ account, alerts, incidents, members }: MergeRows): Generator<Finding> {
  const finding = findingsOf(account);
  for (const [alert_id, { incident_id }] of alerts)
    if (incident_id !== undefined && !incidents.has(incident_id))
      yield finding(
        'alert_incident_missing',
        { alert_id, incident_id },
        'a record or an import may bring the incident',
      );
  for (const [incident_id, { owner_id }] of incidents)
    if (owner_id !== undefined && !members.has(String(owner_id)))
      yield finding('incident_owner_missing', { incident_id }, `a record or an import may bring member ${owner_id}`);
}

const incidentText = (incidentId: string | undefined) => incidentId ?? 'no incident';

/** Checks that each alert is where the latest entry that took it put it, and records that entry. */
function* checkAlerts({ account, alerts, head }: MergeRows, entries: readonly EntryWithMoves[]): Generator<Finding> {
  const finding = findingsOf(account);
  const pending = new Set(head.pending?.map(({ sequence }) => sequence));
  const known = new Set(entries.map(({ entry }) => entry.sequence));
  /** The latest entry of each alert, and the one before it. */
  const latest = new Map<string, Move & { sequence: number; previous: number | undefined }>();
  for (const { entry, moves } of entries)
    for (const move of moves)
      latest.set(move.alertId, { ...move, sequence: entry.sequence, previous: latest.get(move.alertId)?.sequence });
  for (const [alertId, alert] of alerts) {
    const { incident_id: current, moved_sequence: by, moved_from: from, previous_sequence: previous } = alert;
    const last = latest.get(alertId);
    if (by === last?.sequence && (last === undefined || current === last.to)) continue;
    const isUnknown = by !== undefined && !known.has(by);
    // The entry is to be finished yet.
    if (last && pending.has(last.sequence) && !isUnknown && (by ?? 0) < last.sequence) continue;
    const ids = { alert_id: alertId, ...(by !== undefined && { sequence: by }) };
    if (isUnknown && !last && previous !== undefined) {
      const detail = `entry ${previous}, which moved it before, is missing too: where it belongs is unknown`;
      yield finding('alert_entry_missing', ids, detail);
      continue;
    }
    const expected = last ? last.to : from;
    const why = last ? `by entry ${last.sequence}` : 'where it came from';
    yield finding(
      isUnknown ? 'alert_entry_missing' : 'alert_misplaced',
      ids,
      `it is in ${incidentText(current)} and belongs in ${incidentText(expected)}, ${why}`,
      updateAction(
        keys.alert(account, alertId),
        set({
          incident_id: expected,
          moved_sequence: last?.sequence,
          moved_from: last?.from,
          previous_sequence: last?.previous,
          event: undefined,
        }),
        isAsRead(alert, ['incident_id', 'moved_sequence']),
      ),
    );
  }
}

/** Checks that the log head has the latest sequences, and that all its pending entries exist and are not overdue. */
function* checkHead(
  { account, head }: MergeRows,
  entries: readonly EntryWithMoves[],
  nowMs: number,
): Generator<Finding> {
  const finding = findingsOf(account);
  const key = keys.logHead(account);
  const large = entries.filter(({ entry }) => entry.large);
  for (const [name, stored, latest] of [
    ['last', head.last, entries.at(-1)],
    ['last_large', head.lastLarge ?? 0, large.at(-1)],
  ] as const) {
    const sequence = latest?.entry.sequence ?? 0;
    const raise = updateAction(key, set({ [name]: sequence }), isBelow(name, sequence));
    if (sequence > stored)
      yield finding('log_head_behind', { sequence }, `its ${name} is ${stored || 'absent'}`, raise);
  }
  for (const { sequence, incidentId: incident_id } of head.pending ?? []) {
    const found = entries.find(({ entry }) => entry.sequence === sequence && entry.incident_id === incident_id);
    const ids = { incident_id, sequence };
    const isPending = expression`${pendingAt(sequence)} = ${incident_id}`;
    if (!found) {
      const remove = updateAction(key, expression`REMOVE ${pendingAt(sequence)}`, isPending);
      yield finding('pending_entry_missing', ids, 'every further merge would look for it', remove);
    } else if (nowMs - found.entry.at_ms > OVERDUE_MS)
      // The fix is only this condition, since every repair finishes the pending merges.
      yield finding('merge_unfinished', ids, 'alerts of it are left to move', conditionCheck(key, isPending));
  }
}

/** Checks that the log lists exactly the entries of the histories, and that the origins of finished large merges are true. */
function* checkLog({ account, head, log }: MergeRows, entries: readonly EntryWithMoves[]): Generator<Finding> {
  const finding = findingsOf(account);
  const unlisted = new Map(entries.map(({ entry }) => [entry.sequence, entry]));
  for (const pointer of log) {
    const { incident_id } = pointer;
    const sequence = Number(pointer.sk);
    if (unlisted.get(sequence)?.incident_id === incident_id) unlisted.delete(sequence);
    else {
      const isMissing = conditionCheck(keys.historyEntry(account, incident_id, sequence), IS_NEW);
      const detail = 'the log of the account names it';
      yield finding('log_entry_missing', { incident_id, sequence }, detail, deleteAction(pointer), isMissing);
    }
  }
  for (const { incident_id, sequence } of unlisted.values()) {
    const pointer: Stored<'logPointer'> = { ...keys.logPointer(account, sequence), incident_id };
    yield finding(
      'entry_unlisted',
      { incident_id, sequence },
      'the log of the account does not name it',
      putAction(pointer),
    );
  }
  const pending = new Set(head.pending?.map(({ sequence }) => sequence));
  for (const found of entries) {
    const { incident_id, sequence, read_since } = found.entry;
    if (read_since === undefined || pending.has(sequence)) continue;
    const since = entries.filter(({ entry }) => entry.sequence > read_since.last);
    const { pk, sk, other_ids } = entryRow(account, withOrigins(found, since));
    if (Buffer.compare(other_ids, entryRow(account, found).other_ids) === 0) continue;
    const detail = 'it names incidents that its alerts had left before';
    const settle = updateAction({ pk, sk }, set({ other_ids }), EXISTS);
    yield finding('entry_origins_outdated', { incident_id, sequence }, detail, settle);
  }
}
