/**
 * Moves the alerts of large entries, after their commits. Any number of callers may do so for the same entry at the same
 * time: `protocol.md` says what holds then.
 */

import { backoff, CONFLICT, THROTTLING } from '../../dynamodb/backoff.ts';
import { type Table, withSignal } from '../../dynamodb/client.ts';
import { IS_NEW } from '../../dynamodb/expression.ts';
import { isUnavailable } from '../../dynamodb/failures.ts';
import { forEach } from '../../dynamodb/pool.ts';
import { putAction, TRANSACTION_ITEMS, type TransactionResult, transactOnce } from '../../dynamodb/transact.ts';
import type { Int64 } from '../../shared/json.ts';
import {
  type Assignments,
  type Decide,
  decideMerge,
  decideUndo,
  latestEntryOf,
  moveActions,
  planMoves,
  readAssignments,
} from './assignment.ts';
import { type EntryId, gapsIn, type ListSlice, movesRow } from './feed.ts';
import { readMergeOrder, removePending } from './merge-order.ts';
import { type LargeEntry, readEntry, readLargeEntry, readMovedSlices } from './read-incidents.ts';

/** Concurrent transactions: one for each partition key of an account's alerts. */
const WORKERS = 16;
/** Maximum retries when the table has no abort signal that would end them. */
const MAX_RETRIES = 8;

/** Some alerts cannot be moved: DynamoDB refuses to update their rows, which are too large. All other alerts of the merge are moved. */
export class UnmovableAlertsError extends Error {
  override readonly name = 'UnmovableAlertsError';
  readonly alertIds: readonly string[];
  constructor(alertIds: readonly string[]) {
    super(`DynamoDB refuses to update the rows of ${alertIds.length} alerts, such as ${alertIds[0]}`);
    this.alertIds = alertIds;
  }
}

export interface MoveOptions {
  /** The pending entries, as read at or after the commit of this entry. */
  pending: readonly EntryId[];
  /** Assignments read before the commit. A move is conditional on them, so they are read again only after a change. */
  known?: Assignments | undefined;
  /** Maximum actions of one transaction. */
  transactionItems?: number | undefined;
  /** Concurrent transactions. */
  workers?: number;
}

/**
 * Moves the remaining alerts of a large entry, then removes the entry from the merge order. First it makes the moves of pending
 * entries with lower sequences that share alerts with it.
 * @throws UnmovableAlertsError after all other alerts are moved
 * @throws any other error at once; completed moves remain
 */
export async function moveAlerts(
  table: Table,
  large: LargeEntry,
  { pending, known, transactionItems = TRANSACTION_ITEMS, workers = WORKERS }: MoveOptions,
): Promise<void> {
  // Assignments from before the commit are passed only right after it, when nothing is moved yet.
  const moved = known ? [] : await readMovedSlices(table, large);
  const remaining = gapsIn({ start: 0, end: large.alertIds.length }, moved);
  const limits = { workers, maxAlerts: transactionItems - 1 }; // one action is the row that records the moves
  const earlier = await moveEarlier(table, large, remaining, pending, limits);
  const usable = earlier.sharesAlerts ? undefined : known; // the moves of earlier entries changed the assignments
  const unmovable = await moveSlices(table, large, remaining, { ...limits, known: usable, blocked: earlier.unmovable });
  if (unmovable.size > 0) throw new UnmovableAlertsError([...unmovable]);
  await removePending(table, large.account, large.entry);
}

/**
 * Makes the remaining moves of a committed merge. May be called repeatedly and concurrently. When DynamoDB is unavailable, it retries
 * with fewer workers until the table's signal aborts.
 * @throws UnmovableAlertsError after all other alerts are moved
 * @throws EntryUnreadableError when the entry's rows are incomplete
 */
export async function finishMerge(
  table: Table,
  account: Int64,
  entryId: EntryId,
  transactionItems?: number,
): Promise<'finished' | 'not pending'> {
  for (let retries = 0; ; retries += 1)
    try {
      const { pending = [] } = await readMergeOrder(table, account);
      if (!pending.some(({ sequence }) => sequence === entryId.sequence))
        return retries === 0 ? 'not pending' : 'finished';
      const large = await readLargeEntry(table, account, entryId);
      const workers = Math.max(1, Math.floor(WORKERS / 2 ** retries));
      await moveAlerts(table, large, { pending, transactionItems, workers });
      return 'finished';
    } catch (error) {
      const isOver = table.signal ? table.signal.aborted : retries === MAX_RETRIES;
      if (!isUnavailable(error) || isOver) throw error;
      await backoff(retries + 1, THROTTLING, table.signal).catch(() => {
        throw error;
      });
    }
}

interface Limits {
  workers: number;
  /** Alerts in one transaction. */
  maxAlerts: number;
}

/**
 * Makes the moves of earlier pending entries that share alerts with these slices, the lowest sequence first. It moves whole chunks. A
 * chunk may hold other alerts, which a still earlier entry has to move first: so it collects the chunks from the latest entry back.
 * @returns `sharesAlerts`: whether there was such an entry
 */
async function moveEarlier(
  table: Table,
  { account, entry, alertIds }: LargeEntry,
  slices: readonly ListSlice[],
  pending: readonly EntryId[],
  limits: Limits,
): Promise<{ sharesAlerts: boolean; unmovable: Set<string> }> {
  const wanted = new Set(idsIn(alertIds, slices));
  const steps: { large: LargeEntry; slices: ListSlice[] }[] = [];
  for (const entryId of pending.toReversed()) {
    if (entryId.sequence >= entry.sequence) continue;
    const large = await readLargeEntry(table, account, entryId);
    const shared = slicesWith(large.alertIds, wanted, limits.maxAlerts);
    if (shared.length === 0) continue;
    const moved = await readMovedSlices(table, large);
    const unmoved = shared.flatMap((slice) => gapsIn(slice, moved));
    for (const id of idsIn(large.alertIds, unmoved)) wanted.add(id);
    steps.unshift({ large, slices: unmoved });
  }
  const unmovable = new Set<string>();
  for (const { large, slices } of steps)
    for (const id of await moveSlices(table, large, slices, { ...limits, blocked: unmovable })) unmovable.add(id);
  return { sharesAlerts: steps.length > 0, unmovable };
}

const idsIn = (ids: readonly string[], slices: readonly ListSlice[]) =>
  slices.flatMap(({ start, end }) => ids.slice(start, end));

/** Slices that together contain all wanted alerts of a list, each small enough for one transaction. */
function slicesWith(ids: readonly string[], wanted: ReadonlySet<string>, maxAlerts: number): ListSlice[] {
  const slices: ListSlice[] = [];
  for (const [index, id] of ids.entries())
    if (wanted.has(id) && index >= (slices.at(-1)?.end ?? 0))
      slices.push({ start: index, end: Math.min(ids.length, index + maxAlerts) });
  return slices;
}

/** How an entry assigns alerts. For an undo it reads where the merge took them from. */
export async function decideFor(
  table: Table,
  { account, entry }: Pick<LargeEntry, 'account' | 'entry'>,
): Promise<Decide> {
  if (entry.kind === 'merge') return decideMerge(entry);
  const entryId = { incidentId: entry.incident_id, sequence: entry.undone_sequence ?? 0 };
  const undone = await readEntry(table, account, entryId);
  return decideUndo(entry, new Map(undone?.moves.map(({ alertId, from }) => [alertId, from])));
}

interface SliceOptions extends Limits {
  known?: Assignments | undefined;
  /** Alerts that an earlier entry must move first, and cannot. */
  blocked: ReadonlySet<string>;
}

/** Moves the alerts of slices, none of which is moved yet. @returns the alerts that cannot be moved */
async function moveSlices(
  table: Table,
  large: LargeEntry,
  slices: readonly ListSlice[],
  { workers, maxAlerts, known, blocked }: SliceOptions,
): Promise<Set<string>> {
  const unmovable = new Set<string>();
  if (slices.length === 0) return unmovable;
  const context = { large, decide: await decideFor(table, large), maxAlerts, known, blocked, unmovable };
  const chunks = slices.flatMap((slice) => splitSlice(slice, maxAlerts));
  const count = Math.min(workers, chunks.length);
  // Each worker has adjacent chunks, since these share a partition key.
  const shares = Array.from({ length: count }, (_, index) =>
    chunks.slice(Math.floor((index * chunks.length) / count), Math.floor(((index + 1) * chunks.length) / count)),
  );
  await forEach(
    shares,
    (share, signal) => runWorker({ ...context, table: withSignal(table, signal) }, share.reverse()),
    {
      concurrency: count,
      signal: table.signal,
    },
  );
  return unmovable;
}

function splitSlice({ start, end }: ListSlice, maxAlerts: number): ListSlice[] {
  const chunks: ListSlice[] = [];
  for (let index = start; index < end; index += maxAlerts)
    chunks.push({ start: index, end: Math.min(end, index + maxAlerts) });
  return chunks;
}

interface Worker {
  table: Table;
  large: LargeEntry;
  decide: Decide;
  maxAlerts: number;
  known: Assignments | undefined;
  blocked: ReadonlySet<string>;
  /** Receives the alerts that cannot be moved. */
  unmovable: Set<string>;
}

/** Moves slices one by one, from the end of `todo`. After throttling, transactions get smaller; one that is refused is halved. */
async function runWorker(worker: Worker, todo: ListSlice[]): Promise<void> {
  const { table, large } = worker;
  let { maxAlerts, known } = worker;
  let attempt = 0;
  for (let slice = todo.pop(); slice; slice = todo.pop()) {
    table.signal?.throwIfAborted();
    if (slice.end - slice.start > maxAlerts) {
      todo.push({ start: slice.start + maxAlerts, end: slice.end });
      slice = { start: slice.start, end: slice.start + maxAlerts };
    }
    const outcome = await moveSlice(worker, slice, known);
    switch (outcome) {
      case 'applied':
        attempt = 0;
        maxAlerts = Math.min(worker.maxAlerts, 2 * maxAlerts);
        continue;
      case 'changed':
        // Another caller moved some of them, or an import replaced some: what is not recorded as moved is read and tried again.
        known = undefined;
        todo.push(...gapsIn(slice, await readMovedSlices(table, large)).reverse());
        break;
      case 'refused':
        if (slice.end - slice.start === 1) for (const id of idsIn(large.alertIds, [slice])) worker.unmovable.add(id);
        else {
          const middle = Math.floor((slice.start + slice.end) / 2);
          todo.push({ start: middle, end: slice.end }, { start: slice.start, end: middle });
        }
        continue;
      case 'throttled':
        maxAlerts = Math.max(1, Math.floor((slice.end - slice.start) / 2));
        todo.push(slice);
        break;
      case 'conflict':
      case 'in progress':
        todo.push(slice);
    }
    attempt += 1;
    await backoff(attempt, outcome === 'throttled' ? THROTTLING : CONFLICT, table.signal);
  }
}

/** Moves the alerts of a slice, and records the moves in a row, in one transaction. */
async function moveSlice(
  { table, large, decide, blocked }: Worker,
  slice: ListSlice,
  known: Assignments | undefined,
): Promise<TransactionResult['outcome']> {
  const { account, entry } = large;
  const ids = large.alertIds.slice(slice.start, slice.end);
  if (ids.some((id) => blocked.has(id))) return 'refused';
  const assignments = known ?? (await readAssignments(table, account, ids));
  const isSettled = (id: string) => latestEntryOf(assignments.get(id) ?? {}) >= entry.sequence;
  // This or a later entry has already moved an alert, or it was imported again.
  if (ids.some(isSettled)) {
    const [gap] = gapsIn(slice, await readMovedSlices(table, large));
    if (gap?.start !== slice.start || gap.end !== slice.end) return 'changed';
  }
  // A restored table may lack the row that records the move. Even then, no alert is taken from a later entry.
  const { moves, stayed } = planMoves(ids, assignments, (id, assignment) =>
    isSettled(id) ? undefined : decide(id, assignment),
  );
  const actions = moveActions(account, entry.sequence, [...moves, ...stayed], assignments);
  return (await transactOnce(table, [putAction(movesRow(account, entry, slice, moves, stayed), IS_NEW), ...actions]))
    .outcome;
}
