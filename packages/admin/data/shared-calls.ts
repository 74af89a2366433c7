/**
 * Lets callers that read or write a row each share calls to DynamoDB: reads become a `BatchGetItem`, writes with their conditions a
 * `TransactWriteItems`. To each caller it is as if it had called alone, so what is written is the same.
 */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../../../lib/aws/http-handler.ts';
import { backoff, causeOf } from '../../../lib/shared/concurrency.ts';
import type { Table } from '../../../lib/table/client.ts';
import type { Key } from '../../../lib/table/keys.ts';
import { batchGet, rowName } from '../../../lib/table/read.ts';
import { BACKOFF } from '../aws/patiently.ts';

/** Rows of a call: the maximum of both `BatchGetItem` and `TransactWriteItems`. */
const MAX_ROWS = 100;
/** How many calls of each sort are under way. */
const CONCURRENCY = 8;

type TransactItems = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** A call that waits to be sent with others. */
interface Waiting {
  readonly command: unknown;
  readonly keys: readonly Key[];
  /** Of a write. */
  readonly items: TransactItems;
  readonly answer: PromiseWithResolvers<unknown>;
}

/** The writes of a command; undefined: it is sent by itself. */
function itemsOf(command: unknown): TransactItems | undefined {
  if (command instanceof TransactWriteCommand) return command.input.TransactItems;
  if (command instanceof PutCommand) return [{ Put: command.input }];
  if (command instanceof DeleteCommand) return [{ Delete: command.input }];
  if (!(command instanceof UpdateCommand) || command.input.ReturnValues !== undefined) return undefined;
  const { UpdateExpression = '', ...input } = command.input;
  return [{ Update: { ...input, UpdateExpression } }];
}

const keyOf = ({ Put, Update, Delete, ConditionCheck }: TransactItems[number]) =>
  (Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key) as Key; // one of them is present

/**
 * @param run sends calls together, and answers each. It must not throw.
 * @returns adds a call, which is sent with those that wait when a slot is free
 */
function createQueue(run: (batch: readonly Waiting[]) => Promise<void>) {
  let waiting: Waiting[] = [];
  let running = 0;
  let isScheduled = false;
  /** Rows of calls under way: two transactions of one row would conflict. */
  const busy = new Set<string>();

  function takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    let rows = 0;
    waiting = waiting.filter((call) => {
      const names = call.keys.map(rowName);
      if (rows + names.length > MAX_ROWS || names.some((name) => busy.has(name))) return true;
      rows += names.length;
      for (const name of names) busy.add(name);
      batch.push(call);
      return false;
    });
    return batch;
  }

  function sendWaiting(): void {
    isScheduled = false;
    while (running < CONCURRENCY) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      running += 1;
      void run(batch).then(() => {
        running -= 1;
        for (const { keys } of batch) for (const key of keys) busy.delete(rowName(key));
        schedule();
      });
    }
  }

  /** Calls of the same turn of the event loop are sent together. */
  function schedule(): void {
    if (!isScheduled) setImmediate(sendWaiting);
    isScheduled = true;
  }

  return (call: Waiting) => {
    waiting.push(call);
    schedule();
  };
}

/** The same table for many callers at once. Its signal ends all their calls. */
export function sharingCalls(table: Table): Table {
  const { client, signal } = table;
  const options = optionsOf(signal);
  // The client's `send` has an overload for each of its commands.
  const send = client.send.bind(client) as (command: unknown, sendOptions?: object) => Promise<unknown>;
  const sendAlone = ({ command, answer }: Waiting) => send(command, options).then(answer.resolve, answer.reject);

  const read = createQueue(async (batch) => {
    try {
      const { rows } = await batchGet(
        table,
        batch.flatMap(({ keys }) => keys),
        { concurrency: 1 },
      );
      for (const { keys, answer } of batch) answer.resolve({ Item: keys[0] && rows.get(rowName(keys[0])) });
    } catch (error) {
      for (const { answer } of batch) answer.reject(error);
    }
  });

  const write = createQueue(async (batch) => {
    if (batch.length === 1) return void (await sendAlone(batch[0] as Waiting));
    const command = new TransactWriteCommand({ TransactItems: batch.flatMap(({ items }) => items) });
    for (let attempt = 1; ; attempt += 1)
      try {
        await send(command, options);
        for (const { answer } of batch) answer.resolve({});
        return;
      } catch (error) {
        if (causeOf(error) === 'throttled') await backoff(attempt, BACKOFF, signal).catch(() => undefined);
        // A condition does not hold, a row is in use, or all together are too large. Each by itself shows its own failure.
        else if (error instanceof TransactionCanceledException || (error as Error).name === 'ValidationException')
          return void (await Promise.all(batch.map(sendAlone)));
        else {
          for (const { answer } of batch) answer.reject(error);
          return;
        }
      }
  });

  function sendShared(command: unknown, sendOptions?: object): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>();
    const items = itemsOf(command);
    if (items) write({ command, items, keys: items.map(keyOf), answer });
    else if (command instanceof GetCommand && command.input.ConsistentRead)
      read({ command, items: [], keys: [command.input.Key as Key], answer });
    else return send(command, sendOptions);
    return answer.promise;
  }

  // The paginators require an instance of the client's class.
  return { ...table, client: Object.create(client, { send: { value: sendShared } }) };
}
