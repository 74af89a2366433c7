/** Commits merges and undos. `protocol.md` has the steps and invariants. */

import { backoff, forEach, LOG_HEAD_CONFLICT, THROTTLING } from '../../shared/concurrency.ts';
import type { Table } from '../../table/client.ts';
import { EXISTS, expression, IS_NEW, isAsRead, set } from '../../table/expression.ts';
import { keys, type Stored } from '../../table/keys.ts';
import { getRow } from '../../table/read.ts';
import type { HistoryEntry } from '../../table/rows.ts';
import {
  actionsIn,
  conditionCheck,
  type NamedActions,
  putAction,
  readPastSignal,
  refusedBy,
  settle,
  type TransactionResult,
  transactOnce,
  updateAction,
} from '../../table/write.ts';
import type { PreparedEntry } from './decide.ts';
import { entryRow } from './entry.ts';
import { finishEntry } from './finish.ts';
import { changesOf, OWNER_ATTRIBUTES, TITLE_ATTRIBUTES } from './incident.ts';
import { headActions, type LogHead, logHeadOf } from './log-head.ts';
import { AlertsTooLargeError, type MergeLimits, moveActions } from './move.ts';

export interface CommitOptions extends MergeLimits {
  /**
   * Reads what the entry depends on and decides it, before each attempt.
   * @param head the current log head, if nothing else has changed since the previous attempt
   * @returns undefined: there is nothing to commit
   */
  prepare(head: LogHead | undefined): Promise<PreparedEntry | undefined>;
}

/** A committed entry. `unfinished`: why the rows of some of its alerts are not written yet; finish-merges writes them. */
export interface CommittedEntry {
  entry: HistoryEntry;
  unfinished?: { error: unknown };
}

/**
 * Commits an entry and moves its alerts; retries while others change what it depends on.
 * @param table its signal ends the attempts to commit, and the moves
 * @returns undefined: there was nothing to commit
 * @throws what `prepare` and {@link Attempts.commit} throw: nothing is committed, or the outcome is unknown
 */
export async function commitAndMove(
  table: Table,
  { prepare, transactionItems }: CommitOptions,
): Promise<CommittedEntry | undefined> {
  const attempts = new Attempts(table);
  let committed: PreparedEntry | undefined;
  while (!committed) {
    const prepared = await prepare(attempts.head);
    if (!prepared) return undefined;
    committed = await attempts.commit(prepared);
  }
  const { account, entry, rows } = committed;
  // The commit of a small entry has moved its alerts.
  if (!entry.large) return { entry };
  try {
    await finishEntry(table, account, committed, { known: rows, transactionItems });
    return { entry };
  } catch (error) {
    return { entry, unfinished: { error } };
  }
}

/** The attempts of one call to commit its entry. */
export class Attempts {
  readonly #table: Table;
  /** Those that were sent: the reply of each may have been lost. */
  readonly #sent: PreparedEntry[] = [];
  /** The current log head, if nothing else that the entry depends on has changed since the last attempt. */
  head: LogHead | undefined;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Commits an entry in one transaction, with its moves if it is small.
   * @returns the committed attempt, which may be an earlier one; undefined, after a backoff: the entry must be prepared again
   * @throws AlertsTooLargeError, of a small entry
   * @throws if the outcome is unknown because the history cannot be read, or if the signal aborts and nothing is committed
   */
  async commit(prepared: PreparedEntry): Promise<PreparedEntry | undefined> {
    this.#sent.push(prepared);
    this.head = prepared.head;
    const actions = actionsOf(prepared);
    for (;;) {
      const { result, attempt } = await this.#send(prepared, actions);
      if (result.outcome === 'applied') return attempt;
      if (result.outcome === 'refused') throw refusalOf(result.error, prepared, actions);
      const committed = (await this.#findAfterChange(result)) ?? (await this.#backOff(result));
      if (committed || isPreparedAgain(prepared, result)) return committed;
    }
  }

  /** After a lost reply it looks for the entry in the history. */
  #send(
    prepared: PreparedEntry,
    actions: NamedActions,
  ): Promise<{ result: TransactionResult; attempt: PreparedEntry }> {
    return settle(this.#table, {
      send: async (table) => ({ result: await transactOnce(table, actionsIn(actions)), attempt: prepared }),
      verify: async (table) => {
        const attempt = await this.#findCommitted(table);
        return attempt && { result: { outcome: 'applied' }, attempt };
      },
    });
  }

  /** If a condition failed, keeps the log head that DynamoDB returned, and looks for an earlier attempt that was committed. */
  async #findAfterChange(result: TransactionResult): Promise<PreparedEntry | undefined> {
    if (result.outcome !== 'changed') return undefined;
    // Of all actions only that of the log head returns its row.
    this.head = result.stored && logHeadOf(result.stored as Stored<'logHead'>);
    // If only the log head has changed, no attempt was committed: that would have changed its alerts or its entry, too.
    return this.head ? undefined : readPastSignal(this.#table, (table) => this.#findCommitted(table));
  }

  /** Waits before the next transaction. If the signal aborts that, it looks for a committed attempt. */
  async #backOff({ outcome }: TransactionResult): Promise<PreparedEntry | undefined> {
    try {
      const pace = outcome === 'throttled' ? THROTTLING : LOG_HEAD_CONFLICT;
      await backoff(this.#sent.length, pace, this.#table.signal);
      return undefined;
    } catch (error) {
      const committed = await readPastSignal(this.#table, (table) => this.#findCommitted(table));
      if (!committed) throw error;
      return committed;
    }
  }

  /** The attempt whose entry is in the history, by single reads, which DynamoDB makes before or after a whole transaction. */
  async #findCommitted(table: Table): Promise<PreparedEntry | undefined> {
    let found: PreparedEntry | undefined;
    await forEach(this.#sent, async (attempt) => {
      const { incident_id: incidentId, sequence, merge_id } = attempt.entry;
      const row = await getRow(table, keys.historyEntry(attempt.account, incidentId, sequence), ['merge_id']);
      if (row?.merge_id === merge_id) found = attempt;
    });
    return found;
  }
}

/** What may be applied later is sent again unchanged. Of two small attempts only one can be applied, since both change the same rows. */
const isPreparedAgain = ({ entry }: PreparedEntry, { outcome }: TransactionResult): boolean =>
  outcome === 'changed' || (!entry.large && outcome !== 'in progress');

/** Names the alerts whose rows made DynamoDB refuse a transaction, if it says so. */
function refusalOf(error: Error, { rows }: PreparedEntry, actions: NamedActions): Error {
  const alertIds = refusedBy(error, actions).filter((name) => rows.has(name));
  return alertIds.length > 0 ? new AlertsTooLargeError(alertIds) : error;
}

/** What commits an entry. The actions of its alerts are named by their ids. */
function actionsOf(prepared: PreparedEntry): NamedActions {
  const { account, entry, moves, rows, head } = prepared;
  return {
    entry: putAction(entryRow(account, prepared), IS_NEW),
    ...headActions(account, entry, head),
    ...incidentAction(prepared),
    ...ownerCheck(prepared),
    ...idempotencyAction(prepared),
    ...prepared.checks,
    ...(!entry.large && moveActions(account, entry.sequence, moves, rows)),
  };
}

/** Changes title and owner if they are as read, since the entry records the previous values. */
function incidentAction({ account, entry, incident }: PreparedEntry): NamedActions {
  const { new_title, new_owner_id } = entry;
  const asRead = [
    ...(new_title === undefined ? [] : TITLE_ATTRIBUTES),
    ...(new_owner_id === undefined ? [] : OWNER_ATTRIBUTES),
  ];
  if (asRead.length === 0) return {};
  const update = set(changesOf(entry, incident));
  return { incident: updateAction(keys.incident(account, entry.incident_id), update, isAsRead(incident, asRead)) };
}

/** Requires that the new owner exists. */
const ownerCheck = ({ account, entry: { new_owner_id } }: PreparedEntry): NamedActions =>
  new_owner_id === undefined ? {} : { owner: conditionCheck(keys.member(account, new_owner_id), EXISTS) };

/** Records the call's Idempotency-Key, if it has one. */
function idempotencyAction({ entry, idempotency }: PreparedEntry): NamedActions {
  if (!idempotency) return {};
  const { key, bodyHash: body_hash, ttl, nowSeconds } = idempotency;
  const { incident_id, sequence } = entry;
  const row: Stored<'idempotency'> = { ...key, body_hash, ttl, incident_id, sequence };
  return { idempotency: putAction(row, expression`${IS_NEW} OR #ttl <= ${nowSeconds}`) };
}
