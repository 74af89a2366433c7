/**
 * Checks that the merges of an account are complete. The entries that there are, in order, say where each alert belongs, and all other rows must
 * follow them. Of a restored table or a replica each row may be of another moment. An entry that is there counts as committed, even if the
 * incident of its history has not arrived; any other as never made.
 */

import { bySequence, type EntryWithMoves, type Move, originsOf } from '../../../lib/operations/merge-alerts/entry.ts';
import { SETTINGS } from '../../../lib/shared/settings.ts';
import { IS_NEW, is, isAsRead, set } from '../../../lib/table/expression.ts';
import { keys, type Stored } from '../../../lib/table/keys.ts';
import type { HistoryEntry } from '../../../lib/table/rows.ts';
import { conditionCheck, deleteAction, putAction, updateAction } from '../../../lib/table/write.ts';
import { checkAlertKeys } from './check-alert-keys.ts';
import { checkAlerts } from './check-alerts.ts';
import { checkHead } from './check-head.ts';
import { checkIncidents } from './check-incidents.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { MergeRows } from './read-rows.ts';
import { hasOtherOrigins, trueMoves } from './true-moves.ts';

export interface When {
  /** The current time; absent: no merge is overdue, and no row has expired. */
  nowMs?: number | undefined;
  /** An unfinished merge is reported this long after its commit; finish-merges begins within a minute. */
  overdueMs?: number;
}

export function checkMerges(rows: MergeRows, { nowMs = 0, overdueMs = 5 * 60_000 }: When = {}): Finding[] {
  const entries = bySequence(rows.entries);
  const moves = trueMoves(entries, rows.alerts);
  return [
    ...checkHead(rows, entries, nowMs - overdueMs),
    ...checkReferences(rows, entries, nowMs),
    ...checkAlerts(rows, moves),
    ...checkAlertKeys(rows),
    ...checkIncidents(rows, entries),
    ...checkLog(rows, entries),
    ...checkOrigins(rows, entries, moves),
    ...checkIdempotencyKeys(rows, entries),
  ];
}

/**
 * Nothing tells whether an alert that is missing has expired, or has not arrived with its entry. No setting lets one expire sooner after its
 * end. Of alerts that had ended before, the entry says when the first expires.
 */
const MAY_EXPIRE_MS = SETTINGS.endedAlertDays.min * 24 * 3_600_000;

/** Checks that what rows name exists: records of the feed may name it first, and of a replica it may not have arrived. */
function* checkReferences(
  { account, alerts, incidents, members }: MergeRows,
  entries: readonly EntryWithMoves[],
  nowMs: number,
): Generator<Finding> {
  const finding = findingsOf(account);
  for (const [alert_id, { incident_id }] of alerts)
    if (incident_id !== undefined && !incidents.has(incident_id)) {
      const detail = 'a record or an import may bring the incident';
      yield finding('alert_incident_missing', { alert_id, incident_id }, detail);
    }
  for (const [incident_id, { owner_id }] of incidents)
    if (owner_id !== undefined && !members.has(String(owner_id)))
      yield finding('incident_owner_missing', { incident_id }, `a record or an import may bring member ${owner_id}`);
  for (const [incident_id, { entry }] of new Map(entries.map((each) => [each.entry.incident_id, each])))
    if (!incidents.has(incident_id)) {
      const detail =
        'a record or an import may bring the incident: then `repair` gives it the title and owner of its history';
      yield finding('entry_incident_missing', { incident_id, sequence: entry.sequence }, detail);
    }
  const mayLackAlerts = ({ at_ms, expires_from = Number.POSITIVE_INFINITY }: HistoryEntry) =>
    Math.min(at_ms + MAY_EXPIRE_MS, 1_000 * expires_from) <= nowMs;
  const missing = entries.flatMap(({ entry, moves }) =>
    moves.flatMap(({ alertId }) =>
      alerts.has(alertId) || mayLackAlerts(entry) ? [] : [[alertId, entry.sequence] as const],
    ),
  );
  for (const [alert_id, sequence] of new Map(missing))
    yield finding(
      'entry_alert_missing',
      { alert_id, sequence },
      'a record or an import may bring the alert: then `repair` puts it where its history does',
    );
}

/** Checks that the log lists exactly the entries. */
function* checkLog({ account, log }: MergeRows, entries: readonly EntryWithMoves[]): Generator<Finding> {
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
}

/** Checks that entries tell truly where their alerts came from, and undos where they went. */
function* checkOrigins(
  { account, head }: MergeRows,
  entries: readonly EntryWithMoves[],
  moves: readonly EntryWithMoves[],
): Generator<Finding> {
  const finding = findingsOf(account);
  const pending = new Set(head.pending?.map(({ sequence }) => sequence));
  for (const [index, found] of entries.entries()) {
    const truth = moves[index] as EntryWithMoves;
    const { incident_id, sequence } = found.entry;
    if (!hasOtherOrigins(found, truth, { entries, isPending: pending.has(sequence) })) continue;
    const unknown = unknownEntry(found, truth, entries.slice(0, index));
    const [kind, detail] = unknown
      ? (['merged_in_two_regions', unknown] as const)
      : ([
          'entry_origins_outdated',
          'it names incidents that its alerts had left before, or that only a missing entry put them in',
        ] as const);
    const correct = updateAction(
      keys.historyEntry(account, incident_id, sequence),
      set({ taken_before: undefined, ...originsOf(found.entry, truth.moves) }),
      is('other_ids', originsOf(found.entry, found.moves).other_ids),
    );
    yield finding(kind, { incident_id, sequence }, detail, correct);
  }
}

/**
 * Says which earlier entry of another region moved one of its alerts without its knowledge; undefined: none did.
 * @param before the entries before it, oldest first
 */
function unknownEntry(found: EntryWithMoves, truth: EntryWithMoves, before: readonly EntryWithMoves[]) {
  for (const [index, { alertId, from, to }] of found.moves.entries()) {
    const { from: trueFrom, to: trueTo } = truth.moves[index] as Move;
    if (from === trueFrom && to === trueTo) continue;
    const last = before.findLast(({ moves }) => moves.some((move) => move.alertId === alertId))?.entry;
    const { region } = found.entry;
    if (last && region !== undefined && last.region !== undefined && last.region !== region)
      return `region ${last.region} moved alert ${alertId} by entry ${last.sequence} of incident ${last.incident_id}, and region ${region} did not know: this later entry counts`;
  }
  return undefined;
}

function* checkIdempotencyKeys(
  { account, idempotencyKeys }: MergeRows,
  entries: readonly EntryWithMoves[],
): Generator<Finding> {
  const incidentOf = new Map(entries.map(({ entry }) => [entry.sequence, entry.incident_id]));
  for (const row of idempotencyKeys) {
    const { incident_id, sequence } = row;
    if (sequence === undefined || incidentOf.get(sequence) === incident_id) continue;
    const detail = 'a repeated call would be answered as done';
    const forget = deleteAction(row, isAsRead(row, ['sequence']));
    yield findingsOf(account)('idempotency_entry_missing', { incident_id, sequence }, detail, forget);
  }
}
