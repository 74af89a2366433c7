/**
 * Rows that merges write, too. An imported row records the latest entry that it replaces: it overwrites
 * the effects of entries up to that one, and later entries apply to it.
 */
import type { AlertRow, IncidentRow } from '../incidents/rows.ts';
import type { Table } from '../table/client.ts';
import { IS_NEW, isAsRead } from '../table/expression.ts';
import { putRow } from '../table/row.ts';
import type { Entity } from './format.ts';
import type { StoredRow } from './rows.ts';
import { untilNotThrottled } from './until-not-throttled.ts';

export const isMerged = ({ kind }: Entity) => kind === 'alert' || kind === 'incident';

/** Fields that merges and imports record in a row. */
type Notes = Pick<AlertRow, 'moved_sequence' | 'stayed_sequence' | 'loaded_after'> & Pick<IncidentRow, 'last_change'>;
const NOTES = ['moved_sequence', 'stayed_sequence', 'loaded_after', 'last_change'] as const satisfies (keyof Notes)[];

/** The latest entry recorded in a row. */
const latestIn = ({ moved_sequence = 0, stayed_sequence = 0, loaded_after = 0, last_change }: Notes) =>
  Math.max(moved_sequence, stayed_sequence, loaded_after, last_change?.sequence ?? 0);

/**
 * Replaces a stored row, unless a merge changes it meanwhile.
 * @param latest sequence of the account's latest entry when the import began; 0: there was none
 */
export async function putMerged(table: Table, row: StoredRow, latest: number): Promise<void> {
  // Most rows are new: the stored one is read only if the write finds one.
  let stored: Notes | undefined;
  for (;;) {
    const after = stored ? Math.max(latest, latestIn(stored)) : latest;
    const noted = { ...row, ...(after > 0 && { loaded_after: after }) };
    const condition = stored ? isAsRead(stored, NOTES) : IS_NEW;
    const put = () => putRow(table, noted, condition, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
    const { done, row: found } = await untilNotThrottled(put, table.signal);
    if (done) return;
    stored = found as Notes | undefined;
  }
}
