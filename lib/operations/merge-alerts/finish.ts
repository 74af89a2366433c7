import type { Context, SQSEvent } from 'aws-lambda';
import { withSignal } from '../../dynamodb/client.ts';
import { type Key, parseKey } from '../../dynamodb/keys.ts';
import type { Deps } from '../../shared/deps.ts';
import { type PendingMerge, readAllPending } from './merge-order.ts';
import { finishMerge, UnmovableAlertsError } from './move.ts';

/** How long before the function's time-out it stops moving alerts, in milliseconds. */
const EARLY_MS = 2_000;
/** Age in milliseconds from which the schedule finishes a merge. Until then its queue message does. */
const OVERDUE_MS = 5 * 60_000;

/** The event of the stack's schedule: finish the merges whose messages were lost. */
export const OVERDUE = { finish: 'overdue' } as const;

export type FinishEvent = SQSEvent | typeof OVERDUE;

/**
 * Handler of finish-merges: finishes merges whose calls ended early. Each queue message has the key of a large merge's feed entry, and arrives
 * after the call has ended. The schedule finishes merges whose message was lost.
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

    async function finish({ account, entryId }: PendingMerge): Promise<void> {
      const fields = { account_id: account, incident_id: entryId.incidentId, sequence: entryId.sequence };
      try {
        const result = await finishMerge(tableWithSignal, account, entryId, transactionItems);
        if (result === 'not pending') return;
      } catch (error) {
        const alerts = error instanceof UnmovableAlertsError ? { alert_ids: error.alertIds.slice(0, 100) } : {};
        log.error('merge not finished', { ...fields, error_name: (error as Error).name, ...alerts });
        throw error;
      }
      metrics.event('merge_finished_late');
      log.warn('merge finished after its call', fields);
    }

    // A sequence is approximately the time of the commit, in milliseconds.
    const isOverdue = ({ entryId }: PendingMerge) => entryId.sequence < now() - OVERDUE_MS;
    if ('Records' in event)
      for (const { body } of event.Records) {
        const merge = mergeOf(body);
        // Not thrown: a retry cannot make it valid.
        if (!merge) log.error('merge not finished', { error_name: 'NotAFeedEntry' });
        else await finish(merge);
      }
    else
      for (const merge of await readAllPending(tableWithSignal))
        if (isOverdue(merge))
          // A failed one is logged and left to the next run of the schedule.
          await finish(merge).catch(() => undefined);
  };
}

/** The merge whose entry a message names; undefined: the message is malformed. */
function mergeOf(body: string): PendingMerge | undefined {
  try {
    const { kind, account, parts = [] } = parseKey(JSON.parse(body) as Key) ?? {};
    if (kind !== 'feedEntry' || account === undefined) return undefined;
    return { account, entryId: { incidentId: String(parts[0]), sequence: Number(parts[1]) } };
  } catch {
    return undefined;
  }
}
