/** Clients of a table whose calls a test watches or disturbs: one for each call, however many attempts the SDK makes of it. */
import type { Table } from '../../lib/table/client.ts';
import type { Request } from '../table-double/client.ts';
import { newDouble } from './service.ts';

/** What a call goes through: it may wait, throw, or do something before or after the reply. */
export type Around = (reply: () => Promise<unknown>, request: Request, signal: AbortSignal | undefined) => unknown;

interface Command {
  readonly constructor: { readonly name: string };
  readonly input: object;
}

/** A further client of a table, whose calls go through `around`. */
export function intercepted(table: Table, around: Around): Table {
  const { client } = table;
  const send = async (command: Command, options?: { abortSignal?: AbortSignal }) => {
    const reply = (): Promise<unknown> => client.send(command as never, options);
    return around(reply, { name: command.constructor.name, input: command.input }, options?.abortSignal);
  };
  return { ...table, client: Object.create(client, { send: { value: send } }) };
}

/** A table in memory, and a further client of it, whose calls go through a hook and are recorded. */
export function hookedTable() {
  const table = newDouble();
  const hook = { around: ((reply) => reply()) as Around, calls: [] as string[] };
  const hooked = intercepted(table, (reply, request, signal) => {
    hook.calls.push(request.name);
    return hook.around(reply, request, signal);
  });
  return { table, hooked, hook };
}

/** The error that the SDK throws when the network fails. */
export const connectionLost = () => Object.assign(new Error('connection lost'), { code: 'ECONNRESET' });

/** A reply that never comes: the call ends with its signal. */
export const noReply = (signal: AbortSignal | undefined) =>
  new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

export const isTransaction = ({ name }: Request) => name === 'TransactWriteCommand';

/** Loses every transaction before DynamoDB sees it. */
export const losingTransactions: Around = async (reply, request) => {
  if (isTransaction(request)) throw connectionLost();
  return reply();
};

/** Loses every call after the first transaction, as if the function died right after its commit. */
export function dyingAfterCommit(): Around {
  let isDead = false;
  return async (reply, request) => {
    if (isDead) throw connectionLost();
    isDead = isTransaction(request);
    return reply();
  };
}
