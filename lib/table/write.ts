/** Writes rows: one, or many in a transaction. A lost reply never turns a success into a failure. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../aws/http-handler.ts';
import { backoff, isThrottled, isUnavailable, THROTTLING } from '../shared/concurrency.ts';
import { type Table, withSignal } from './client.ts';
import { type Expression, expressionsOf } from './expression.ts';
import type { Key, KeyOf, RowKind, Stored } from './keys.ts';
import { getStoredRow } from './read.ts';

/** The outcome of a conditional write. */
export interface Written<Row> {
  /** Whether the condition held, so that the row was written. */
  done: boolean;
  /** Present if {@link Returned} asks for it. */
  row: Row | undefined;
}

/** Which rows a write returns: the new one after success, the stored one if the condition does not hold. */
export type Returned = Pick<UpdateCommandInput, 'ReturnValues' | 'ReturnValuesOnConditionCheckFailure'>;

/** Makes a write return the stored row if the condition does not hold. */
export const RETURN_STORED = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** Updates or creates a row if the condition holds. */
export function updateRow<Kind extends RowKind>(
  table: Table,
  key: KeyOf<Kind>,
  update: Expression,
  condition?: Expression,
  returned?: Returned,
): Promise<Written<Stored<Kind>>> {
  const expressions = expressionsOf({ UpdateExpression: update, ConditionExpression: condition });
  const command = new UpdateCommand({ TableName: table.name, Key: key, ...expressions, ...returned });
  return outcomeOf(table, table.client.send(command, optionsOf(table.signal)));
}

/** Creates or replaces a row if the condition holds. */
export function putRow<Kind extends RowKind>(
  table: Table,
  row: KeyOf<Kind> & Readonly<Record<string, unknown>>,
  condition?: Expression,
  returned?: Pick<Returned, 'ReturnValuesOnConditionCheckFailure'>,
): Promise<Written<Stored<Kind>>> {
  const expressions = expressionsOf({ ConditionExpression: condition });
  const command = new PutCommand({ TableName: table.name, Item: row, ...expressions, ...returned });
  return outcomeOf(table, table.client.send(command, optionsOf(table.signal)));
}

/** Deletes a row if the condition holds. */
export function deleteRow<Kind extends RowKind>(
  table: Table,
  key: KeyOf<Kind>,
  condition: Expression,
  returned?: Pick<Returned, 'ReturnValuesOnConditionCheckFailure'>,
): Promise<Written<Stored<Kind>>> {
  const expressions = expressionsOf({ ConditionExpression: condition });
  const command = new DeleteCommand({ TableName: table.name, Key: key, ...expressions, ...returned });
  return outcomeOf(table, table.client.send(command, optionsOf(table.signal)));
}

async function outcomeOf<Row>(
  { unmarshall }: Table,
  write: Promise<{ Attributes?: Record<string, unknown> | undefined }>,
): Promise<Written<Row>> {
  try {
    const { Attributes } = await write;
    return { done: true, row: Attributes as Row | undefined };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { done: false, row: error.Item && unmarshall<Row>(error.Item) };
  }
}

/** Milliseconds after the signal in which a write may still be verified: the answer is still sent within 3 s. */
const VERIFY_MS = 250;

export interface Write<Result> {
  send(table: Table): Promise<Result>;
  /**
   * Reads, strongly consistent, whether the write was applied.
   * @returns the result of an applied write; undefined if it was not applied
   */
  verify(table: Table): Promise<Result | undefined>;
}

/**
 * Sends a write, and verifies it if its outcome is unknown: a time-out, a reset or a 5xx does not say whether it was applied, nor does
 * a temporary refusal, since an earlier attempt of the SDK may have been applied. So a lost reply never turns a success into a failure.
 * @param table its signal aborts the write; verifying may take 250 ms longer
 * @throws what `send` threw, if the write was not applied or cannot be verified
 */
export async function settle<Result>(table: Table, write: Write<Result>): Promise<Result> {
  try {
    return await write.send(table);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const found = await readPastSignal(table, write.verify).catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
}

/** Reads for up to 250 ms after the table's signal, to verify a write that the signal aborted. */
export async function readPastSignal<Result>(table: Table, read: (table: Table) => Promise<Result>): Promise<Result> {
  const { signal } = table;
  if (!signal) return read(table);
  const verifyTimeout = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => verifyTimeout.abort(), VERIFY_MS);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  try {
    return await read(withSignal(table, verifyTimeout.signal));
  } finally {
    signal.removeEventListener('abort', start);
    clearTimeout(timer);
  }
}

/** Maximum actions of one DynamoDB transaction. */
export const TRANSACTION_ITEMS = 100;

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** One write or condition of a transaction. */
export type Action = { [Verb in keyof TransactItem]?: Omit<NonNullable<TransactItem[Verb]>, 'TableName'> };

export const putAction = (row: Key & object, condition?: Expression): Action => ({
  Put: { Item: row, ...expressionsOf({ ConditionExpression: condition }) },
});

export const updateAction = (key: Key, update: Expression, condition?: Expression): Action => ({
  Update: { Key: key, ...expressionsOf({ UpdateExpression: update, ConditionExpression: condition }) },
});

/** Makes an update return the stored row if its condition does not hold. */
export const returningStored = ({ Update }: Action): Action => ({
  Update: { ...Update, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as NonNullable<Action['Update']>,
});

export const deleteAction = ({ pk, sk }: Key, condition?: Expression): Action => ({
  Delete: { Key: { pk, sk }, ...expressionsOf({ ConditionExpression: condition }) },
});

/** Makes the transaction depend on a condition of a row that it does not write. */
export const conditionCheck = (key: Key, condition: Expression): Action => ({
  ConditionCheck: { Key: key, ...expressionsOf({ ConditionExpression: condition }) },
});

function send({ name: TableName, client, signal }: Table, actions: readonly Action[], ClientRequestToken?: string) {
  const itemOf = (action: Action) =>
    Object.fromEntries(Object.entries(action).map(([verb, input]) => [verb, { TableName, ...input }])) as TransactItem;
  const TransactItems = actions.map(itemOf);
  const command = new TransactWriteCommand({ TransactItems, ...(ClientRequestToken && { ClientRequestToken }) });
  return client.send(command, optionsOf(signal));
}

/**
 * Outcome of a transaction. Unless it is `applied` or `in progress`, nothing is written:
 * - `changed`: a condition does not hold. `stored`: the row of the failed action, if only one failed and it returns its row
 * - `conflict`: another transaction uses one of the rows
 * - `in progress`: an earlier attempt of this transaction is still running, and may be applied
 * - `throttled`: not enough write units
 * - `refused`: DynamoDB rejects it as invalid: it, or a resulting row, is too large
 */
export type TransactionResult =
  | { outcome: 'applied' | 'conflict' | 'in progress' | 'throttled' }
  | { outcome: 'changed'; stored?: Row }
  | { outcome: 'refused'; error: Error };

/**
 * Sends a transaction once; the caller decides by its outcome.
 * @throws errors that leave the outcome unknown, and bugs
 */
export async function transactOnce(table: Table, actions: readonly Action[]): Promise<TransactionResult> {
  try {
    await send(table, actions);
    return { outcome: 'applied' };
  } catch (error) {
    const result = resultOf(table, error);
    if (!result) throw error;
    return result;
  }
}

/** The outcome that an error stands for; undefined: unknown. If there are several reasons, the one that is checked first decides. */
function resultOf({ unmarshall }: Table, error: unknown): TransactionResult | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isThrottled(error)) return { outcome: 'throttled' };
  if (error.name === 'TransactionInProgressException') return { outcome: 'in progress' };
  if (error.name === 'ValidationException') return { outcome: 'refused', error };
  if (!(error instanceof TransactionCanceledException)) return undefined;
  const reasons = (error.CancellationReasons ?? []).filter(({ Code }) => Code !== 'None');
  const codes = new Set(reasons.map(({ Code }) => Code));
  // The conflict may be with an earlier attempt of this transaction, which is running and may make the condition fail.
  if (codes.has('TransactionConflict')) return { outcome: 'conflict' };
  if (codes.has('ConditionalCheckFailed')) {
    const stored = reasons.length === 1 ? reasons[0]?.Item : undefined;
    return { outcome: 'changed', ...(stored && { stored: unmarshall<Row>(stored) }) };
  }
  if (codes.has('ValidationError')) return { outcome: 'refused', error };
  if (codes.has('ThrottlingError') || codes.has('ProvisionedThroughputExceeded')) return { outcome: 'throttled' };
  return undefined;
}

const MAX_ATTEMPTS = 8;
/** Maximum repeats of a request whose outcome is unknown. In each the SDK itself makes several attempts. */
const MAX_REPEATS = 2;

/**
 * Makes all writes or none. While the outcome is unknown, it repeats the request with the same ClientRequestToken, which DynamoDB applies
 * once. If the last action puts a row, such as the audit's, that row shows the outcome. So a lost reply never turns a success into a
 * failure. A conflict with another transaction is retried.
 * @returns the index of the first action whose condition does not hold; undefined when all are written
 */
export async function transact(table: Table, actions: readonly Action[]): Promise<number | undefined> {
  const lastPut = actions.at(-1)?.Put?.Item as Row | undefined;
  let token = randomUUID();
  let repeats = 0;
  for (let attempt = 1; ; attempt += 1)
    try {
      await settle<unknown>(table, {
        send: (table) => send(table, actions, token),
        verify: (table) => findRow(table, lastPut),
      });
      return undefined;
    } catch (error) {
      if (error instanceof TransactionCanceledException) {
        const failed = (error.CancellationReasons ?? []).findIndex(({ Code }) => Code === 'ConditionalCheckFailed');
        // An earlier attempt may have been applied only after `verify` looked for its row.
        if (failed >= 0) return attempt > 1 && (await findRow(table, lastPut)) ? undefined : failed;
        token = randomUUID();
      } else repeats += 1;
      if (!isUnavailable(error) || attempt === MAX_ATTEMPTS || repeats > MAX_REPEATS) throw error;
      await backoff(attempt, THROTTLING, table.signal);
    }
}

/** The actions of a transaction, in their order. No name is a number: JavaScript would put it first. */
export type NamedActions<Name extends string = string> = Readonly<Partial<Record<Name, Action>>>;

export const actionsIn = (named: NamedActions): Action[] => Object.values(named) as Action[];

/** Like {@link transact}. @returns the first action whose condition does not hold; undefined when all are written */
export async function transactNamed<Name extends string>(
  table: Table,
  named: NamedActions<Name>,
): Promise<Name | undefined> {
  const failed = await transact(table, actionsIn(named));
  return failed === undefined ? undefined : (Object.keys(named)[failed] as Name);
}

/** The actions whose rows DynamoDB refuses, such as one above 400 KB. Empty if the error does not say which. */
export function refusedBy(error: Error, named: NamedActions): string[] {
  const { CancellationReasons: reasons = [] } = error as Partial<TransactionCanceledException>;
  return Object.keys(named).filter((_, index) => reasons[index]?.Code === 'ValidationError');
}

type Row = KeyOf<RowKind> & Record<string, unknown>;

/** Puts a row that no other code puts, so that a lost reply is not a failure. */
export async function putUncontestedRow(table: Table, row: Row): Promise<void> {
  await settle<unknown>(table, { send: (table) => putRow(table, row), verify: (table) => findRow(table, row) });
}

/** The stored row, if it is equal to the one that was put. */
async function findRow(table: Table, put: Row | undefined): Promise<object | undefined> {
  if (!put) return undefined;
  const stored: Readonly<Record<string, unknown>> | undefined = await getStoredRow(table, { pk: put.pk, sk: put.sk });
  return Object.entries(put).every(([name, value]) => isDeepStrictEqual(stored?.[name], asRead(value)))
    ? stored
    : undefined;
}

/** Bytes as they are read: a `Buffer`, as orders are made, is of another class, which counts as a difference. */
const asRead = (value: unknown) => (value instanceof Uint8Array ? Uint8Array.from(value) : value);

/** Whether DynamoDB refuses a write or a transaction because a row would be larger than 400 KB. */
export function isRowTooLarge(error: unknown): boolean {
  const { name, message, CancellationReasons } = error as Error &
    Pick<TransactionCanceledException, 'CancellationReasons'>;
  const isSize = (text?: string) => text?.includes('Item size') === true;
  if (name === 'ValidationException') return isSize(message);
  return CancellationReasons?.some(({ Message }) => isSize(Message)) === true;
}
