import { batchGet } from '../../../lib/dynamodb/batch-get.ts';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { TRANSACTION_ITEMS } from '../../../lib/dynamodb/transact.ts';
import { decideUndo, planMoves, readAssignments } from '../../../lib/operations/merge-alerts/assignment.ts';
import {
  claimsOn,
  commitAndMove,
  type MergeLimits,
  nextSequence,
  type PreparedEntry,
  pendingEntryReader,
} from '../../../lib/operations/merge-alerts/commit.ts';
import type { Move } from '../../../lib/operations/merge-alerts/feed.ts';
import { readMergeOrder } from '../../../lib/operations/merge-alerts/merge-order.ts';
import { finishMerge } from '../../../lib/operations/merge-alerts/move.ts';
import { type FeedEntryWithAlerts, readEntry, readFeed } from '../../../lib/operations/merge-alerts/read-incidents.ts';
import type { Deps } from '../../../lib/shared/deps.ts';
import type { Int64 } from '../../../lib/shared/json.ts';

/** The merge to undo, and the operator who undoes it. */
export interface UndoRequest {
  account: Int64;
  incidentId: string;
  sequence: number;
  /** Who undoes it, for the feed. */
  by: string;
  requestId: string;
}

/** What an undo has done, or would do. */
export interface Undo {
  /** Moves of alerts back to where the merge took them from. */
  moves: Move[];
  /** Ids of alerts that stay, since they have moved again after the merge. */
  left: string[];
  /** Sequence of the undo's feed entry; absent if there was nothing to move. */
  sequence?: number;
  /** Sequence of an earlier undo of the same merge; absent if there is none, or alerts are left to move. */
  undoneBy?: number;
}

/** A merge cannot be undone. The message says why, in lower case and without a full stop. */
export class UndoError extends Error {
  override readonly name = 'UndoError';
}

type UndoDeps = Pick<Deps, 'table' | 'now' | 'newId'>;

/**
 * Undoes a merge: its alerts go back to where they came from, all or none, unless they have moved since. Title and
 * owner stay. The undo has a feed entry of its own. Pending merges of these alerts are finished first. If the undo is
 * too large for one transaction, its alerts are moved after its commit: by this call, by finish-merges, or by the
 * same call again.
 * @throws UndoError if there is no such merge, or an incident that alerts came from no longer exists
 */
export async function undoMerge(
  deps: UndoDeps,
  request: UndoRequest,
  { transactionItems = TRANSACTION_ITEMS }: MergeLimits = {},
): Promise<Undo> {
  const { table } = deps;
  let undo: Undo = { moves: [], left: [] };
  const outcome = await commitAndMove(table, {
    async prepare({ tooLarge }) {
      const plan = await prepareAfterPending(deps, request, transactionItems);
      undo = plan.undo;
      if (undo.moves.length === 0) return { result: await withEarlierUndo(table, request, undo) };
      const isLarge = tooLarge || undo.moves.length + OTHER_ITEMS > transactionItems;
      return { prepared: { ...plan.prepared, large: isLarge } };
    },
    transactionItems,
  });
  if ('result' in outcome) return outcome.result;
  const { committed, unfinished } = outcome;
  if (unfinished) throw unfinished.error;
  return committed.large ? resultOfLargeUndo(table, committed, undo) : { ...undo, sequence: committed.entry.sequence };
}

/** Finishes the pending merges that still have to move alerts of the undo, then prepares the undo. */
async function prepareAfterPending(deps: UndoDeps, request: UndoRequest, transactionItems: number) {
  for (;;) {
    const prepared = await prepare(deps, request);
    if (prepared.pending.length === 0) return prepared;
    for (const entryId of prepared.pending) await finishMerge(deps.table, request.account, entryId, transactionItems);
  }
}

/** Items of the transaction besides those of the alerts: the entry and the merge order. */
const OTHER_ITEMS = 2;

/** What {@link undoMerge} would do now. @throws UndoError */
export async function planUndo(deps: UndoDeps, request: UndoRequest): Promise<Undo> {
  const { undo, pending } = await prepare(deps, request);
  if (pending.length > 0)
    throw new UndoError('other merges are still moving some of its alerts: try again in a minute');
  return undo.moves.length === 0 ? withEarlierUndo(deps.table, request, undo) : undo;
}

/** Adds the entry that already undid the merge, if any. */
async function withEarlierUndo(
  table: Table,
  { account, incidentId, sequence }: UndoRequest,
  undo: Undo,
): Promise<Undo> {
  const feed = await readFeed(table, account, incidentId);
  const earlier = feed.findLast(({ entry }) => entry.undone_sequence === sequence);
  return earlier ? { ...undo, undoneBy: earlier.entry.sequence } : undo;
}

/** What a large undo has done. Its moves are read back, since each is decided only when it is made. */
async function resultOfLargeUndo(
  table: Table,
  { account, entry }: Pick<PreparedEntry, 'account' | 'entry'>,
  { moves, left }: Undo,
): Promise<Undo> {
  const { sequence } = entry;
  const undoEntry = await readEntry(table, account, { incidentId: entry.incident_id, sequence });
  const moved = new Set(undoEntry?.moves.map(({ alertId }) => alertId));
  const overtaken = moves.map(({ alertId }) => alertId).filter((id) => !moved.has(id));
  return { moves: undoEntry?.moves ?? [], left: [...left, ...overtaken], sequence };
}

async function prepare({ table, now, newId }: UndoDeps, request: UndoRequest) {
  const { account, incidentId, sequence: undoneSequence, by, requestId } = request;
  // The merge order is read first. It then lists the merge, if the merge is read as pending, and every other merge of
  // which the alerts may show only a part.
  const order = await readMergeOrder(table, account);
  const merge = await readMerge(table, request);
  const assignments = await readAssignments(table, account, merge.alertIds);
  const pending = await claimsOn(table, pendingEntryReader(), account, order, assignments);
  if (merge.pending && !pending.some(({ sequence }) => sequence === undoneSequence)) {
    // The merge was pending when its rows were read, but has no alert left to move: its last moves were made since then,
    // and `merge` does not say where these alerts came from. Finish the merge, then prepare again with all its rows.
    if (!order.pending?.some(({ sequence }) => sequence === undoneSequence))
      throw new UndoError(`entry ${undoneSequence} does not list all its alerts, and none of its moves is pending`);
    pending.push({ incidentId, sequence: undoneSequence });
  }

  const incidentIds = [...new Set([incidentId, ...merge.moves.flatMap(({ from }) => from ?? [])])];
  const { rows } = await batchGet(
    table,
    incidentIds.map((id) => keys.incident(account, id)),
  );
  const incidentOf = (id: string) => rows.of(keys.incident(account, id));
  const incident = incidentOf(incidentId);
  const missing = incidentIds.filter((id) => !incidentOf(id));
  if (!incident || missing.length > 0)
    throw new UndoError(`incident ${missing[0]} no longer exists: its alerts cannot be moved back`);

  const atMs = now();
  const entry: PreparedEntry['entry'] = {
    kind: 'merge_undone',
    incident_id: incidentId,
    sequence: nextSequence(atMs, { order, assignments, incident }),
    merge_id: newId(),
    at_ms: atMs,
    by,
    request_id: requestId,
    undone_sequence: undoneSequence,
  };
  const origins = new Map(merge.moves.map(({ alertId, from }) => [alertId, from]));
  const decide = decideUndo(entry, origins);
  const { moves } = planMoves([...origins.keys()], assignments, decide);
  const idsToMove = new Set(moves.map(({ alertId }) => alertId));
  const prepared: Omit<PreparedEntry, 'large'> = {
    account,
    entry,
    alertIds: [...idsToMove],
    decide,
    assignments,
    incident,
    order,
  };
  const left = [...origins.keys()].filter((id) => !idsToMove.has(id));
  return { undo: { moves, left }, prepared, pending };
}

async function readMerge(table: Table, { account, incidentId, sequence }: UndoRequest): Promise<FeedEntryWithAlerts> {
  const found = await readEntry(table, account, { incidentId, sequence });
  if (!found) throw new UndoError(`the feed of incident ${incidentId} has no entry ${sequence}`);
  if (found.entry.kind !== 'merge') throw new UndoError(`entry ${sequence} is not a merge: an undo cannot be undone`);
  return found;
}
