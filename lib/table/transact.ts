import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Table } from './client.ts';
import { isUnavailable } from './failures.ts';

/** One write or condition of a transaction. */
export type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

const MOST_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 20;

/**
 * Writes all of the actions or none. While DynamoDB leaves unknown whether it did, the request is repeated with the same
 * ClientRequestToken, which DynamoDB applies once: so a lost reply never turns a success into a failure. A conflict with
 * another transaction, after which nothing is written, is tried again.
 * @returns the index of the first action whose condition does not hold; undefined when all are written
 */
export async function transact(table: Table, actions: readonly Action[]): Promise<number | undefined> {
  let token = randomUUID();
  for (let attempt = 1; ; attempt += 1)
    try {
      await table.client.send(new TransactWriteCommand({ TransactItems: [...actions], ClientRequestToken: token }));
      return undefined;
    } catch (error) {
      if (error instanceof TransactionCanceledException) {
        const failed = (error.CancellationReasons ?? []).findIndex(({ Code }) => Code === 'ConditionalCheckFailed');
        if (failed >= 0) return failed;
        token = randomUUID();
      }
      if (!isUnavailable(error) || attempt === MOST_ATTEMPTS) throw error;
      await sleep(FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2));
    }
}
