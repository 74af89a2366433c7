import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ConsoleOptions, createConsole } from './console.ts';

/**
 * Serves the console on 127.0.0.1, on a port that the system chooses. A browser keeps the service workers of other projects
 * by address and port: one at a port that is used again and again, such as 3000, would control the pages of the console.
 * @returns `address`: by it one browser signs in
 */
export async function startConsole(options: ConsoleOptions): Promise<{ address: string; stop(): Promise<void> }> {
  const { listener, signInPath } = createConsole(options);
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // not a pipe: it listens on a port
  return {
    address: `http://127.0.0.1:${port}${signInPath}`,
    async stop() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}
