import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import { batchGet, type Row, rowName } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';

/** Where the feed entry of a merge is whose alerts are not all moved yet. */
export interface PendingMerge {
  sequence: number;
  incidentId: string;
}

/** One row an account that puts its merges in order, and the only place that says which are pending. */
export interface Ledger {
  /** Sequence of the latest merge. */
  last: number | undefined;
  /** Sequence of the latest large one. */
  lastLarge: number | undefined;
  /** In ascending order of their sequences; undefined: the row has no such list yet. */
  pending: PendingMerge[] | undefined;
}

/** What of the row is read. */
export const LEDGER_ATTRIBUTES = ['last', 'last_large', 'pending'] as const;

export function ledgerOf(row: Row | undefined): Ledger {
  const pending = row?.pending as Record<string, string> | undefined;
  return {
    last: row?.last as number | undefined,
    lastLarge: row?.last_large as number | undefined,
    pending:
      pending &&
      Object.entries(pending)
        .map(([sequence, incidentId]) => ({ sequence: Number(sequence), incidentId }))
        .sort((one, other) => one.sequence - other.sequence),
  };
}

export async function readLedger(table: Table, account: Int64, signal?: AbortSignal): Promise<Ledger> {
  const key = keys.mergeLedger(account);
  return ledgerOf((await batchGet(table, [key], signal)).get(rowName(key)));
}

/** Takes a merge whose alerts are all moved from the pending ones. */
export async function removePending(
  table: Table,
  account: Int64,
  sequence: number,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.mergeLedger(account),
        UpdateExpression: 'REMOVE #pending.#sequence',
        ConditionExpression: 'attribute_exists(#pending.#sequence)',
        ExpressionAttributeNames: { '#pending': 'pending', '#sequence': String(sequence) },
      }),
      signal ? { abortSignal: signal } : {},
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error; // otherwise it is gone already
  }
}
