/** Faults of the calls of a table's client: one for each call, however many attempts the SDK makes of it. */
import type { Table } from '../../lib/table/client.ts';

/** One call of a table's client. */
interface TableCall {
  /** Name of the command, such as `UpdateItemCommand`. */
  command: string;
  input: object;
  /** Counts from 1 over all calls since the fault was planted. */
  number: number;
}

/** The error that the SDK throws when the network fails. */
export const connectionLost = () => Object.assign(new Error('connection lost'), { code: 'ECONNRESET' });

/** Sends a call, or throws before or after sending it. */
export type AroundCall = (call: TableCall, send: () => Promise<unknown>) => Promise<unknown>;

/** Puts `around` around every call of a table's client, outside the SDK's retries. @returns a function that removes it */
export function aroundCalls(table: Table, around: AroundCall): () => void {
  let number = 0;
  const name = `around ${Math.random()}`;
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      number += 1;
      let result: Awaited<ReturnType<typeof next>> | undefined;
      await around({ command: context.commandName ?? '', input: args.input, number }, async () => {
        result = await next(args);
        return result.output;
      });
      if (!result) throw new Error('a planted fault neither sent the call nor threw');
      return result;
    },
    { step: 'initialize', name, priority: 'high' },
  );
  return () => table.client.middlewareStack.remove(name);
}

/** Loses every call whose command begins with `command`, before DynamoDB sees it. */
export function losing(command: string): AroundCall {
  return async (call, send) => {
    if (call.command.startsWith(command)) throw connectionLost();
    await send();
  };
}

/** Loses every call after the first transaction, as if the function died right after its commit. */
export function dyingAfterCommit(): AroundCall {
  let committed = false;
  return async ({ command }, send) => {
    if (committed) throw connectionLost();
    await send();
    committed ||= command.startsWith('TransactWrite');
  };
}
