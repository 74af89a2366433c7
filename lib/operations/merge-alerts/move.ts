/**
 * Moves the alerts of large entries, after their commits. Any number of callers may do so for the same entry at the same
 * time: `protocol.md` says what holds then.
 */

import { backoff, CONFLICT, THROTTLED } from '../../dynamodb/backoff.ts';
import { type Table, withSignal } from '../../dynamodb/client.ts';
import { IS_NEW } from '../../dynamodb/expression.ts';
import { isUnavailable } from '../../dynamodb/failures.ts';
import { forEach } from '../../dynamodb/pool.ts';
import { putAction, TRANSACTION_ITEMS, type TransactionResult, transactOnce } from '../../dynamodb/transact.ts';
import type { Int64 } from '../../shared/json.ts';
import { type EntryPlace, movesRow, type Range, uncovered } from './feed.ts';
import { readMergeOrder, removePending } from './merge-order.ts';
import {
  type Decide,
  decideMerge,
  decideUndo,
  latestEntryOf,
  moveActions,
  type Placements,
  place,
  readPlacements,
} from './placement.ts';
import { type LargeEntry, readEntry, readMovedRanges, readPendingEntry } from './read-incidents.ts';

/** Transactions under way at once: one for each partition key of an account's alerts. */
const WORKERS = 16;
/** Without a signal, how often a merge is gone on with after a call whose outcome is unknown. */
const MOST_ROUNDS = 8;

/** Alerts whose rows cannot be updated, such as those at DynamoDB's largest size of a row. All others of their merge are moved. */
export class UnmovableAlertsError extends Error {
  override readonly name = 'UnmovableAlertsError';
  readonly alertIds: readonly string[];
  constructor(alertIds: readonly string[]) {
    super(`DynamoDB refuses to update the rows of ${alertIds.length} alerts, such as ${alertIds[0]}`);
    this.alertIds = alertIds;
  }
}

export interface MoveOptions {
  /** Large entries that were pending when this one was committed, or later. */
  pending: readonly EntryPlace[];
  /** Placements read before the commit: they need not be read again where they are unchanged. */
  known?: Placements | undefined;
  /** What one transaction holds. */
  transactionItems?: number | undefined;
  /** Transactions under way at once. */
  workers?: number;
}

/**
 * Moves all alerts of a large entry that are not moved yet, after those that pending entries of lower sequences take, and
 * removes the entry from the pending ones.
 * @throws UnmovableAlertsError once all others are moved
 * @throws what ended it early; moves already made remain
 */
export async function moveAlerts(
  table: Table,
  large: LargeEntry,
  { pending, known, transactionItems = TRANSACTION_ITEMS, workers = WORKERS }: MoveOptions,
): Promise<void> {
  const moved = known ? [] : await readMovedRanges(table, large);
  const todo = uncovered({ start: 0, end: large.alertIds.length }, moved);
  const limits = { workers, most: transactionItems - 1 }; // one action is the row that records the moves
  const earlier = await moveEarlier(table, large, todo, pending, limits);
  const usable = earlier.any ? undefined : known;
  const unmovable = await moveRanges(table, large, todo, { ...limits, known: usable, blocked: earlier.unmovable });
  if (unmovable.size > 0) throw new UnmovableAlertsError([...unmovable]);
  await removePending(table, large.account, large.entry);
}

/**
 * Finishes a merge that is committed: makes the moves that are left. May be called repeatedly and concurrently. A call whose
 * outcome is unknown does not end it: fewer workers go on, until the table's signal aborts.
 * @throws UnmovableAlertsError when rows cannot be updated; all other alerts are moved then
 * @throws EntryUnreadableError
 */
export async function finishMerge(
  table: Table,
  account: Int64,
  place: EntryPlace,
  transactionItems?: number,
): Promise<'finished' | 'nothing to do'> {
  for (let round = 0; ; round += 1)
    try {
      const { pending = [] } = await readMergeOrder(table, account);
      if (!pending.some(({ sequence }) => sequence === place.sequence))
        return round === 0 ? 'nothing to do' : 'finished';
      const large = await readPendingEntry(table, account, place);
      const workers = Math.max(1, Math.floor(WORKERS / 2 ** round));
      await moveAlerts(table, large, { pending, transactionItems, workers });
      return 'finished';
    } catch (error) {
      const isOver = table.signal ? table.signal.aborted : round === MOST_ROUNDS;
      if (!isUnavailable(error) || isOver) throw error;
      await backoff(round + 1, THROTTLED, table.signal).catch(() => {
        throw error;
      });
    }
}

interface Limits {
  workers: number;
  /** Alerts in one transaction. */
  most: number;
}

/**
 * Moves the alerts in some ranges of a list that pending entries of lower sequences take, too: first those of the lowest
 * sequence. It moves whole transactions, so it takes in further alerts, which still earlier entries may take.
 * @returns whether there was any such entry, and the alerts that could not be moved
 */
async function moveEarlier(
  table: Table,
  { account, entry, alertIds }: LargeEntry,
  ranges: readonly Range[],
  pending: readonly EntryPlace[],
  limits: Limits,
): Promise<{ any: boolean; unmovable: Set<string> }> {
  const wanted = new Set(idsIn(alertIds, ranges));
  const steps: { large: LargeEntry; ranges: Range[] }[] = [];
  for (const place of pending.toReversed()) {
    if (place.sequence >= entry.sequence) continue;
    const large = await readPendingEntry(table, account, place);
    const taken = rangesWith(large.alertIds, wanted, limits.most);
    if (taken.length === 0) continue;
    const moved = await readMovedRanges(table, large);
    const left = taken.flatMap((range) => uncovered(range, moved));
    for (const id of idsIn(large.alertIds, left)) wanted.add(id);
    steps.unshift({ large, ranges: left });
  }
  const unmovable = new Set<string>();
  for (const { large, ranges } of steps)
    for (const id of await moveRanges(table, large, ranges, { ...limits, blocked: unmovable })) unmovable.add(id);
  return { any: steps.length > 0, unmovable };
}

const idsIn = (ids: readonly string[], ranges: readonly Range[]) =>
  ranges.flatMap(({ start, end }) => ids.slice(start, end));

/** Ranges of a list that hold all its wanted alerts, each of one transaction. */
function rangesWith(ids: readonly string[], wanted: ReadonlySet<string>, most: number): Range[] {
  const ranges: Range[] = [];
  for (const [index, id] of ids.entries())
    if (wanted.has(id) && index >= (ranges.at(-1)?.end ?? 0))
      ranges.push({ start: index, end: Math.min(ids.length, index + most) });
  return ranges;
}

/** How an entry puts alerts; an undo looks up where its merge took them from. */
export async function decideFor(
  table: Table,
  { account, entry }: Pick<LargeEntry, 'account' | 'entry'>,
): Promise<Decide> {
  if (entry.kind === 'merge') return decideMerge(entry);
  const place = { incidentId: entry.incident_id, sequence: entry.undone_sequence ?? 0 };
  const undone = await readEntry(table, account, place);
  return decideUndo(entry, new Map(undone?.moves.map(({ alertId, from }) => [alertId, from])));
}

interface RangeOptions extends Limits {
  known?: Placements | undefined;
  /** Alerts that an earlier entry should move but cannot: they must wait. */
  blocked: ReadonlySet<string>;
}

/** Moves the alerts of some ranges of a list that are not moved. @returns those that cannot be moved */
async function moveRanges(
  table: Table,
  large: LargeEntry,
  ranges: readonly Range[],
  { workers, most, known, blocked }: RangeOptions,
): Promise<Set<string>> {
  const unmovable = new Set<string>();
  if (ranges.length === 0) return unmovable;
  const context = { large, decide: await decideFor(table, large), most, known, blocked, unmovable };
  const pieces = ranges.flatMap((range) => piecesOf(range, most));
  const count = Math.min(workers, pieces.length);
  // Adjacent ranges share a partition key, so that each worker keeps to its own.
  const shares = Array.from({ length: count }, (_, index) =>
    pieces.slice(Math.floor((index * pieces.length) / count), Math.floor(((index + 1) * pieces.length) / count)),
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

function piecesOf({ start, end }: Range, most: number): Range[] {
  const pieces: Range[] = [];
  for (let index = start; index < end; index += most) pieces.push({ start: index, end: Math.min(end, index + most) });
  return pieces;
}

interface Worker {
  table: Table;
  large: LargeEntry;
  decide: Decide;
  most: number;
  known: Placements | undefined;
  blocked: ReadonlySet<string>;
  /** Filled with the alerts that cannot be moved. */
  unmovable: Set<string>;
}

/**
 * Moves ranges one after the other, the last of them first. Throttled transactions get smaller until they
 * succeed; oversized ones are halved.
 */
async function runWorker(worker: Worker, todo: Range[]): Promise<void> {
  const { table, large } = worker;
  let { most, known } = worker;
  let attempt = 0;
  for (let range = todo.pop(); range; range = todo.pop()) {
    table.signal?.throwIfAborted();
    if (range.end - range.start > most) {
      todo.push({ start: range.start + most, end: range.end });
      range = { start: range.start, end: range.start + most };
    }
    const outcome = await moveRange(worker, range, known);
    switch (outcome) {
      case 'applied':
        attempt = 0;
        most = Math.min(worker.most, 2 * most);
        continue;
      case 'changed':
        // By another caller making the same moves, or by an import: the stored rows decide.
        known = undefined;
        todo.push(...uncovered(range, await readMovedRanges(table, large)).reverse());
        break;
      case 'refused':
        if (range.end - range.start === 1) for (const id of idsIn(large.alertIds, [range])) worker.unmovable.add(id);
        else {
          const middle = Math.floor((range.start + range.end) / 2);
          todo.push({ start: middle, end: range.end }, { start: range.start, end: middle });
        }
        continue;
      case 'throttled':
        most = Math.max(1, Math.floor((range.end - range.start) / 2));
        todo.push(range);
        break;
      case 'conflict':
      case 'in progress':
        todo.push(range);
    }
    attempt += 1;
    await backoff(attempt, outcome === 'throttled' ? THROTTLED : CONFLICT, table.signal);
  }
}

/** Moves the alerts of a range and writes the row that records them, in one transaction. */
async function moveRange(
  { table, large, decide, blocked }: Worker,
  range: Range,
  known: Placements | undefined,
): Promise<TransactionResult['outcome']> {
  const { account, entry } = large;
  const ids = large.alertIds.slice(range.start, range.end);
  if (ids.some((id) => blocked.has(id))) return 'refused';
  const placements = known ?? (await readPlacements(table, account, ids));
  const isOvertaken = (id: string) => latestEntryOf(placements.get(id) ?? {}) >= entry.sequence;
  // A later entry has an alert, so another caller has moved it for this one; or it was imported again.
  if (ids.some(isOvertaken)) {
    const [gap] = uncovered(range, await readMovedRanges(table, large));
    if (gap?.start !== range.start || gap.end !== range.end) return 'changed';
  }
  // After a restore the row that records a move may be missing; even then nothing is taken from a later entry.
  const { moves, stayed } = place(ids, placements, (id, placement) =>
    isOvertaken(id) ? undefined : decide(id, placement),
  );
  const actions = moveActions(account, entry.sequence, [...moves, ...stayed], placements);
  return (await transactOnce(table, [putAction(movesRow(account, entry, range, moves, stayed), IS_NEW), ...actions]))
    .outcome;
}
