/** Finishes committed large entries: by their own calls, and by the function finish-merges. */
import type { Context, SQSEvent } from 'aws-lambda';
import type { Deps } from '../../deps.ts';
import { allInOrder, backoff, isUnavailable, THROTTLING } from '../../shared/concurrency.ts';
import type { Int64 } from '../../shared/json.ts';
import { type Table, withSignal } from '../../table/client.ts';
import { EXISTS, set } from '../../table/expression.ts';
import { type Key, keys, parseKey } from '../../table/keys.ts';
import { updateRow } from '../../table/write.ts';
import {
  type EntryId,
  EntryMissingError,
  type EntryWithMoves,
  type Move,
  originsOf,
  readEntries,
  readLog,
} from './entry.ts';
import { listPendingEntryIds, type PendingEntryId, readLogHead, removePending } from './log-head.ts';
import { AlertsTooLargeError, type MoveOptions, moveAlerts } from './move.ts';

/**
 * A committed entry with its true origins. While a large merge read its alerts, and until its commit, other entries may have taken some
 * of them: then it takes these from where the latest such entry put them (invariant *known*).
 * @param since the entries after `read_since`, oldest first
 */
export function correctOrigins({ entry, moves }: EntryWithMoves, since: readonly EntryWithMoves[]): EntryWithMoves {
  const destinations = new Map<string, string | undefined>();
  for (const other of since)
    if (other.entry.sequence < entry.sequence) for (const { alertId, to } of other.moves) destinations.set(alertId, to);
  return {
    entry,
    moves: moves.map((move) =>
      destinations.has(move.alertId) ? { ...move, from: destinations.get(move.alertId), takenBefore: true } : move,
    ),
  };
}

/** {@link correctOrigins}, by the account's log. Of an undo, and of a small merge, the origins are true at the commit. */
export async function readOrigins(table: Table, account: Int64, found: EntryWithMoves): Promise<EntryWithMoves> {
  const { read_since, sequence } = found.entry;
  if (read_since === undefined) return found;
  return correctOrigins(found, await readLog(table, account, read_since, readLogHead(table, account), sequence));
}

/**
 * Stores the true origins of a committed large entry, writes the entry to the rows of its alerts, and then removes it from the pending ones.
 * May be called repeatedly and concurrently.
 * @throws what {@link moveAlerts} throws
 */
export async function finishEntry(
  table: Table,
  account: Int64,
  found: EntryWithMoves,
  options?: MoveOptions,
): Promise<void> {
  // A row takes its origin from itself, so it need not wait for those of the entry.
  await allInOrder([storeOrigins(table, account, found), moveAlerts(table, account, found, options)]);
  await removePending(table, account, found.entry);
}

async function storeOrigins(table: Table, account: Int64, found: EntryWithMoves): Promise<void> {
  const { entry, moves } = await readOrigins(table, account, found);
  const isCorrected = ({ from, takenBefore }: Move, index: number) =>
    from !== found.moves[index]?.from || takenBefore !== found.moves[index]?.takenBefore;
  if (!moves.some(isCorrected)) return;
  const origins = set(originsOf(entry, moves));
  await updateRow(table, keys.historyEntry(account, entry.incident_id, entry.sequence), origins, EXISTS);
}

/** Maximum retries when the table has no abort signal that would end them. */
const MAX_RETRIES = 8;

/**
 * Finishes a committed merge. When DynamoDB is unavailable, it retries until the table's signal aborts.
 * @throws AlertsTooLargeError after all other alerts are moved, EntryMissingError at once
 */
export async function finishMerge(
  table: Table,
  account: Int64,
  id: EntryId,
  transactionItems?: number,
): Promise<'finished' | 'not pending'> {
  for (let retries = 0; ; retries += 1)
    try {
      const wasPending = await finishIfPending(table, account, id, transactionItems);
      return wasPending || retries > 0 ? 'finished' : 'not pending';
    } catch (error) {
      const isOver = table.signal ? table.signal.aborted : retries === MAX_RETRIES;
      // Waiting brings no lost entry back, and the schedule has other merges to finish.
      if (!isUnavailable(error) || error instanceof EntryMissingError || isOver) throw error;
      await backoff(retries + 1, THROTTLING, table.signal).catch(() => {
        throw error;
      });
    }
}

/** @returns whether it was pending */
async function finishIfPending(table: Table, account: Int64, id: EntryId, transactionItems?: number): Promise<boolean> {
  const { pending = [] } = await readLogHead(table, account);
  if (!pending.some(({ sequence }) => sequence === id.sequence)) return false;
  const [found] = await readEntries(table, account, [id]);
  await finishEntry(table, account, found as EntryWithMoves, { transactionItems });
  return true;
}

/** How long before the function's time-out it stops moving alerts, in milliseconds. */
const EARLY_MS = 2_000;
/** Age in milliseconds from which the schedule finishes a merge. Until then its call or its queue message does. */
const OVERDUE_MS = 90_000;

/** The event of the stack's schedule: finish the merges whose messages were lost. */
export const OVERDUE = { finish: 'overdue' } as const;

export type FinishEvent = SQSEvent | typeof OVERDUE;

/**
 * Handler of finish-merges: finishes merges whose calls ended early. Each queue message has the key of a large merge's entry, and
 * arrives after the call has ended. The schedule finishes merges whose message was lost.
 * @throws what {@link finishMerge} throws, so that the message is retried; completed moves remain
 */
export function createFinishMerges(
  { table, now, log, metrics }: Pick<Deps, 'table' | 'now' | 'log' | 'metrics'>,
  transactionItems?: number,
) {
  return async function finishMerges(
    event: FinishEvent,
    { getRemainingTimeInMillis }: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<void> {
    const signal = AbortSignal.timeout(Math.max(1, getRemainingTimeInMillis() - EARLY_MS));
    const tableWithSignal = withSignal(table, signal);

    async function finish({ account, entryId }: PendingEntryId): Promise<void> {
      const fields = { account_id: account, incident_id: entryId.incidentId, sequence: entryId.sequence };
      try {
        const result = await finishMerge(tableWithSignal, account, entryId, transactionItems);
        if (result === 'not pending') return;
      } catch (error) {
        const alerts = error instanceof AlertsTooLargeError ? { alert_ids: error.alertIds.slice(0, 100) } : {};
        log.error('merge not finished', { ...fields, error_name: (error as Error).name, ...alerts });
        throw error;
      }
      metrics.event('merge_finished_late');
      log.warn('merge finished after its call', fields);
    }

    // A sequence is the time of the commit in milliseconds, unless some clock was ahead: then it may be higher, and tells no age.
    const isOverdue = ({ entryId: { sequence } }: PendingEntryId) =>
      sequence < now() - OVERDUE_MS || sequence > now() + OVERDUE_MS;
    if ('Records' in event)
      for (const { body } of event.Records) {
        const merge = mergeOf(body);
        // Not thrown: a retry cannot make it valid.
        if (!merge) log.error('merge not finished', { error_name: 'NotAHistoryEntry' });
        else await finish(merge);
      }
    else
      for (const merge of await listPendingEntryIds(tableWithSignal))
        if (isOverdue(merge))
          // A failed one is logged and left to the next run of the schedule.
          await finish(merge).catch(() => undefined);
  };
}

/** The merge whose entry a message names; undefined: the message is malformed. */
function mergeOf(body: string): PendingEntryId | undefined {
  try {
    const { kind, account, parts = [] } = parseKey(JSON.parse(body) as Key) ?? {};
    if (kind !== 'historyEntry' || account === undefined) return undefined;
    return { account, entryId: { incidentId: String(parts[0]), sequence: Number(parts[1]) } };
  } catch {
    return undefined;
  }
}
