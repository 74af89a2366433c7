/**
 * How alerts move from incident to incident: by merges, and by the undoing of merges. Both are *entries* of an incident's feed.
 *
 *                     one transaction: entry, ledger, incident, alerts
 *     small:   read ────────────────────────────────────────────────────▶ done
 *
 *                     one transaction:                 one transaction for each stretch
 *                     entry, its list of alerts,       of the list: its alerts, and the
 *                     ledger (+ pending), incident     row that tells of their moves        ledger (- pending)
 *     large:   read ─────────────────────────▶ pending ──────────▶ … ──────────▶ moved ──────────────▶ done
 *
 * An entry is large when it does not fit into one transaction, or when a pending entry has yet to move one of its alerts. The list
 * says which alerts it takes; where each of them came from is found out, and told, when it is moved.
 *
 * What holds at any moment, whoever is cut short wherever:
 * 1. Order. Each commit sets the ledger's `last` to its sequence and is conditional on a lower one: the order of the sequences is
 *    the order of the commits, and a commit that DynamoDB applies late, after another, is refused.
 * 2. Once. The transaction that moves a stretch creates the row that tells of it, and relies on each alert being where it was
 *    read, put there by the same entry. The rows of one entry may overlap only in alerts that it did not move.
 * 3. Turn. Nothing takes an alert that an entry of a lower sequence has yet to move. A large entry does the moves of lower ones
 *    first. A small one relies on the `last_large` that it read: no large entry was committed since, and of those before it has
 *    looked which alerts they take. So at an alert's turn the lower entries are done with it, and higher ones wait: where it is
 *    is where it came from.
 * 4. End. The ledger names every large entry that is not moved to its end; its name goes when its rows cover its list.
 *
 * From 1 to 3: the entries of all feeds, read in the order of their sequences, tell of each alert where it came from and where it
 * went. From 4: whoever reads the ledger can finish what others began. No step waits for another caller.
 */
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { type CommitOutcome, commit, type Relocation } from './commit.ts';
import type { Ledger, PendingMerge } from './ledger.ts';
import { moveAlerts } from './move.ts';
import { inListOrder, type Placements } from './placement.ts';
import { type LargeEntry, readLargeEntry } from './read.ts';

export type { Relocation } from './commit.ts';

export interface RelocateOptions {
  /** Ends the attempts to commit. */
  signal?: AbortSignal;
  /** Begins when the entry is committed, and ends its moves. */
  moveSignal?: () => AbortSignal;
  transactionItems?: number;
}

/** Moves of a committed entry that are left to others, and why. */
export interface LeftPending {
  outcome: 'left pending';
  error: unknown;
}

/**
 * Commits an entry and moves its alerts.
 * @returns `done`, or why nothing is committed; what ended the moves of an entry that is committed is no failure
 */
export async function relocate(
  table: Table,
  relocation: Relocation,
  { signal, moveSignal, transactionItems }: RelocateOptions = {},
): Promise<{ outcome: 'done' | Exclude<CommitOutcome, 'committed'> } | LeftPending> {
  if (!relocation.large) {
    const outcome = await commit(table, relocation, signal);
    return { outcome: outcome === 'committed' ? 'done' : outcome };
  }
  // One list for the stored rows and for the moves: its indexes tell what is moved.
  const large = { ...relocation, alertIds: inListOrder(relocation.alertIds) };
  const outcome = await commit(table, large, signal);
  if (outcome !== 'committed') return { outcome };
  try {
    await moveAlerts(table, large, { signal: moveSignal?.(), known: relocation.placements, transactionItems });
    return { outcome: 'done' };
  } catch (error) {
    return { outcome: 'left pending', error };
  }
}

/** The sequence may be ahead of the clock by so many milliseconds, when others keep coming first. */
const LONGEST_LEAD_MS = 1_000;

/**
 * The next place in the order of an account's merges: the clock's milliseconds, or one more than the latest. Each further attempt
 * asks for a place further ahead, so that others who commit in the meantime do not come in between.
 */
export function nextSequence(nowMs: number, ledger: Ledger, placements: Placements, attempt: number): number {
  let next = Math.max(nowMs, (ledger.last ?? 0) + 1);
  for (const { moved_sequence = 0 } of placements.values()) next = Math.max(next, moved_sequence + 1);
  return attempt === 1 ? next : next + Math.min(LONGEST_LEAD_MS, 10 * 2 ** Math.min(attempt, 10));
}

/** Reads large entries, which never change: the latest are kept. */
export type LargeEntryReader = (
  account: Int64,
  pending: PendingMerge,
  signal?: AbortSignal,
) => Promise<LargeEntry | undefined>;

const KEPT_ENTRIES = 4;

export function largeEntryReader(table: Table): LargeEntryReader {
  const kept = new Map<string, LargeEntry>();
  return async (account, pending, signal) => {
    const name = `${account} ${pending.incidentId} ${pending.sequence}`;
    const known = kept.get(name);
    if (known) return known;
    const read = await readLargeEntry(table, account, pending, signal);
    if (!read) return undefined;
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size + 1 - KEPT_ENTRIES))) kept.delete(oldest);
    kept.set(name, read);
    return read;
  };
}

/** The pending entries that take some of these alerts and, as read, have not moved them. */
export async function claimsOn(
  read: LargeEntryReader,
  account: Int64,
  { pending = [] }: Ledger,
  placements: Placements,
  signal?: AbortSignal,
): Promise<PendingMerge[]> {
  const claims: PendingMerge[] = [];
  for (const one of pending) {
    const large = await read(account, one, signal);
    const isClaimed = (id: string) => {
      const placement = placements.get(id);
      return placement !== undefined && (placement.moved_sequence ?? 0) < one.sequence;
    };
    if (large?.alertIds.some(isClaimed)) claims.push(one);
  }
  return claims;
}
