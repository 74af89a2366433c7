import type { Context, SQSEvent } from 'aws-lambda';
import { withSignal } from '../../dynamodb/client.ts';
import { type Key, parseKey } from '../../dynamodb/keys.ts';
import type { Deps } from '../../shared/deps.ts';
import { finishMerge, UnmovableAlertsError } from './move.ts';
import { type PendingMerge, readAllPending } from './pending.ts';

/** Milliseconds before the function's time-out at which it ends what it does. */
const EARLY_MS = 2_000;
/** Milliseconds after its commit. Until then the queue's message finishes a merge. */
const OVERDUE_MS = 5 * 60_000;

/** What the stack's schedule sends: finish what no message has finished. */
export const OVERDUE = { finish: 'overdue' } as const;

export type FinishEvent = SQSEvent | typeof OVERDUE;

/**
 * Finishes the merges whose calls did not. Each message holds the key of a large feed entry, and is delayed until the call has
 * ended. A failure is thrown, so that the message is retried; moves already made remain. The schedule finishes merges whose
 * message was lost.
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
    const signalled = withSignal(table, signal);

    async function finish({ account, place }: PendingMerge): Promise<void> {
      const fields = { account_id: account, incident_id: place.incidentId, sequence: place.sequence };
      try {
        const result = await finishMerge(signalled, account, place, transactionItems);
        if (result === 'nothing to do') return;
      } catch (error) {
        const alerts = error instanceof UnmovableAlertsError ? { alert_ids: error.alertIds.slice(0, 100) } : {};
        log.error('merge not finished', { ...fields, error_name: (error as Error).name, ...alerts });
        throw error;
      }
      metrics.event('merge_finished_late');
      log.warn('merge finished after its call', fields);
    }

    if ('Records' in event)
      for (const { body } of event.Records) {
        const merge = mergeOf(body);
        // It would come again 160 times, and never be understood.
        if (!merge) log.error('merge not finished', { error_name: 'NotAFeedEntry' });
        else await finish(merge);
      }
    else
      for (const merge of await readAllPending(signalled))
        if (merge.place.sequence < now() - OVERDUE_MS)
          // One that fails is logged, and tried again at the next time; it does not hold up the others.
          await finish(merge).catch(() => undefined);
  };
}

/** The entry that a message names; undefined: it names none. */
function mergeOf(body: string): PendingMerge | undefined {
  try {
    const { kind, account, parts = [] } = parseKey(JSON.parse(body) as Key) ?? {};
    if (kind !== 'feedEntry' || account === undefined) return undefined;
    return { account, place: { incidentId: String(parts[0]), sequence: Number(parts[1]) } };
  } catch {
    return undefined;
  }
}
