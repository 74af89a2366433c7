/** Commits merges and undos, and moves their alerts: `protocol.md` says how, and what holds at any moment. */
import QuickLRU from 'quick-lru';
import type { Int64 } from '../json.ts';
import { backoff, CONTENDED } from '../table/backoff.ts';
import { type Table, withSignal } from '../table/client.ts';
import { forEach } from '../table/pool.ts';
import { commit, type Relocation } from './commit.ts';
import type { EntryPlace } from './feed.ts';
import { type MergeOrder, MOST_PENDING } from './merge-order.ts';
import { moveAlerts } from './move.ts';
import { inListOrder, latestEntryOf, type Placements } from './placement.ts';
import { type LargeEntry, readPendingEntry } from './read.ts';

export type { Relocation } from './commit.ts';

/** Too many large entries of the account have alerts left to move: there can be no further one yet. */
export class TooManyPendingError extends Error {
  override readonly name = 'TooManyPendingError';
  readonly pending: number;
  constructor(pending: number) {
    super(`${pending} large merges are pending`);
    this.pending = pending;
  }
}

/** What tests make smaller. */
export interface Sizes {
  /** What one transaction holds: so that few alerts make a large entry. */
  transactionItems?: number | undefined;
}

export interface Attempt {
  /** From 1; each further one follows a change of what was read. */
  number: number;
  /** The entry does not fit into one transaction. */
  large: boolean;
  /** As it is now, if nothing else has changed since the attempt before. */
  order: MergeOrder | undefined;
}

export interface RelocateOptions<Result> extends Sizes {
  /**
   * Reads what the entry depends on.
   * @returns a `result` where there is nothing to commit
   */
  prepare(attempt: Attempt): Promise<{ relocation: Relocation } | { result: Result }>;
  /** Begins when the entry is committed, and ends its moves. */
  moveSignal?: () => AbortSignal;
}

/** An entry that is committed. `unfinished`: why alerts are left to be moved by others. */
export interface Relocated {
  relocation: Relocation;
  unfinished?: { error: unknown };
}

/**
 * Commits an entry and moves its alerts; tries again while others change what it depends on.
 * @param table its signal ends the attempts to commit
 * @throws TooManyPendingError, and what `prepare` and `commit` throw: then nothing is committed, or the outcome is unknown
 */
export async function relocate<Result>(
  table: Table,
  { prepare, moveSignal, transactionItems }: RelocateOptions<Result>,
): Promise<Relocated | { result: Result }> {
  const attempt: Attempt = { number: 0, large: false, order: undefined };
  for (;;) {
    attempt.number += 1;
    const prepared = await prepare(attempt);
    if ('result' in prepared) return prepared;
    let { relocation } = prepared;
    const { pending = [] } = relocation.order;
    if (relocation.large) {
      if (pending.length >= MOST_PENDING) throw new TooManyPendingError(pending.length);
      // One list for the stored rows and for the moves: its indexes say what is moved.
      relocation = { ...relocation, alertIds: inListOrder(relocation.alertIds) };
    }
    const result = await commit(table, relocation, attempt.number - 1);
    attempt.order = result.outcome === 'changed' ? result.order : undefined;
    if (result.outcome === 'changed') {
      await backoff(attempt.number, CONTENDED, table.signal);
    } else if (result.outcome === 'too large') attempt.large = true;
    else if (!relocation.large) return { relocation };
    else
      try {
        const known = relocation.placements;
        await moveAlerts(withSignal(table, moveSignal?.()), relocation, { pending, known, transactionItems });
        return { relocation };
      } catch (error) {
        return { relocation, unfinished: { error } };
      }
  }
}

/** How far the sequence of a large entry is ahead of the clock, in milliseconds: small ones that come meanwhile have lower ones. */
const LARGE_LEAD_MS = 100;
/** The most by which a further attempt of a small one is ahead of those that it competes with. */
const SMALL_LEAD_MS = 100;

/** The next place in the order of an account's entries: the clock's milliseconds, or one more than all that the rows record. */
export function nextSequence(
  nowMs: number,
  { order, placements, incident, large }: Pick<Relocation, 'order' | 'placements' | 'incident' | 'large'>,
  attempt: number,
): number {
  const { last_change: change, loaded_after: loadedAfter = 0 } = incident;
  let after = Math.max(order.last, change?.sequence ?? 0, loadedAfter);
  for (const placement of placements.values()) after = Math.max(after, latestEntryOf(placement));
  const growing = Math.min(SMALL_LEAD_MS, 10 * 2 ** Math.min(attempt, 10));
  const lead = large ? LARGE_LEAD_MS : attempt > 1 ? Math.floor(Math.random() * growing) : 0;
  return Math.max(nowMs, after + 1) + lead;
}

/** Reads large entries that the merge order names. */
export type PendingEntryReader = (table: Table, account: Int64, place: EntryPlace) => Promise<LargeEntry>;

/** A reader that keeps the latest entries, since they never change: as many as can be pending, of some accounts. */
export function pendingEntryReader(): PendingEntryReader {
  const kept = new QuickLRU<string, LargeEntry>({ maxSize: 2 * MOST_PENDING });
  return async (table, account, place) => {
    const name = `${account} ${place.incidentId} ${place.sequence}`;
    const entry = kept.get(name) ?? (await readPendingEntry(table, account, place));
    kept.set(name, entry);
    return entry;
  };
}

/** The pending entries that take some of these alerts and, as read, have not moved them. */
export async function claimsOn(
  table: Table,
  read: PendingEntryReader,
  account: Int64,
  { pending = [] }: MergeOrder,
  placements: Placements,
): Promise<EntryPlace[]> {
  const claims: EntryPlace[] = [];
  const findClaim = async (place: EntryPlace) => {
    const { alertIds } = await read(table, account, place);
    const isClaimed = (id: string) => {
      const placement = placements.get(id);
      return placement !== undefined && latestEntryOf(placement) < place.sequence;
    };
    if (alertIds.some(isClaimed)) claims.push(place);
  };
  await forEach(pending, findClaim, { signal: table.signal });
  return claims;
}
