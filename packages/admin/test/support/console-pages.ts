/** Serves the operator's console, and asks it as a browser does. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { text as textFrom } from 'node:stream/consumers';
import { listen } from '../../../../test/support/listen.ts';
import { type ConsoleOptions, createConsole } from '../../console/console.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** What a reader sees of a page, in one line. */
export const textOf = (html: string) =>
  html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

export async function serveConsole(options: Pick<ConsoleOptions, 'table'> & Partial<ConsoleOptions>) {
  const failures: string[] = [];
  const console = createConsole({
    ...{ target: () => 'table t', isLocal: true, commandOptions: () => '--table t', now: Date.now },
    ...{ url: () => undefined, measure: async () => undefined, deadLetters: async () => undefined },
    onFailed: (text) => failures.push(text),
    ...options,
  });
  const server = createServer(console.listener);
  const port = await listen(server);

  /** Sends a request, and follows no redirect. */
  async function ask(path: string, { method = 'GET', headers = {} as Record<string, string>, body = '' } = {}) {
    const sent = request({ port, host: '127.0.0.1', path, method, headers }).end(body);
    const [answer] = await once(sent, 'response');
    return { status: answer.statusCode, headers: answer.headers, text: await textFrom(answer) } as Answer;
  }

  const home = console.signInPath.split('?')[0]?.replace(/\/$/, '') ?? '';
  let cookie = '';
  return {
    port,
    /** The texts that the console passed to `onFailed`. */
    failures,
    signInPath: console.signInPath,
    /** Path of the pages. */
    home,
    ask,
    /** Opens the printed address, and keeps the cookie. */
    async signIn(): Promise<Answer> {
      const answer = await ask(console.signInPath);
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
