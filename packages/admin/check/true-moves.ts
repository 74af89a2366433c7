import { type EntryWithMoves, type Move, originsOf } from '../../../lib/operations/merge-alerts/entry.ts';
import { correctOrigins } from '../../../lib/operations/merge-alerts/finish.ts';
import type { MergeRows } from './read-rows.ts';

/** The incident that the feed named last for an alert. */
export const saidByFeed = ({
  moved_sequence,
  incident_id,
  feed_incident,
}: NonNullable<ReturnType<MergeRows['alerts']['get']>>) => (moved_sequence === undefined ? incident_id : feed_incident);

/**
 * The moves of the entries that there are, as if no other had ever been made: an alert comes from where the entry before put it, or from the
 * incident that the feed named. An undo puts it back there, also if the merge that it undid is absent.
 * @param entries oldest first
 */
export function trueMoves(entries: readonly EntryWithMoves[], alerts: MergeRows['alerts']): EntryWithMoves[] {
  /** Where each alert is after the entries so far. */
  const places = new Map<string, string | undefined>();
  /** By sequence of a merge and alert. */
  const origins = new Map<string, string | undefined>();

  function trueMove(move: Move, { kind, sequence, undone_sequence }: EntryWithMoves['entry']): Move {
    const { alertId, from, to, takenBefore } = move;
    const alert = alerts.get(alertId);
    const isTaken = places.has(alertId);
    // Nothing tells what the feed said of an alert whose row has not arrived.
    const base = (recorded: string | undefined) => (alert ? saidByFeed(alert) : recorded);
    const isUnknown = !alert && takenBefore;
    if (kind === 'merge') {
      const origin = isTaken ? places.get(alertId) : takenBefore ? base(from) : from;
      origins.set(`${sequence} ${alertId}`, origin);
      return { alertId, from: origin, to, ...((isTaken || isUnknown) && { takenBefore: true }) };
    }
    const undone = `${undone_sequence} ${alertId}`;
    const isKnown = origins.has(undone) || isTaken;
    const destination = origins.has(undone) ? origins.get(undone) : places.get(alertId);
    if (isKnown) return { alertId, from, to: destination, takenBefore: true };
    return { alertId, from, to: takenBefore ? base(to) : to, ...(isUnknown && { takenBefore: true }) };
  }

  return entries.map(({ entry, moves }) => {
    const all = moves.map((move) => trueMove(move, entry));
    for (const { alertId, to } of all) places.set(alertId, to);
    return { entry, moves: all };
  });
}

/** Whether an entry tells other origins than the true ones, or a pending one will. @param entries all, oldest first */
export function hasOtherOrigins(
  found: EntryWithMoves,
  truth: EntryWithMoves,
  { entries, isPending }: { entries: readonly EntryWithMoves[]; isPending: boolean },
): boolean {
  const { read_since } = found.entry;
  // Those that come later do not count.
  const since = read_since && isPending ? entries.filter(({ entry }) => entry.sequence > read_since.last) : [];
  const recorded = originsOf(found.entry, correctOrigins(found, since).moves);
  const expected = originsOf(found.entry, truth.moves);
  const differ = (a?: Uint8Array, b?: Uint8Array) => Buffer.compare(a ?? Buffer.of(), b ?? Buffer.of()) !== 0;
  return differ(recorded.other_ids, expected.other_ids) || differ(recorded.taken_before, expected.taken_before);
}
