import QuickLRU from 'quick-lru';
import type { Deps } from '../../deps.ts';
import { createOperationHandler } from '../../http/call.ts';
import { refusal } from '../../http/errors.ts';
import type { Handler } from '../../http/operation.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import { withSignal } from '../../table/client.ts';
import { isRowTooLarge, TRANSACTION_ITEMS } from '../../table/write.ts';
import { AlertsTooLargeError, type MergeLimits } from './alerts.ts';
import { commitAndMove } from './commit.ts';
import type { EntryWithMoves } from './entry.ts';
import { MAX_PENDING } from './log-head.ts';
import { createPreparer } from './prepare.ts';
import type { MergeCall } from './request.ts';
import { mergeAlerts } from './schema.ts';
import { namedAndMore } from './targets.ts';
import validate from './validate-merge-alerts.ts';

/**
 * Limits the read units of an account's merges; merges of up to 125 units are free. An average of 2,000 a second leaves to other calls most
 * of the 12,000 a second that a new table has.
 */
const READ_BUDGET = {
  name: mergeAlerts.name,
  rateWindows: [
    { name: 'burst', limit: 12_000, seconds: 3 },
    { name: 'minute', limit: 120_000, seconds: 60 },
  ],
  remembers: 'latest',
} as const;

/** Merges alerts into an incident, all or none at any size. `protocol.md` has the steps. */
export function createMergeAlerts(deps: Deps, { transactionItems = TRANSACTION_ITEMS }: MergeLimits = {}) {
  const { log, metrics } = deps;
  // Has room for the pending entries of two accounts.
  const knownEntries = new QuickLRU<string, EntryWithMoves>({ maxSize: 2 * MAX_PENDING });
  const readBudget = createRateLimiter(READ_BUDGET, deps);

  return async function merge(call: MergeCall) {
    const table = withSignal(deps.table, call.signal);
    const merged = await commitAndMove(table, {
      prepare: createPreparer({ call, deps, table, knownEntries, readBudget, transactionItems }),
      transactionItems,
    }).catch((error) => {
      throw refusalOf(error, call.body.incident_id.toLowerCase());
    });
    if ('result' in merged) return merged.result;
    const { committed, unfinished } = merged;
    if (unfinished) {
      // The merge is committed; finish-merges makes the remaining moves.
      metrics.event('merge_left_pending');
      log.warn('merge left to finish-merges', {
        request_id: committed.entry.request_id,
        error_name: (unfinished.error as Error).name,
      });
    }
    return { data: null };
  };
}

/**
 * What a merge would do if it were made now. Reads and checks the same, but writes nothing: its reads do not even count against the read budget.
 * @throws ApiError as the merge would
 */
export async function previewMerge(
  deps: Pick<Deps, 'table' | 'now' | 'newId'>,
  call: MergeCall,
): Promise<EntryWithMoves> {
  const prepare = createPreparer({
    call: { ...call, idempotencyKey: undefined },
    deps,
    table: withSignal(deps.table, call.signal),
    knownEntries: new Map(),
    readBudget: { take: async () => ({ windows: [] }) },
    transactionItems: TRANSACTION_ITEMS,
  });
  const preparation = await prepare(undefined);
  if ('result' in preparation) throw new Error('a merge without an Idempotency-Key was done before');
  return preparation.prepared;
}

/** Translates an error into the caller's refusal; any other error is returned as it is. */
function refusalOf(error: unknown, incidentId: string): unknown {
  if (error instanceof AlertsTooLargeError) return refusal('alertsTooLarge', namedAndMore(error.alertIds));
  // Of the other rows that a merge commits, only the incident's has data of other systems.
  return isRowTooLarge(error) ? refusal('incidentTooLarge', { incidentId }) : error;
}

export const createHandler = (deps: Deps, limits?: MergeLimits): Handler =>
  createOperationHandler(mergeAlerts, { validate, operate: createMergeAlerts(deps, limits) }, deps);
