import type { Deps } from '../deps.ts';
import type { Int64 } from '../json.ts';
import { batchGet, rowName } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { commit, fitsOneTransaction, type Relocation, type SeenAlert, TRANSACTION_ITEMS } from './commit.ts';
import type { AlertRow, FeedEntry, IncidentRow, Move } from './feed.ts';
import { effectiveWhereabouts, readEntry, readLedger } from './ledger.ts';
import { finishMerge, moveAlerts, unmark } from './move.ts';
import { pause } from './pause.ts';

/** Which merge to undo, and who says so. */
export interface UndoRequest {
  account: Int64;
  incidentId: string;
  /** Stamp of the merge's feed entry. */
  stamp: number;
  /** Who undoes it, for the feed. */
  by: string;
  requestId: string;
}

/** What an undoing does, or would do. */
export interface Undo {
  /** Alerts that go back to where the merge took them from. */
  moves: Move[];
  /** Alerts that have been moved elsewhere, or moved again, since: they stay. */
  left: string[];
  /** Stamp of the undoing's own feed entry; absent when there was nothing to move. */
  stamp?: number;
}

/** A merge that cannot be undone: the message says why. */
export class UndoError extends Error {
  override readonly name = 'UndoError';
}

type UndoDeps = Pick<Deps, 'table' | 'now' | 'newId'>;

/**
 * Undoes a merge: those of its alerts that are still where it moved them go back to where they came from, all or nothing,
 * with a feed entry of its own. Title and owner stay. Committed like a merge: what is too large for one transaction is
 * moved after it, by this call, by finish-merges, or by saying it again.
 * @throws UndoError when there is no such merge, or an incident that alerts came from is gone
 */
export async function undoMerge(
  deps: UndoDeps,
  request: UndoRequest,
  transactionItems = TRANSACTION_ITEMS,
): Promise<Undo> {
  const { table } = deps;
  for (let attempt = 1; ; attempt += 1) {
    const { undo, relocation, unfinished } = await prepare(deps, request, transactionItems);
    if (unfinished !== undefined) {
      await finishMerge(table, request.account, request.incidentId, unfinished);
      continue;
    }
    if (undo.moves.length === 0) return undo;
    const outcome = await commit(table, relocation);
    if (outcome === 'pending') {
      await moveAlerts(table, request.account, relocation.entry.stamp, relocation.moves);
      await unmark(table, request.account, relocation.entry);
    }
    if (outcome !== 'changed') return { ...undo, stamp: relocation.entry.stamp };
    await pause(attempt);
  }
}

/** What {@link undoMerge} would do now. @throws UndoError */
export async function planUndo(deps: UndoDeps, request: UndoRequest): Promise<Undo> {
  return (await prepare(deps, request, TRANSACTION_ITEMS)).undo;
}

interface Prepared {
  undo: Undo;
  relocation: Relocation;
  /** Stamp of an undoing of this very merge whose moves are not done: an earlier call was cut short. */
  unfinished: number | undefined;
}

async function prepare(
  { table, now, newId }: UndoDeps,
  request: UndoRequest,
  transactionItems: number,
): Promise<Prepared> {
  const { account, incidentId, stamp, by, requestId } = request;
  const merge = await readMerge(table, request);
  // The ledger before the alerts: a large commit is conditional on nothing else.
  const ledgerKey = keys.mergeLedger(account);
  const ledger = readLedger((await batchGet(table, [ledgerKey])).get(rowName(ledgerKey)));
  const pending = (
    await Promise.all(ledger.pending.map((one) => readEntry(table, account, one.incidentId, one.stamp)))
  ).filter((one) => one !== undefined);
  const unfinished = pending.find(({ entry }) => entry.incident_id === incidentId && entry.undone_stamp === stamp);

  const alertKeys = merge.moves.map(({ alertId }) => keys.alert(account, alertId));
  const incidentIds = [...new Set([incidentId, ...merge.moves.flatMap(({ from }) => from ?? [])])];
  const incidentKeys = incidentIds.map((id) => keys.incident(account, id));
  const rows = await batchGet(table, [...incidentKeys, ...alertKeys]);
  const gone = incidentIds.filter((_id, at) => !rows.has(rowName(incidentKeys[at] ?? ledgerKey)));
  if (gone.length > 0) throw new UndoError(`there is no incident ${gone[0]} any more: its alerts cannot go back`);

  const whereabouts = effectiveWhereabouts(pending);
  const seen = new Map<string, SeenAlert>();
  const moves: Move[] = [];
  const left: string[] = [];
  for (const [at, { alertId, from }] of merge.moves.entries()) {
    const row = rows.get(rowName(alertKeys[at] ?? ledgerKey)) as unknown as AlertRow | undefined;
    const seenNow = row && { row, now: whereabouts(row) };
    if (!seenNow || !isStillThere(seenNow, incidentId, stamp)) {
      left.push(alertId);
      continue;
    }
    seen.set(alertId, seenNow);
    moves.push({ alertId, from: incidentId, to: from });
  }
  const atMs = now();
  const after = (latest: number, { now: { stamp: moved = 0 } }: SeenAlert) => Math.max(latest, moved + 1);
  const relocation: Relocation = {
    account,
    entry: {
      kind: 'merge_undone',
      incident_id: incidentId,
      stamp: [...seen.values()].reduce(after, Math.max(atMs, (ledger.last ?? 0) + 1)),
      merge_id: newId(),
      at_ms: atMs,
      by,
      request_id: requestId,
      undone_stamp: stamp,
    },
    moves,
    stayed: [],
    seen,
    incident: rows.get(rowName(keys.incident(account, incidentId))) as unknown as IncidentRow,
    ledger,
    large: !fitsOneTransaction(moves.length, {}, transactionItems),
  };
  return { undo: { moves, left }, relocation, unfinished: unfinished?.entry.stamp };
}

/** Where the merge put it, and not moved since. Data that was loaded again has no stamps: then the place decides. */
const isStillThere = ({ now }: SeenAlert, incidentId: string, stamp: number) =>
  now.incidentId === incidentId && (now.stamp === undefined || now.stamp === stamp);

async function readMerge(
  table: Table,
  { account, incidentId, stamp }: UndoRequest,
): Promise<{ entry: FeedEntry; moves: Move[] }> {
  const found = await readEntry(table, account, incidentId, stamp);
  if (!found) throw new UndoError(`the feed of incident ${incidentId} has no entry ${stamp}`);
  if (found.entry.kind !== 'merge') throw new UndoError(`entry ${stamp} is no merge: an undoing cannot be undone`);
  return found;
}
