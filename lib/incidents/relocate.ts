/**
 * How alerts move from incident to incident: by merges, and by the undoing of merges. Both are *entries* of an incident's feed.
 *
 *                     one transaction: entry, a shard of the merge order, alerts
 *     small:   read ────────────────────────────────────────────────────▶ done
 *
 *                   all shards    one transaction:            one transaction for each stretch
 *                   of the        entry, its list of          of the list: its alerts, and the
 *                   merge order   alerts, merge order (+ pending)  row that tells of their moves  merge order (- pending)
 *     large:   read ───▶ announced ──────────▶ pending ──────────▶ … ──────────▶ moved ──────────────▶ done
 *
 * An entry is large when it does not fit into one transaction, or when a pending entry has yet to move one of its alerts. The list
 * says which alerts it takes; where each of them came from is found out, and told, when it is moved. A new title or owner is
 * written with the commit.
 *
 * What holds at any moment, whoever is cut short wherever:
 * 1. Order. Each row of the merge order has the latest sequence as `last`, and is only ever written with a higher one: its shards by
 *    small entries, each in one of them, and by announcements of large ones; its own row by the commits of large ones. What is
 *    announced and not committed yet lets no small entry pass: so a large entry has a higher sequence than all that were
 *    committed before it, and a lower one than all that were committed after it. Small entries are in order where they have a
 *    row in common: each notes its sequence in the alerts that it moves or leaves in their place, and in an incident that it
 *    changes, and relies on these being as it read them, with lower sequences. Others do not depend on each other, and may
 *    have the same sequence.
 * 2. Once. The transaction that moves a stretch creates the row that tells of it, and relies on each alert being where it was
 *    read, put there by the same entry. The rows of one entry may overlap only in alerts that it did not move.
 * 3. Turn. Nothing takes an alert that an entry of a lower sequence has yet to move. A large entry does the moves of lower ones
 *    first. A small one relies on the `last_large` of its shard as it read it, which is no later than the merge order's: no large
 *    entry was announced since, and of those before it has looked which alerts they take. So at an alert's turn the lower
 *    entries are done with it, and higher ones wait: where it is is where it came from.
 * 4. End. The merge order names every large entry that is not moved to its end; its name goes when its rows cover its list.
 *
 * From 1 to 3: the entries of all feeds, read in the order of their sequences, tell of each alert where it came from and where it
 * went. A commit that DynamoDB applies late, after another that took the same alerts, is refused. No step relies on another
 * caller: a small entry that has waited in vain takes the place of what is announced, which can no longer be committed with that
 * sequence. From 4: whoever reads the merge order can finish what others began.
 */
import QuickLRU from 'quick-lru';
import type { Int64 } from '../json.ts';
import { type Table, withSignal } from '../table/client.ts';
import { type CommitOutcome, commit, type Relocation } from './commit.ts';
import type { EntryPlace } from './feed.ts';
import { announce, announcedIn, giveUp, lastOf, type MergeOrder } from './merge-order.ts';
import { moveAlerts } from './move.ts';
import { inListOrder, type Placements, placedAfter } from './placement.ts';
import { type LargeEntry, readLargeEntry } from './read.ts';

export type { Relocation } from './commit.ts';

/** Attempts in which a small entry meets the same announced large one before it gives that one up: some 300 ms. */
const PATIENT_ATTEMPTS = 6;

/** Of one call: the large entry that it last met announced, and in how many of its attempts. */
export interface Waiting {
  sequence: number;
  attempts: number;
}

/** Sizes that tests make smaller, so that few alerts and steps make all that can happen. */
export interface Sizes {
  /** What one transaction holds; less makes small entries large. */
  transactionItems?: number;
  /** Of the merge order. */
  shards?: number;
  patientAttempts?: number;
}

export interface RelocateOptions extends Sizes {
  /** The same object in all attempts of a call. */
  waiting: Waiting;
  /** Begins when the entry is committed, and ends its moves. */
  moveSignal?: () => AbortSignal;
}

export const notWaiting = (): Waiting => ({ sequence: 0, attempts: 0 });

/**
 * Commits an entry and moves its alerts.
 * @param table its signal ends the attempts to commit
 * @returns `done`, or why nothing is committed; `left pending`: it is committed, and what ended its moves leaves them to others
 */
export async function relocate(
  table: Table,
  relocation: Relocation,
  { waiting, moveSignal, transactionItems, shards, patientAttempts = PATIENT_ATTEMPTS }: RelocateOptions,
): Promise<{ outcome: 'done' | Exclude<CommitOutcome, 'committed'> } | { outcome: 'left pending'; error: unknown }> {
  const { account, entry, order, shard } = relocation;
  if (!relocation.large) {
    const announced = announcedIn(order, shard);
    if (announced !== undefined) {
      // Each announcement has this time of its own: its caller may be slow, and others of its account impatient already.
      Object.assign(waiting, {
        sequence: announced,
        attempts: waiting.sequence === announced ? waiting.attempts + 1 : 1,
      });
      if (waiting.attempts > patientAttempts) await giveUp(table, account, announced);
      return { outcome: 'changed' };
    }
    const outcome = await commit(table, relocation);
    return { outcome: outcome === 'committed' ? 'done' : outcome };
  }
  // One list for the stored rows and for the moves: its indexes tell what is moved.
  const large = { ...relocation, alertIds: inListOrder(relocation.alertIds) };
  if (!(await announce(table, account, entry.sequence, shards))) return { outcome: 'changed' };
  const outcome = await commit(table, large);
  if (outcome !== 'committed') return { outcome };
  try {
    const moving = withSignal(table, moveSignal?.());
    await moveAlerts(moving, large, { known: relocation.placements, transactionItems });
    return { outcome: 'done' };
  } catch (error) {
    return { outcome: 'left pending', error };
  }
}

/** Milliseconds by which a sequence may be ahead of the clock, of large entries and of small ones. */
const LONGEST_LEAD_MS = { large: 1_000, small: 100 };

/**
 * The next place in the order of an account's merges: the clock's milliseconds, or one more than those of all entries that
 * the rows, as read, tell of. A large entry asks for a place further ahead, so that no small one comes in between while it is
 * announced; a further attempt of a small one for any of the next few, in case another in the same feed asks for the first.
 */
export function nextSequence(
  nowMs: number,
  { order, placements, incident, large }: Pick<Relocation, 'order' | 'placements' | 'incident' | 'large'>,
  attempt: number,
): number {
  const { last_change: change, loaded_after: loadedAfter = 0 } = incident;
  let after = Math.max(lastOf(order), change?.sequence ?? 0, loadedAfter);
  for (const placement of placements.values())
    after = Math.max(after, placedAfter(placement), placement.stayed_sequence ?? 0);
  const growing = 40 * 2 ** Math.min(attempt, 10);
  const ahead = large
    ? Math.min(LONGEST_LEAD_MS.large, growing)
    : attempt > 1
      ? Math.floor(Math.random() * Math.min(LONGEST_LEAD_MS.small, growing))
      : 0;
  return Math.max(nowMs, after + 1) + ahead;
}

/** Reads large entries, which never change: the latest are kept. */
export type LargeEntryReader = (table: Table, account: Int64, place: EntryPlace) => Promise<LargeEntry | undefined>;

/** Twice as many at the most. */
const KEPT_ENTRIES = 4;

export function largeEntryReader(): LargeEntryReader {
  const kept = new QuickLRU<string, LargeEntry>({ maxSize: KEPT_ENTRIES });
  return async (table, account, place) => {
    const name = `${account} ${place.incidentId} ${place.sequence}`;
    const large = kept.get(name) ?? (await readLargeEntry(table, account, place));
    if (large) kept.set(name, large);
    return large;
  };
}

/** The pending entries that take some of these alerts and, as read, have not moved them. */
export async function claimsOn(
  table: Table,
  read: LargeEntryReader,
  account: Int64,
  { pending = [] }: MergeOrder,
  placements: Placements,
): Promise<EntryPlace[]> {
  const claims: EntryPlace[] = [];
  for (const one of pending) {
    const large = await read(table, account, one);
    const isClaimed = (id: string) => {
      const placement = placements.get(id);
      return placement !== undefined && placedAfter(placement) < one.sequence;
    };
    if (large?.alertIds.some(isClaimed)) claims.push(one);
  }
  return claims;
}
