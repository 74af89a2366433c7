import QuickLRU from 'quick-lru';
import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import { refusal } from '../../http/errors.ts';
import type { Handler } from '../../http/operation.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import { withSignal } from '../../table/client.ts';
import { isRowTooLarge, type NamedActions, TRANSACTION_ITEMS } from '../../table/write.ts';
import { commitAndMove } from './commit.ts';
import { decide, type EntryDeps, namedAndMore } from './decide.ts';
import type { EntryWithMoves } from './entry.ts';
import { MAX_PENDING } from './log-head.ts';
import { AlertsTooLargeError, type MergeLimits } from './move.ts';
import { TargetReader } from './read.ts';
import { type MergeCall, mergeRequestOf } from './request.ts';
import { mergeAlerts } from './schema.ts';
import validate from './validate-merge-alerts.ts';
import { WRITE_LIMIT } from './write-budget.ts';

const REPLAYED = { data: null, headers: { 'Idempotent-Replayed': 'true' } };

/**
 * Merges alerts into an incident, all or none at any size. `protocol.md` has the steps.
 * @param checkAccount of a merge without an app key: checks the account before each attempt, and returns one action that the commit requires
 */
export function createMergeAlerts(deps: Deps, limits: MergeLimits = {}, checkAccount?: () => Promise<NamedActions>) {
  const transactionItems = (limits.transactionItems ?? TRANSACTION_ITEMS) - Number(checkAccount !== undefined);
  const { log, metrics } = deps;
  // Has room for the pending entries of two accounts.
  const knownEntries = new QuickLRU<string, EntryWithMoves>({ maxSize: 2 * MAX_PENDING });
  const writeBudget = { limiter: createRateLimiter(WRITE_LIMIT, deps), now: deps.now };

  return async function merge(call: MergeCall) {
    const table = withSignal(deps.table, call.signal);
    const request = mergeRequestOf(call, deps.now());
    const reader = new TargetReader({ request, table, knownEntries, writeBudget, transactionItems });
    const committed = await commitAndMove(table, {
      async prepare(head) {
        const checks = await checkAccount?.();
        const found = await reader.read(head);
        return found && { ...decide(request, found, deps), checks };
      },
      transactionItems,
    }).catch((error) => {
      throw refusalOf(error, request.incidentId);
    });
    if (!committed) return REPLAYED;
    const { entry, unfinished } = committed;
    if (unfinished) {
      // The merge is committed; finish-merges makes the remaining moves.
      metrics.event('merge_left_pending');
      log.warn('merge left to finish-merges', {
        request_id: entry.request_id,
        error_name: (unfinished.error as Error).name,
      });
    }
    return { data: null };
  };
}

/**
 * What a merge without an app key would do if it were made now. Reads and checks the same, but writes nothing, so it reserves nothing either.
 * @throws ApiError as the merge would
 */
export async function previewMerge(deps: Pick<Deps, 'table'> & EntryDeps, call: MergeCall): Promise<EntryWithMoves> {
  const request = mergeRequestOf({ ...call, idempotencyKey: undefined }, deps.now());
  const reader = new TargetReader({
    request,
    table: withSignal(deps.table, call.signal),
    knownEntries: new Map(),
    writeBudget: { limiter: { take: async () => ({ windows: [] }) }, now: deps.now },
    transactionItems: TRANSACTION_ITEMS - 1, // beside the check of the account
  });
  const found = await reader.read(undefined);
  if (!found) throw new Error('a merge without an Idempotency-Key was done before');
  return decide(request, found, deps);
}

/** Translates an error into the caller's refusal; any other error is returned as it is. */
function refusalOf(error: unknown, incidentId: string): unknown {
  if (error instanceof AlertsTooLargeError) return refusal('alertsTooLarge', namedAndMore(error.alertIds));
  // Of the other rows that a merge commits, only the incident's has data of other systems.
  return isRowTooLarge(error) ? refusal('incidentTooLarge', { incidentId }) : error;
}

export const createHandler = (deps: Deps, limits?: MergeLimits): Handler =>
  createOperationHandler(mergeAlerts, { validate, operate: createMergeAlerts(deps, limits) }, deps);
