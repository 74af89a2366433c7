import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { backoff, THROTTLED } from './backoff.ts';
import type { Row } from './batch-get.ts';
import type { Table } from './client.ts';
import { isUnavailable } from './failures.ts';
import { type SendOptions, settle } from './settle.ts';

/** One write or condition of a transaction. */
export type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

const MOST_ATTEMPTS = 8;
/** Of a request with unknown outcome; each is several attempts of the SDK. */
const MOST_REPEATS = 2;

/**
 * Writes all of the actions or none. While DynamoDB leaves unknown whether it did, the request is repeated with the same
 * ClientRequestToken, which DynamoDB applies once; and where the last action puts a row, such as the audit's, that row decides.
 * So a lost reply never turns a success into a failure. A conflict with another transaction, which writes nothing,
 * is retried.
 * @returns the index of the first action whose condition does not hold; undefined when all are written
 */
export async function transact(table: Table, actions: readonly Action[]): Promise<number | undefined> {
  const own = actions.at(-1)?.Put?.Item;
  let token = randomUUID();
  let repeats = 0;
  for (let attempt = 1; ; attempt += 1)
    try {
      const transaction = new TransactWriteCommand({ TransactItems: [...actions], ClientRequestToken: token });
      await settle<unknown>({
        send: (options) => table.client.send(transaction, options),
        look: (options) => findRow(table, own, options),
      });
      return undefined;
    } catch (error) {
      if (error instanceof TransactionCanceledException) {
        const failed = (error.CancellationReasons ?? []).findIndex(({ Code }) => Code === 'ConditionalCheckFailed');
        // An earlier attempt may have been applied late, after its check.
        if (failed >= 0) return attempt > 1 && (await findRow(table, own, {})) ? undefined : failed;
        token = randomUUID();
      } else repeats += 1;
      if (!isUnavailable(error) || attempt === MOST_ATTEMPTS || repeats > MOST_REPEATS) throw error;
      await backoff(attempt, THROTTLED);
    }
}

/** Puts a row that no other writer puts; a lost reply is no failure. */
export async function putOwnRow(table: Table, row: Row): Promise<void> {
  await settle<unknown>({
    send: (options) => table.client.send(new PutCommand({ TableName: table.name, Item: row }), options),
    look: (options) => findRow(table, row, options),
  });
}

/** The row if it is stored as put. */
async function findRow(table: Table, put: Row | undefined, options: SendOptions): Promise<Row | undefined> {
  if (!put) return undefined;
  const Key = { pk: put.pk, sk: put.sk };
  const read = new GetCommand({ TableName: table.name, Key, ConsistentRead: true });
  const { Item } = await table.client.send(read, options);
  const isSame = Object.entries(put).every(([name, value]) => isDeepStrictEqual(Item?.[name], value));
  return isSame ? Item : undefined;
}
