/** Servers and errors of a connection that fails. */
import { createServer } from 'node:net';
import { listen } from './listen.ts';

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
