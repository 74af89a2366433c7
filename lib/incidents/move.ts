import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import type { FeedEntry, Move } from './feed.ts';
import { pendingAttribute, readEntry } from './ledger.ts';
import { pause } from './pause.ts';

/** Writes under way at once. */
const CONCURRENCY = 32;

/** How a move changes the alert's row; the same in a transaction and after it. */
export function moveUpdate({ to }: Pick<Move, 'to'>, stamp: number) {
  return to === undefined
    ? { UpdateExpression: 'SET moved_stamp = :stamp REMOVE incident_id', values: { ':stamp': stamp } }
    : { UpdateExpression: 'SET incident_id = :to, moved_stamp = :stamp', values: { ':stamp': stamp, ':to': to } };
}

/** Moves one alert, unless a later merge already has, or the alert is gone. */
async function moveAlert(table: Table, account: Int64, stamp: number, move: Move, signal?: AbortSignal): Promise<void> {
  const { UpdateExpression, values } = moveUpdate(move, stamp);
  try {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.alert(account, move.alertId),
        UpdateExpression,
        ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(moved_stamp) OR moved_stamp < :stamp)',
        ExpressionAttributeValues: values,
      }),
      signal ? { abortSignal: signal } : {},
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}

/**
 * Does the moves of a committed merge; each can be done again without harm. The first failure ends all of them, so that none
 * is under way any more when this returns. @throws the first failure
 */
export async function moveAlerts(
  table: Table,
  account: Int64,
  stamp: number,
  moves: readonly Move[],
  signal?: AbortSignal,
): Promise<void> {
  const left = moves.values();
  const stop = new AbortController();
  const ending = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    try {
      for (const move of left) await moveAlert(table, account, stamp, move, ending);
    } catch (error) {
      failure ??= { error };
      stop.abort();
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, moves.length) }, worker));
  if (failure) throw failure.error;
}

/** Takes the mark of a merge away whose moves are all done: from its entry and from the ledger, in one transaction. */
export async function unmark(
  table: Table,
  account: Int64,
  entry: Pick<FeedEntry, 'incident_id' | 'stamp'>,
  signal?: AbortSignal,
): Promise<void> {
  const remove = new TransactWriteCommand({
    TransactItems: [
      {
        Update: {
          TableName: table.name,
          Key: keys.feedEntry(account, entry.incident_id, entry.stamp),
          UpdateExpression: 'REMOVE pending',
          ConditionExpression: 'attribute_exists(pk)',
        },
      },
      {
        Update: {
          TableName: table.name,
          Key: keys.mergeLedger(account),
          UpdateExpression: 'REMOVE #pending',
          ExpressionAttributeNames: { '#pending': pendingAttribute(entry.stamp) },
        },
      },
    ],
  });
  for (let attempt = 1; ; attempt += 1) {
    try {
      await table.client.send(remove, signal ? { abortSignal: signal } : {});
      return;
    } catch (error) {
      const conflict =
        error instanceof TransactionCanceledException &&
        error.CancellationReasons?.some(({ Code }) => Code === 'TransactionConflict');
      if (!conflict || attempt === 10) throw error;
      await pause(attempt, signal);
    }
  }
}

/**
 * Finishes a merge that is committed: moves what is left to move, then unmarks it. Does nothing for one that is finished.
 * @returns whether there was anything to finish
 */
export async function finishMerge(
  table: Table,
  account: Int64,
  incidentId: string,
  stamp: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const merge = await readEntry(table, account, incidentId, stamp, signal);
  if (!merge?.entry.pending) return false;
  await moveAlerts(table, account, stamp, merge.moves, signal);
  await unmark(table, account, merge.entry, signal);
  return true;
}
