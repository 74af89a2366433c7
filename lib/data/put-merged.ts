/**
 * Rows that merges write, too. An imported row records the latest entry that it replaces: it overwrites
 * the effects of entries up to that one, and later entries apply to it.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, type PutCommandInput } from '@aws-sdk/lib-dynamodb';
import type { AlertRow, IncidentRow } from '../incidents/feed.ts';
import { Condition, valuesOf } from '../incidents/transaction.ts';
import type { Row } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import type { Entity } from './format.ts';
import { untilNotThrottled } from './until-not-throttled.ts';

/** Whether merges write the row of an entity. */
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
export async function putMerged(table: Table, row: Key & Row, latest: number, signal?: AbortSignal): Promise<void> {
  // Most rows are new: the stored one is read only if the write finds one.
  let stored: Notes | undefined;
  let written = false;
  while (!written) {
    const command = new PutCommand({ TableName: table.name, ...putOver(stored, row, latest) });
    await untilNotThrottled(async () => {
      try {
        await table.client.send(command, signal ? { abortSignal: signal } : {});
        written = true;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        stored = error.Item && table.unmarshall<Notes>(error.Item);
      }
      return true;
    }, signal);
  }
}

/** @param stored undefined: there is no row */
function putOver(stored: Notes | undefined, row: Key & Row, latest: number): Omit<PutCommandInput, 'TableName'> {
  const after = stored ? Math.max(latest, latestIn(stored)) : latest;
  const condition = new Condition();
  const isAsRead = stored
    ? ['attribute_exists(pk)', ...NOTES.map((name) => condition.is(name, stored[name]))]
    : ['attribute_not_exists(pk)'];
  return {
    Item: { ...row, ...(after > 0 && { loaded_after: after }) },
    ConditionExpression: isAsRead.join(' AND '),
    ...valuesOf(condition.values),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}
