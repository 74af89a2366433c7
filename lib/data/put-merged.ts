/**
 * Rows that merges write, too. A row that is imported says up to which entry it stands for what the feeds tell: it overwrites
 * what those up to it have done, and takes part in the later ones.
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

/** What merges and imports note in a row. */
type Notes = Pick<AlertRow, 'moved_sequence' | 'stayed_sequence' | 'loaded_after'> & Pick<IncidentRow, 'last_change'>;
const NOTES = ['moved_sequence', 'stayed_sequence', 'loaded_after', 'last_change'] as const satisfies (keyof Notes)[];

/** The latest entry that a row knows of. */
const latestIn = ({ moved_sequence = 0, stayed_sequence = 0, loaded_after = 0, last_change }: Notes) =>
  Math.max(moved_sequence, stayed_sequence, loaded_after, last_change?.sequence ?? 0);

/**
 * Writes a row in place of the stored one, as long as no merge changes that meanwhile.
 * @param latest sequence of the account's latest entry when the import began; 0: there was none
 */
export async function putMerged(table: Table, row: Key & Row, latest: number, signal?: AbortSignal): Promise<void> {
  // Most rows are new: what is stored is found out when there is something.
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
