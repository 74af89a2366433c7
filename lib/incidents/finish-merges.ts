import type { Context, SQSEvent } from 'aws-lambda';
import type { Deps } from '../deps.ts';
import { withSignal } from '../table/client.ts';
import { type Key, parseKey } from '../table/keys.ts';
import { finishMerge, UnmovableAlertsError } from './move.ts';

/** Milliseconds before the function's time-out at which it ends what it does. */
const EARLY_MS = 2_000;

/**
 * Finishes the merges whose calls did not: each message holds the key of a large feed entry. It is delayed until the call has
 * ended. A failure is thrown, so that the message is retried; moves already made remain.
 */
export function createFinishMerges(
  { table, log, metrics }: Pick<Deps, 'table' | 'log' | 'metrics'>,
  transactionItems?: number,
) {
  return async function finishMerges(
    { Records }: SQSEvent,
    { getRemainingTimeInMillis }: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<void> {
    const signal = AbortSignal.timeout(Math.max(1, getRemainingTimeInMillis() - EARLY_MS));
    for (const { body } of Records) {
      const { kind, account, parts } = parseKey(JSON.parse(body) as Key) ?? {};
      if (kind !== 'feedEntry' || account === undefined) throw new Error('the message is not the key of a feed entry');
      const place = { incidentId: String(parts?.[0]), sequence: Number(parts?.[1]) };
      const fields = { account_id: account, incident_id: place.incidentId, sequence: place.sequence };
      try {
        const result = await finishMerge(withSignal(table, signal), account, place, transactionItems);
        if (result === 'nothing to do') continue;
      } catch (error) {
        const alerts = error instanceof UnmovableAlertsError ? { alert_ids: error.alertIds.slice(0, 100) } : {};
        log.error('merge not finished', { ...fields, error_name: (error as Error).name, ...alerts });
        throw error;
      }
      metrics.event('merge_finished_late');
      log.warn('merge finished after its call', fields);
    }
  };
}
