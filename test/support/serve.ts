import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { listen } from './listen.ts';

/** Serves in place of an AWS service until the test ends. @returns the address */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await listen(server)}`;
}
