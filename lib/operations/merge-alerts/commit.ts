/** Commits merges and undos. `protocol.md` has the steps and invariants. */

import QuickLRU from 'quick-lru';
import { backoff, MERGE_ORDER_CONFLICT, THROTTLING } from '../../dynamodb/backoff.ts';
import { type Table, withSignal } from '../../dynamodb/client.ts';
import { EXISTS, expression, IS_NEW, isAsRead, set } from '../../dynamodb/expression.ts';
import { type KeyOf, keys, type Stored } from '../../dynamodb/keys.ts';
import { forEach } from '../../dynamodb/pool.ts';
import { getRow } from '../../dynamodb/row.ts';
import type { FeedEntry, IncidentRow } from '../../dynamodb/rows.ts';
import { readPastSignal, settle } from '../../dynamodb/settle.ts';
import {
  type Action,
  conditionCheck,
  putAction,
  type TransactionResult,
  transactOnce,
  updateAction,
} from '../../dynamodb/transact.ts';
import type { Int64 } from '../../shared/json.ts';
import { type Assignments, type Decide, inListOrder, latestEntryOf, moveActions, planMoves } from './assignment.ts';
import { changeOf, type EntryId, largeEntryRows, smallEntryRow } from './feed.ts';
import { MAX_PENDING, type MergeOrder, mergeOrderOf, orderActions } from './merge-order.ts';
import { moveAlerts } from './move.ts';
import { type LargeEntry, readLargeEntry } from './read-incidents.ts';

/** Of the row that makes a repeated call a no-op. Times are Unix seconds. */
export interface Idempotency {
  key: KeyOf<'idempotency'>;
  bodyHash: string;
  nowSeconds: number;
  ttl: number;
}

/** A merge or undo that is ready to be committed. */
export interface PreparedEntry {
  account: Int64;
  entry: FeedEntry;
  /** The alerts that it takes. Of a large entry in the order of its list: see {@link inListOrder}. */
  alertIds: readonly string[];
  decide: Decide;
  /** The alerts' current incidents, as read. A small commit is conditional on them. */
  assignments: Assignments;
  /** As read. */
  incident: IncidentRow;
  order: MergeOrder;
  /** A member that must exist. */
  owner?: Int64;
  idempotency?: Idempotency;
  /** The alerts are moved after the commit, not in its transaction. */
  large: boolean;
}

/** The account has as many pending entries as it may have: another large one must wait. */
export class TooManyPendingError extends Error {
  override readonly name = 'TooManyPendingError';
  readonly pending: number;
  constructor(pending: number) {
    super(`${pending} large merges are pending`);
    this.pending = pending;
  }
}

/** Limits that tests lower. */
export interface MergeLimits {
  /** Maximum actions of one transaction; a low one makes an entry of few alerts large. */
  transactionItems?: number | undefined;
}

export interface Attempt {
  /** An earlier attempt was too large for one transaction. */
  tooLarge: boolean;
  /** The current merge order, if nothing else has changed since the previous attempt. */
  order: MergeOrder | undefined;
}

export interface CommitOptions<Result> extends MergeLimits {
  /**
   * Reads what the entry depends on, before each attempt.
   * @returns `result`: there is nothing to commit
   */
  prepare(attempt: Attempt): Promise<{ prepared: PreparedEntry } | { result: Result }>;
  /** Creates, after the commit, the signal that ends the moves. */
  moveSignal?: () => AbortSignal;
}

/** A committed entry. `unfinished`: why some of its alerts are not moved yet; finish-merges moves them. */
export interface CommittedEntry {
  committed: PreparedEntry;
  unfinished?: { error: unknown };
}

/**
 * Commits an entry and moves its alerts; retries while others change what it depends on.
 * @param table its signal ends the attempts to commit, not the moves
 * @throws TooManyPendingError, and what `prepare` and {@link commit} throw: nothing is committed, or the outcome is unknown
 */
export async function commitAndMove<Result>(
  table: Table,
  { prepare, moveSignal, transactionItems }: CommitOptions<Result>,
): Promise<CommittedEntry | { result: Result }> {
  const attempt: Attempt = { tooLarge: false, order: undefined };
  const attempts: PreparedEntry[] = [];
  for (;;) {
    const preparation = await prepare(attempt);
    if ('result' in preparation) return preparation;
    let { prepared } = preparation;
    const { pending = [] } = prepared.order;
    if (prepared.large) {
      if (pending.length >= MAX_PENDING) throw new TooManyPendingError(pending.length);
      // The stored list and the moves share this order: the rows that record moves refer to its indexes.
      prepared = { ...prepared, alertIds: inListOrder(prepared.alertIds) };
    }
    const result = await commit(table, prepared, attempts);
    attempt.order = result.outcome === 'retry' ? result.order : undefined;
    attempt.tooLarge ||= result.outcome === 'too large';
    if (result.outcome !== 'committed') continue;
    const { committed } = result;
    if (!committed.large) return { committed };
    try {
      const known = committed.assignments;
      await moveAlerts(withSignal(table, moveSignal?.()), committed, { pending, known, transactionItems });
      return { committed };
    } catch (error) {
      return { committed, unfinished: { error } };
    }
  }
}

/** Changes title and owner if they are as read, since the entry records the previous values. */
function incidentActions({ account, entry, incident }: PreparedEntry): Action[] {
  const { incident_id: incidentId, new_title: title, new_owner_id: owner_id } = entry;
  const changes = { ...(title !== undefined && { title }), ...(owner_id !== undefined && { owner_id }) };
  const names = Object.keys(changes) as (keyof typeof changes)[];
  if (names.length === 0) return [];
  return [
    updateAction(
      keys.incident(account, incidentId),
      set({ ...changes, last_change: changeOf(entry, incident.last_change) }),
      isAsRead(incident, [...names, 'last_change', 'loaded_after']),
    ),
  ];
}

function actionsOf(prepared: PreparedEntry): Action[] {
  const { account, entry, alertIds, decide, assignments, order, owner, idempotency, large } = prepared;
  const { moves, stayed } = planMoves(alertIds, assignments, decide);
  const rows = large ? largeEntryRows(account, entry, alertIds) : [smallEntryRow(account, entry, moves, stayed)];
  const actions = [
    ...rows.map((row) => putAction(row, IS_NEW)),
    ...orderActions(account, entry, order, large),
    ...incidentActions(prepared),
  ];
  if (owner !== undefined) actions.push(conditionCheck(keys.member(account, owner), EXISTS));
  if (idempotency) {
    const { key, bodyHash: body_hash, ttl, nowSeconds } = idempotency;
    const { incident_id, sequence } = entry;
    const row: Stored<'idempotency'> = { ...key, body_hash, ttl, incident_id, sequence };
    actions.push(putAction(row, expression`${IS_NEW} OR #ttl <= ${nowSeconds}`));
  }
  return large ? actions : [...actions, ...moveActions(account, entry.sequence, [...moves, ...stayed], assignments)];
}

export type CommitResult =
  /** `committed`: this attempt, or an earlier one. */
  | { outcome: 'committed'; committed: PreparedEntry }
  /** It does not fit into one transaction: it must be prepared as a large one. */
  | { outcome: 'too large' }
  /** Not committed. `order`: the current merge order, if nothing else that the entry depends on has changed. */
  | { outcome: 'retry'; order?: MergeOrder };

/**
 * Tries to commit an entry in one transaction, with its moves if it is small. If the entry must be prepared again, it backs off before
 * it returns. After a lost reply it looks for the entry in the feed.
 * @param attempts earlier attempts of the same call, whose replies may have been lost; this one is added
 * @throws if the outcome is unknown because the feed cannot be read, or if the signal aborts and nothing is committed
 */
export async function commit(table: Table, prepared: PreparedEntry, attempts: PreparedEntry[]): Promise<CommitResult> {
  const { account, order, large } = prepared;
  attempts.push(prepared);
  const actions = actionsOf(prepared);
  const find = () => readPastSignal(table, (table) => findCommitted(table, account, attempts));
  let found: PreparedEntry | undefined = prepared;
  const send = () =>
    settle<TransactionResult>(table, {
      send: (table) => transactOnce(table, actions),
      async verify(table) {
        found = await findCommitted(table, account, attempts);
        return found && { outcome: 'applied' };
      },
    });

  let isRunning = false;
  for (;;) {
    const result = await send();
    // DynamoDB may still apply a running transaction: no other attempt is sent before its outcome is known.
    isRunning ||= result.outcome === 'in progress';
    if (result.outcome === 'applied') return { outcome: 'committed', committed: found ?? prepared };
    if (result.outcome === 'refused') {
      if (large) throw result.error;
      return { outcome: 'too large' };
    }
    const retry: CommitResult = { outcome: 'retry' };
    if (result.outcome !== 'changed') retry.order = order;
    else {
      if (result.stored) retry.order = mergeOrderOf(result.stored as Stored<'mergeOrder'>);
      // Only the merge order has changed, so no earlier small attempt was committed: that would have changed its alerts, too.
      found = result.stored && !isRunning && !attempts.some(({ large }) => large) ? undefined : await find();
      if (found) return { outcome: 'committed', committed: found };
      isRunning = false;
    }
    try {
      await backoff(attempts.length, result.outcome === 'throttled' ? THROTTLING : MERGE_ORDER_CONFLICT, table.signal);
    } catch (error) {
      found = await find();
      if (!found) throw error;
      return { outcome: 'committed', committed: found };
    }
    if (!isRunning) return retry;
  }
}

/**
 * The attempt whose entry is in the feed. It uses single reads, since a query may not yet show what a transaction has written
 * (Developer Guide, "Amazon DynamoDB Transactions: How it works", isolation levels).
 */
async function findCommitted(
  table: Table,
  account: Int64,
  attempts: readonly PreparedEntry[],
): Promise<PreparedEntry | undefined> {
  let found: PreparedEntry | undefined;
  await forEach(attempts, async (attempt) => {
    const { incident_id: incidentId, sequence, merge_id } = attempt.entry;
    const row = await getRow(table, keys.feedEntry(account, incidentId, sequence), ['merge_id']);
    if (row?.merge_id === merge_id) found = attempt;
  });
  return found;
}

/** The sequence of a new entry: the clock in milliseconds, but higher than every sequence that the rows record. */
export function nextSequence(
  nowMs: number,
  { order, assignments, incident }: Pick<PreparedEntry, 'order' | 'assignments' | 'incident'>,
): number {
  const { last_change: change, loaded_after: loadedAfter = 0 } = incident;
  let highest = Math.max(order.last, change?.sequence ?? 0, loadedAfter);
  for (const assignment of assignments.values()) highest = Math.max(highest, latestEntryOf(assignment));
  return Math.max(nowMs, highest + 1);
}

/** Reads large entries that the merge order names. */
export type PendingEntryReader = (table: Table, account: Int64, entryId: EntryId) => Promise<LargeEntry>;

/** A reader with a cache, as large entries and their lists never change. It has room for the pending entries of two accounts. */
export function pendingEntryReader(): PendingEntryReader {
  const cache = new QuickLRU<string, LargeEntry>({ maxSize: 2 * MAX_PENDING });
  return async (table, account, entryId) => {
    const name = `${account} ${entryId.incidentId} ${entryId.sequence}`;
    const entry = cache.get(name) ?? (await readLargeEntry(table, account, entryId));
    cache.set(name, entry);
    return entry;
  };
}

/** The pending entries that have yet to move some of these alerts. */
export async function claimsOn(
  table: Table,
  read: PendingEntryReader,
  account: Int64,
  { pending = [] }: MergeOrder,
  assignments: Assignments,
): Promise<EntryId[]> {
  const claims: EntryId[] = [];
  const findClaim = async (entryId: EntryId) => {
    const { alertIds } = await read(table, account, entryId);
    const isClaimed = (id: string) => {
      const assignment = assignments.get(id);
      return assignment !== undefined && latestEntryOf(assignment) < entryId.sequence;
    };
    if (alertIds.some(isClaimed)) claims.push(entryId);
  };
  await forEach(pending, findClaim, { signal: table.signal });
  return claims;
}
