import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { readMergeOrder } from './merge-order.ts';
import { moveAlerts } from './move.ts';
import { readLargeEntry } from './read.ts';

/**
 * Finishes a merge that is committed: makes the moves that are left. May be called repeatedly and concurrently.
 * @throws UnmovableAlertsError when rows cannot be updated; all other alerts are moved then
 */
export async function finishMerge(
  table: Table,
  account: Int64,
  incidentId: string,
  sequence: number,
  transactionItems?: number,
): Promise<'finished' | 'nothing to do'> {
  const { pending = [] } = await readMergeOrder(table, account);
  if (!pending.some((one) => one.sequence === sequence)) return 'nothing to do';
  const large = await readLargeEntry(table, account, { incidentId, sequence });
  if (!large) return 'nothing to do';
  await moveAlerts(table, large, { transactionItems });
  return 'finished';
}
