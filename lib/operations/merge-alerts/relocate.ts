/** Commits merges and undos, and moves their alerts: `protocol.md` says how, and what holds at any moment. */
import QuickLRU from 'quick-lru';
import { type Table, withSignal } from '../../dynamodb/client.ts';
import { forEach } from '../../dynamodb/pool.ts';
import type { Int64 } from '../../shared/json.ts';
import { commit, type Relocation } from './commit.ts';
import type { EntryPlace } from './feed.ts';
import { type MergeOrder, MOST_PENDING } from './merge-order.ts';
import { moveAlerts } from './move.ts';
import { inListOrder, latestEntryOf, type Placements } from './placement.ts';
import { type LargeEntry, readPendingEntry } from './read-incidents.ts';

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
  const attempt: Attempt = { large: false, order: undefined };
  const tried: Relocation[] = [];
  for (;;) {
    const prepared = await prepare(attempt);
    if ('result' in prepared) return prepared;
    let { relocation } = prepared;
    const { pending = [] } = relocation.order;
    if (relocation.large) {
      if (pending.length >= MOST_PENDING) throw new TooManyPendingError(pending.length);
      // One list for the stored rows and for the moves: its indexes say what is moved.
      relocation = { ...relocation, alertIds: inListOrder(relocation.alertIds) };
    }
    const result = await commit(table, relocation, tried);
    attempt.order = result.outcome === 'again' ? result.order : undefined;
    attempt.large ||= result.outcome === 'too large';
    if (result.outcome !== 'committed') continue;
    relocation = result.relocation;
    if (!relocation.large) return { relocation };
    try {
      const known = relocation.placements;
      await moveAlerts(withSignal(table, moveSignal?.()), relocation, { pending, known, transactionItems });
      return { relocation };
    } catch (error) {
      return { relocation, unfinished: { error } };
    }
  }
}

/** The next place in the order of an account's entries: the clock's milliseconds, or one more than all that the rows record. */
export function nextSequence(
  nowMs: number,
  { order, placements, incident }: Pick<Relocation, 'order' | 'placements' | 'incident'>,
): number {
  const { last_change: change, loaded_after: loadedAfter = 0 } = incident;
  let after = Math.max(order.last, change?.sequence ?? 0, loadedAfter);
  for (const placement of placements.values()) after = Math.max(after, latestEntryOf(placement));
  return Math.max(nowMs, after + 1);
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
