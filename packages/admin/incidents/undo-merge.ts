import type { Deps } from '../../../lib/deps.ts';
import { commitAndMove } from '../../../lib/operations/merge-alerts/commit.ts';
import {
  type EntryDeps,
  expiryOf,
  type PreparedEntry,
  placeOf,
  resolve,
} from '../../../lib/operations/merge-alerts/decide.ts';
import {
  isMoved,
  type Move,
  readEntries,
  readEntry,
  readHistory,
  readLog,
} from '../../../lib/operations/merge-alerts/entry.ts';
import { finishMerge, readOrigins } from '../../../lib/operations/merge-alerts/finish.ts';
import { isPending, type LogHead, readLogHead } from '../../../lib/operations/merge-alerts/log-head.ts';
import { type MergeLimits, readAssignments } from '../../../lib/operations/merge-alerts/move.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import { checkNotErased } from '../accounts/accounts.ts';

/** The merge to undo, and the operator who undoes it. */
export interface UndoRequest {
  account: Int64;
  incidentId: string;
  sequence: number;
  /** Who undoes it, for the history. */
  by: string;
  requestId: string;
}

/** What an undo has done, or would do. */
export interface Undo {
  /** Moves of alerts back to where the merge took them from. */
  moves: readonly Move[];
  /** Ids of alerts that stay, since they have moved again after the merge. */
  left: string[];
  /** Ids of alerts that stay, since their former incidents do not exist any more. */
  originMissing: string[];
  /** How many alerts have expired since. */
  expired: number;
  /** Sequence of the undo's history entry; absent if there was nothing to move. */
  sequence?: number;
  /** Sequence of an earlier undo of the same merge; absent if there is none, or alerts are left to move. */
  undoneBy?: number;
}

/** A merge cannot be undone. The message says why, in lower case and without a full stop. */
export class UndoError extends Error {
  override readonly name = 'UndoError';
}

type UndoDeps = Pick<Deps, 'table'> & EntryDeps;

/**
 * Undoes a merge: its alerts go back to where they came from, all or none, unless they have moved since. Title and owner stay. The undo
 * has a history entry of its own, which is committed like that of a large merge.
 * @throws UndoError if there is no such merge, AccountError if the account is erased
 * @throws AlertsTooLargeError after all other alerts are moved
 */
export async function undoMerge(deps: UndoDeps, request: UndoRequest, limits: MergeLimits = {}): Promise<Undo> {
  const { table } = deps;
  const prepare = await createPreparer(deps, request);
  let undo: Undo = { moves: [], left: [], originMissing: [], expired: 0 };
  const committed = await commitAndMove(table, {
    async prepare(head) {
      const plan = await prepare(head);
      undo = plan.undo;
      return undo.moves.length === 0 ? undefined : plan.prepared;
    },
    ...limits,
  });
  if (committed) {
    if (committed.unfinished) throw committed.unfinished.error;
    return { ...undo, sequence: committed.entry.sequence };
  }
  const done = await withEarlierUndo(table, request, undo);
  if (done.undoneBy !== undefined)
    await finishMerge(table, request.account, { incidentId: request.incidentId, sequence: done.undoneBy });
  return done;
}

/** What {@link undoMerge} would do now. @throws UndoError */
export async function planUndo(deps: UndoDeps, request: UndoRequest): Promise<Undo> {
  const { undo } = await (await createPreparer(deps, request))(undefined);
  return undo.moves.length === 0 ? withEarlierUndo(deps.table, request, undo) : undo;
}

/** Adds the entry that already undid the merge, if any. */
async function withEarlierUndo(
  table: Table,
  { account, incidentId, sequence }: UndoRequest,
  undo: Undo,
): Promise<Undo> {
  const history = await readHistory(table, account, incidentId);
  const earlier = history.findLast(({ entry }) => entry.undone_sequence === sequence);
  return earlier ? { ...undo, undoneBy: earlier.entry.sequence } : undo;
}

/**
 * Reads what an undo depends on. The function that it returns prepares each attempt, and then reads only the entries that were committed
 * meanwhile: so an undo overtakes merges that are committed without pause.
 */
async function createPreparer(
  { table, now, newId, settings: { regionDigit } }: UndoDeps,
  { account, incidentId, sequence: undoneSequence, by, requestId }: UndoRequest,
) {
  const headBefore = await readLogHead(table, account);
  const found = await readEntry(table, account, { incidentId, sequence: undoneSequence });
  if (!found) throw new UndoError(`the history of incident ${incidentId} has no entry ${undoneSequence}`);
  if (found.entry.kind !== 'merge')
    throw new UndoError(`entry ${undoneSequence} is not a merge: an undo cannot be undone`);
  const merge = isPending(headBefore, found.entry) ? await readOrigins(table, account, found) : found;
  const allMoved = merge.moves.filter(isMoved);
  const rows = await readAssignments(table, account, allMoved);
  const moved = allMoved.filter(({ alertId }) => rows.has(alertId));
  const expired = allMoved.length - moved.length;
  const incidentIds = new Set([incidentId, ...moved.flatMap(({ from }) => from ?? [])]);
  const incidentKeys = [...incidentIds].map((id) => keys.incident(account, id));
  const { rows: incidents } = await batchGet(table, incidentKeys);
  const incident = incidents.of(keys.incident(account, incidentId));
  if (!incident) throw new UndoError(`incident ${incidentId} does not exist`);
  const hasOrigin = ({ from }: Move) => from === undefined || incidents.of(keys.incident(account, from)) !== undefined;

  const entries = await readEntries(table, account, headBefore.pending);
  let readUpTo = headBefore;

  return async function prepare(currentHead: LogHead | undefined): Promise<{ undo: Undo; prepared: PreparedEntry }> {
    const head = currentHead ?? (await readLogHead(table, account));
    const checks = await checkNotErased(table, account);
    entries.push(...(await readLog(table, account, readUpTo, head)));
    readUpTo = head;
    const resolved = resolve(rows, entries);
    /** Whether no later entry took the alert. An imported alert records no entry: then only its current incident decides. */
    const isUnmoved = ({ alertId }: Move) => {
      const { incident_id: current, moved_sequence: latest = undoneSequence } = resolved.get(alertId) ?? {};
      return current === incidentId && latest === undoneSequence;
    };
    const idsOf = (some: readonly Move[]) => some.map(({ alertId }) => alertId);
    const unmoved = moved.filter(isUnmoved);
    const moves = unmoved
      .filter(hasOrigin)
      .map(({ alertId, from, to }) => ({ alertId, from: to, to: from, takenBefore: true as const }));
    const left = idsOf(moved.filter((move) => !isUnmoved(move)));
    const originMissing = idsOf(unmoved.filter((move) => !hasOrigin(move)));
    const atMs = now();
    const entry: PreparedEntry['entry'] = {
      kind: 'merge_undone',
      incident_id: incidentId,
      ...placeOf(atMs, regionDigit, { head, rows: resolved, incident }),
      ...expiryOf(rows),
      merge_id: newId(),
      at_ms: atMs,
      by,
      request_id: requestId,
      undone_sequence: undoneSequence,
      large: true,
    };
    const prepared = { account, entry, moves, rows, incident, head, checks };
    return { undo: { moves, left, originMissing, expired }, prepared };
  };
}
