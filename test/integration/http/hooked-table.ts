import type { Table } from '../../../lib/table/client.ts';
import { connectDouble, type Request, type Send } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';

/** What a call goes through: it may wait, throw, or do something before or after the reply. */
type Around = (reply: () => unknown, request: Request, signal: AbortSignal | undefined) => unknown;

/** A table in memory, and a second client of it, whose calls go through a hook and are recorded. */
export function hookedTable() {
  const double = new TableDouble();
  const hook = { around: ((reply) => reply()) as Around, calls: [] as string[] };
  const send: Send = async (request, signal) => {
    hook.calls.push(request.name);
    return hook.around(() => double.apply(request), request, signal);
  };
  const table: Table = connectDouble(async (request) => double.apply(request));
  return { table, hooked: connectDouble(send), hook };
}

/** A reply that never comes: the call ends with its signal. */
export const noReply = (signal: AbortSignal | undefined) =>
  new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
