/** Observes each attempt of a call, inside the SDK's retries, and can make it fail, hang or lose its reply. */
import { createServer } from 'node:net';
import type { Table } from '../../lib/table/client.ts';
import { listen } from './listen.ts';

/** One attempt of a call. */
export interface Attempt {
  /** Name of the command, such as `UpdateItemCommand`. */
  command: string;
  /** The request as it goes out, as text. */
  body: string;
  /** Counts from 1 over all attempts since the tap was added. */
  number: number;
  /** Sends the attempt to another port of this machine. */
  redirect(port: number): void;
}

export interface Tap {
  readonly attempts: Attempt[];
  /** Number of attempts with a command of this name. */
  count(command: string): number;
  remove(): void;
}

let taps = 0;

/**
 * Puts `around` around every attempt of a table's client, inside the SDK's retries, and counts them. `around` may throw before
 * or after it sent the attempt, or wait.
 */
function tapWire(
  table: Table,
  around: (attempt: Attempt, send: () => Promise<void>) => Promise<void> = (_attempt, send) => send(),
): Tap {
  const attempts: Attempt[] = [];
  taps += 1;
  const name = `tap ${taps}`;
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      const request = args.request as { body: Uint8Array | string; port: number; hostname: string };
      const { body } = request;
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
      const attempt: Attempt = {
        command: context.commandName ?? '',
        body: text,
        number: attempts.length + 1,
        redirect(port) {
          request.hostname = '127.0.0.1';
          request.port = port;
        },
      };
      attempts.push(attempt);
      let result: Awaited<ReturnType<typeof next>> | undefined;
      await around(attempt, async () => {
        result = await next(args);
      });
      if (!result) throw new Error('the tap neither sent the attempt nor threw');
      return result;
    },
    { step: 'finalizeRequest', priority: 'low', name },
  );
  return {
    attempts,
    count: (command) => attempts.filter((attempt) => attempt.command === command).length,
    remove: () => table.client.middlewareStack.remove(name),
  };
}

/** A server that accepts connections and never replies. */
export async function silentServer(): Promise<{ port: number; close(): void }> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).resume();
  });
  const port = await listen(server);
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, close };
}

/** The error that the SDK throws, and retries, when a reply does not come. */
export const replyLost = () => Object.assign(new Error('reply lost'), { name: 'TimeoutError', code: 'ECONNRESET' });
