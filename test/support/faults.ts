import type { Table } from '../../lib/dynamodb/client.ts';

/** One call on its way through a table's client. */
export interface WireCall {
  /** Name of the command, such as `UpdateCommand`. */
  command: string;
  /** Counts from 1 over all calls since the fault was planted. */
  number: number;
}

/** An error as the SDK throws it when the network fails: a dependency that is unavailable. */
export const connectionLost = () => Object.assign(new Error('connection lost'), { code: 'ECONNRESET' });

/**
 * Puts `act` around every call of a table's client, outside the SDK's retries: it may throw before or after the call is
 * done, wait, or count. @returns ends it
 */
export function aroundCalls(
  table: Table,
  act: (call: WireCall, send: () => Promise<unknown>) => Promise<unknown>,
): () => void {
  let number = 0;
  const name = `around ${Math.random()}`;
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      number += 1;
      let result: Awaited<ReturnType<typeof next>> | undefined;
      await act({ command: context.commandName ?? '', number }, async () => {
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
