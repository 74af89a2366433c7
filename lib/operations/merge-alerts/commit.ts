/** Commits merges and undos. `protocol.md` has the steps and invariants. */

import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { IncidentRow } from '../../model/incident.ts';
import { backoff, forEach, LOG_HEAD_CONFLICT, THROTTLING } from '../../shared/concurrency.ts';
import type { Int64 } from '../../shared/json.ts';
import type { Table } from '../../table/client.ts';
import { EXISTS, expression, IS_NEW, isAsRead, set } from '../../table/expression.ts';
import { type Key, type KeyOf, keys, parseKey, type Stored } from '../../table/keys.ts';
import { getRow } from '../../table/read.ts';
import {
  type Action,
  conditionCheck,
  putAction,
  readPastSignal,
  settle,
  type TransactionResult,
  transactOnce,
  updateAction,
} from '../../table/write.ts';
import { AlertsTooLargeError, type Assignments, latestEntryOf, type MergeLimits, moveActions } from './alerts.ts';
import { type EntryWithMoves, entryRow } from './entry.ts';
import { finishEntry } from './finish.ts';
import { changesOf, OWNER_ATTRIBUTES, TITLE_ATTRIBUTES } from './incident.ts';
import { headActions, type LogHead, logHeadOf } from './log-head.ts';

/** Of the row that makes a repeated call a no-op. Times are Unix seconds. */
export interface Idempotency {
  key: KeyOf<'idempotency'>;
  bodyHash: string;
  nowSeconds: number;
  ttl: number;
}

/** A merge or undo that is ready to be committed. */
export interface PreparedEntry extends EntryWithMoves {
  account: Int64;
  /** The rows of its alerts, as read. A small commit is conditional on them. */
  rows: Assignments;
  /** As read. */
  incident: IncidentRow;
  head: LogHead;
  /** A member that must exist. */
  owner?: Int64;
  idempotency?: Idempotency;
}

export interface CommitOptions<Result> extends MergeLimits {
  /**
   * Reads what the entry depends on, before each attempt.
   * @param head the current log head, if nothing else has changed since the previous attempt
   * @returns `result`: there is nothing to commit
   */
  prepare(head: LogHead | undefined): Promise<{ prepared: PreparedEntry } | { result: Result }>;
}

/** A committed entry. `unfinished`: why the rows of some of its alerts are not written yet; finish-merges writes them. */
export interface CommittedEntry {
  committed: EntryWithMoves;
  unfinished?: { error: unknown };
}

/**
 * Commits an entry and moves its alerts; retries while others change what it depends on.
 * @param table its signal ends the attempts to commit, and the moves
 * @throws what `prepare` and {@link commit} throw: nothing is committed, or the outcome is unknown
 */
export async function commitAndMove<Result>(
  table: Table,
  { prepare, transactionItems }: CommitOptions<Result>,
): Promise<CommittedEntry | { result: Result }> {
  const attempts: PreparedEntry[] = [];
  let head: LogHead | undefined;
  for (;;) {
    const preparation = await prepare(head);
    if ('result' in preparation) return preparation;
    const result = await commit(table, preparation.prepared, attempts);
    if ('head' in result) {
      head = result.head;
      continue;
    }
    const { account, entry, moves, rows } = result.committed;
    const committed = { entry, moves };
    if (!entry.large) return { committed };
    try {
      const options = { known: rows, transactionItems };
      return { committed: await finishEntry(table, account, committed, options) };
    } catch (error) {
      return { committed, unfinished: { error } };
    }
  }
}

/** Changes title and owner if they are as read, since the entry records the previous values. */
function incidentActions({ account, entry, incident }: PreparedEntry): Action[] {
  const { new_title, new_owner_id } = entry;
  const asRead = [
    ...(new_title === undefined ? [] : TITLE_ATTRIBUTES),
    ...(new_owner_id === undefined ? [] : OWNER_ATTRIBUTES),
  ];
  if (asRead.length === 0) return [];
  const update = set(changesOf(entry, incident));
  return [updateAction(keys.incident(account, entry.incident_id), update, isAsRead(incident, asRead))];
}

function actionsOf(prepared: PreparedEntry): Action[] {
  const { account, entry, moves, rows, head, owner, idempotency } = prepared;
  const actions = [
    putAction(entryRow(account, prepared), IS_NEW),
    ...headActions(account, entry, head),
    ...incidentActions(prepared),
  ];
  if (owner !== undefined) actions.push(conditionCheck(keys.member(account, owner), EXISTS));
  if (idempotency) {
    const { key, bodyHash: body_hash, ttl, nowSeconds } = idempotency;
    const { incident_id, sequence } = entry;
    const row: Stored<'idempotency'> = { ...key, body_hash, ttl, incident_id, sequence };
    actions.push(putAction(row, expression`${IS_NEW} OR #ttl <= ${nowSeconds}`));
  }
  return entry.large ? actions : [...actions, ...moveActions(account, entry.sequence, moves, rows)];
}

/** `head`: not committed; the current log head, if nothing else that the entry depends on has changed. */
export type CommitResult = { committed: PreparedEntry } | { head: LogHead | undefined };

/**
 * Tries to commit an entry in one transaction, with its moves if it is small. If the entry must be prepared again, it backs off before it
 * returns. After a lost reply it looks for the entry in the history.
 * @param attempts earlier attempts of the same call, whose replies may have been lost; this one is added
 * @throws AlertsTooLargeError, of a small entry
 * @throws if the outcome is unknown because the history cannot be read, or if the signal aborts and nothing is committed
 */
export async function commit(table: Table, prepared: PreparedEntry, attempts: PreparedEntry[]): Promise<CommitResult> {
  attempts.push(prepared);
  const { large = false } = prepared.entry;
  const actions = actionsOf(prepared);
  const find = () => readPastSignal(table, (table) => findCommitted(table, attempts));
  let found: PreparedEntry | undefined = prepared;
  const write = {
    send: (table: Table) => transactOnce(table, actions),
    async verify(table: Table): Promise<TransactionResult | undefined> {
      found = await findCommitted(table, attempts);
      return found && { outcome: 'applied' };
    },
  };
  for (;;) {
    const result = await settle(table, write);
    if (result.outcome === 'applied') return { committed: found ?? prepared };
    if (result.outcome === 'refused') throw refusalOf(result.error, actions);
    let head: LogHead | undefined = prepared.head;
    if (result.outcome === 'changed') {
      head = result.stored && logHeadOf(result.stored as Stored<'logHead'>);
      // Only the log head has changed, so no attempt was committed: that would have changed its alerts or its entry, too.
      found = head ? undefined : await find();
      if (found) return { committed: found };
    }
    try {
      await backoff(attempts.length, result.outcome === 'throttled' ? THROTTLING : LOG_HEAD_CONFLICT, table.signal);
    } catch (error) {
      found = await find();
      if (!found) throw error;
      return { committed: found };
    }
    // What may be applied later is sent again unchanged. Of two small attempts only one can be applied, since both change the same rows.
    if (result.outcome === 'changed' || (!large && result.outcome !== 'in progress')) return { head };
  }
}

/** Names the alerts whose rows made DynamoDB refuse a transaction, if it says so. */
function refusalOf(error: Error, actions: readonly Action[]): Error {
  const { CancellationReasons: reasons = [] } = error as Partial<TransactionCanceledException>;
  const refused = actions.flatMap(({ Update }, index) => {
    const key = Update?.Key as Key | undefined;
    return key && reasons[index]?.Code === 'ValidationError' && parseKey(key)?.kind === 'alert' ? key.sk : [];
  });
  return refused.length > 0 ? new AlertsTooLargeError(refused) : error;
}

/** The attempt whose entry is in the history, by single reads, which DynamoDB makes before or after a whole transaction. */
async function findCommitted(table: Table, attempts: readonly PreparedEntry[]): Promise<PreparedEntry | undefined> {
  let found: PreparedEntry | undefined;
  await forEach(attempts, async (attempt) => {
    const { incident_id: incidentId, sequence, merge_id } = attempt.entry;
    const row = await getRow(table, keys.historyEntry(attempt.account, incidentId, sequence), ['merge_id']);
    if (row?.merge_id === merge_id) found = attempt;
  });
  return found;
}

/** The sequence of a new entry: the clock in milliseconds, but higher than every sequence that the rows record (invariant *sequence*). */
export function nextSequence(nowMs: number, head: LogHead, rows: Assignments, incident: IncidentRow): number {
  let highest = Math.max(head.last, incident.title_by ?? 0, incident.owner_by ?? 0);
  for (const row of rows.values()) highest = Math.max(highest, latestEntryOf(row));
  return Math.max(nowMs, highest + 1);
}
