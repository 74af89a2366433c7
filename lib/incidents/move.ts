/**
 * Moves the alerts of large entries, after their commits. Any number of callers may do so for the same entry at the same
 * time: see `relocate.ts` for what holds then.
 */
import type { Int64 } from '../json.ts';
import { backoff, CONFLICT, THROTTLED } from '../table/backoff.ts';
import { type Table, withSignal } from '../table/client.ts';
import { IS_NEW } from '../table/expression.ts';
import { forEach } from '../table/pool.ts';
import { putAction, TRANSACTION_ITEMS, type TransactionResult, transactOnce } from '../table/transact.ts';
import { type EntryPlace, movesRow, type Range, uncovered } from './feed.ts';
import { readMergeOrder, removePending } from './merge-order.ts';
import {
  type Decide,
  decideMerge,
  decideUndo,
  moveAction,
  type Placements,
  place,
  placedAfter,
  readPlacements,
} from './placement.ts';
import { type LargeEntry, readEntry, readLargeEntry, readMovedRanges } from './read.ts';

/** Transactions under way at once: one for each partition key of an account's alerts. */
const LANES = 16;

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
  /** Placements read before the commit: unchanged alerts need not be read again. */
  known?: Placements | undefined;
  /** What one transaction holds. */
  transactionItems?: number | undefined;
}

/**
 * Moves all alerts of a large entry that are not moved yet, after those that pending entries of lower sequences take, and
 * removes the entry from the pending ones.
 * @throws UnmovableAlertsError once all others are moved
 * @throws what ended it early; moves already made remain
 */
export async function moveAlerts(table: Table, large: LargeEntry, options: MoveOptions = {}): Promise<void> {
  const { account, entry } = large;
  const whole = { start: 0, end: large.alertIds.length };
  const moved = options.known ? [] : await readMovedRanges(table, large);
  const unmovable = await moveRanges(table, large, uncovered(whole, moved), options);
  if (unmovable.length > 0) throw new UnmovableAlertsError(unmovable);
  await removePending(table, account, entry.sequence);
}

/**
 * Finishes a merge that is committed: makes the moves that are left. May be called repeatedly and concurrently.
 * @throws UnmovableAlertsError when rows cannot be updated; all other alerts are moved then
 */
export async function finishMerge(
  table: Table,
  account: Int64,
  place: EntryPlace,
  transactionItems?: number,
): Promise<'finished' | 'nothing to do'> {
  const { pending = [] } = await readMergeOrder(table, account);
  if (!pending.some(({ sequence }) => sequence === place.sequence)) return 'nothing to do';
  const large = await readLargeEntry(table, account, place);
  if (!large) return 'nothing to do';
  await moveAlerts(table, large, { transactionItems });
  return 'finished';
}

/**
 * Makes a large entry's moves of some alerts, and possibly of others.
 * @returns those of them that cannot be moved
 */
async function moveSome(
  table: Table,
  large: LargeEntry,
  alertIds: ReadonlySet<string>,
  options: MoveOptions,
): Promise<string[]> {
  const { transactionItems = TRANSACTION_ITEMS } = options;
  const wanted: Range[] = [];
  for (const [index, alertId] of large.alertIds.entries()) {
    if (!alertIds.has(alertId)) continue;
    const last = wanted.at(-1);
    if (last && index < last.end) continue;
    wanted.push({ start: index, end: Math.min(large.alertIds.length, index + transactionItems - 1) });
  }
  if (wanted.length === 0) return [];
  const moved = await readMovedRanges(table, large);
  const gaps = wanted.flatMap((range) => uncovered(range, moved));
  return (await moveRanges(table, large, gaps, options)).filter((id) => alertIds.has(id));
}

/**
 * Entries of lower sequences come first: their moves of these alerts are done when this returns.
 * @returns whether there was any such entry, and the alerts that it could not move
 */
async function moveEarlier(
  table: Table,
  { account, entry, alertIds }: LargeEntry,
  ranges: readonly Range[],
  { transactionItems }: MoveOptions,
): Promise<{ any: boolean; unmovable: Set<string> }> {
  const { pending = [] } = await readMergeOrder(table, account);
  const earlier = pending.filter(({ sequence }) => sequence < entry.sequence);
  const unmovable = new Set<string>();
  if (earlier.length === 0) return { any: false, unmovable };
  const wanted = new Set(ranges.flatMap(({ start, end }) => alertIds.slice(start, end)));
  for (const one of earlier) {
    const large = await readLargeEntry(table, account, one);
    if (!large) continue;
    for (const id of await moveSome(table, large, wanted, { transactionItems })) unmovable.add(id);
  }
  return { any: true, unmovable };
}

/** What an entry does with alerts; an undo looks at where its merge took them from. */
export async function decideFor(
  table: Table,
  { account, entry }: Pick<LargeEntry, 'account' | 'entry'>,
): Promise<Decide> {
  if (entry.kind === 'merge') return decideMerge(entry);
  const place = { incidentId: entry.incident_id, sequence: entry.undone_sequence ?? 0 };
  const undone = await readEntry(table, account, place);
  return decideUndo(entry, new Map(undone?.moves.map(({ alertId, from }) => [alertId, from])));
}

/** Moves the alerts of some stretches of a list that are not moved. @returns those that cannot be moved */
async function moveRanges(
  table: Table,
  large: LargeEntry,
  ranges: readonly Range[],
  options: MoveOptions,
): Promise<string[]> {
  if (ranges.length === 0) return [];
  const { transactionItems = TRANSACTION_ITEMS } = options;
  const earlier = await moveEarlier(table, large, ranges, options);
  const decide = await decideFor(table, large);
  const most = transactionItems - 1; // and the row that tells of them
  const pieces = ranges.flatMap((range) => piecesOf(range, most));
  const lanes = Math.min(LANES, pieces.length);
  const context: Omit<Lane, 'table'> = {
    large,
    decide,
    most,
    blocked: earlier.unmovable,
    unmovable: [],
    known: earlier.any ? undefined : options.known,
  };
  // Adjacent stretches share a partition key, so that each lane keeps to its own.
  const shares = Array.from({ length: lanes }, (_, lane) =>
    pieces.slice(Math.floor((lane * pieces.length) / lanes), Math.floor(((lane + 1) * pieces.length) / lanes)),
  );
  await forEach(shares, (share, signal) => runLane({ ...context, table: withSignal(table, signal) }, share.reverse()), {
    concurrency: lanes,
    signal: table.signal,
  });
  return context.unmovable;
}

function piecesOf({ start, end }: Range, most: number): Range[] {
  const pieces: Range[] = [];
  for (let index = start; index < end; index += most) pieces.push({ start: index, end: Math.min(end, index + most) });
  return pieces;
}

interface Lane {
  table: Table;
  large: LargeEntry;
  decide: Decide;
  /** Alerts in one transaction. */
  most: number;
  /** Alerts that an earlier entry should move but cannot: they must wait. */
  blocked: ReadonlySet<string>;
  /** Filled with the alerts that cannot be moved. */
  unmovable: string[];
  known: Placements | undefined;
}

/**
 * Moves stretches one after the other, the last of them first. Throttled transactions get smaller until they
 * succeed; oversized ones are halved.
 */
async function runLane(lane: Lane, todo: Range[]): Promise<void> {
  const { table, large } = lane;
  let { most, known } = lane;
  let attempt = 0;
  for (let range = todo.pop(); range; range = todo.pop()) {
    table.signal?.throwIfAborted();
    if (range.end - range.start > most) {
      todo.push({ start: range.start + most, end: range.end });
      range = { start: range.start, end: range.start + most };
    }
    const outcome = await moveRange(lane, range, known);
    switch (outcome) {
      case 'applied':
        attempt = 0;
        most = Math.min(lane.most, 2 * most);
        continue;
      case 'changed':
        // By another caller making the same moves, or by an import: the stored rows decide.
        known = undefined;
        todo.push(...uncovered(range, await readMovedRanges(table, large)).reverse());
        break;
      case 'refused':
        if (range.end - range.start === 1) lane.unmovable.push(...large.alertIds.slice(range.start, range.end));
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
        todo.push(range);
    }
    attempt += 1;
    await backoff(attempt, outcome === 'throttled' ? THROTTLED : CONFLICT, table.signal);
  }
}

/** Moves the alerts of a stretch and writes the row that records them, in one transaction. */
async function moveRange(
  { table, large, decide, blocked }: Lane,
  range: Range,
  known: Placements | undefined,
): Promise<TransactionResult['outcome']> {
  const { account, entry } = large;
  const ids = large.alertIds.slice(range.start, range.end);
  if (ids.some((id) => blocked.has(id))) return 'refused';
  let placements = known;
  let placing = known && place(ids, known, decide);
  // Where an alert was before the commit is enough to move it, for the move is conditional on it; not to leave it there.
  if (!placements || placing?.moves.length !== ids.length) {
    placements = await readPlacements(table, account, ids);
    const isOvertaken = (id: string) => placedAfter(placements?.get(id) ?? {}) >= entry.sequence;
    // Later entries take an alert only when this one has moved it: another caller has done so. Or it was loaded again since.
    if (ids.some(isOvertaken)) {
      const [gap] = uncovered(range, await readMovedRanges(table, large));
      if (gap?.start !== range.start || gap.end !== range.end) return 'changed';
    }
    // A restored table may have lost the row that tells of it; even then nothing is taken from a later entry.
    placing = place(ids, placements, (id, placement) => (isOvertaken(id) ? 'left' : decide(id, placement)));
  }
  const actions = [putAction(movesRow(account, entry, range, placing.moves, placing.stayed), IS_NEW)];
  for (const move of placing.moves) {
    const placement = placements.get(move.alertId);
    if (placement) actions.push(moveAction(account, entry.sequence, move, placement));
  }
  return (await transactOnce(table, actions)).outcome;
}
