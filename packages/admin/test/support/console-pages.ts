/** Serves the operator's console, and asks it as a browser does. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ConsoleOptions, createConsole } from '../../console/console.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export async function serveConsole(options: Pick<ConsoleOptions, 'table'> & Partial<ConsoleOptions>) {
  const failures: string[] = [];
  const console = createConsole({
    ...{
      target: () => 'table t',
      isLocal: true,
      commandOptions: () => '--table t',
      now: Date.now,
      deadLetters: async () => undefined,
    },
    ...{ url: () => undefined, measure: async () => undefined },
    onFailed: (text) => failures.push(text),
    ...options,
  });
  const server = createServer(console.listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  /** Sends a request, and follows no redirect. */
  async function ask(path: string, { method = 'GET', headers = {} as Record<string, string>, body = '' } = {}) {
    const sent = request({ port, host: '127.0.0.1', path, method, headers }).end(body);
    const [answer] = await once(sent, 'response');
    let text = '';
    for await (const chunk of answer) text += chunk;
    return { status: answer.statusCode, headers: answer.headers, text } as Answer;
  }

  const home = console.entrance.split('?')[0]?.replace(/\/$/, '') ?? '';
  let cookie = '';
  return {
    port,
    /** The bugs that the console has reported. */
    failures,
    entrance: console.entrance,
    /** Path of the pages. */
    home,
    ask,
    /** Opens the printed address, and keeps the cookie. */
    async enter(): Promise<Answer> {
      const answer = await ask(console.entrance);
      cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
      return answer;
    },
    /** A page, asked for with the cookie. */
    page: (path: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
      ask(`${home}${path}`, { ...options, headers: { cookie, ...options.headers } }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
