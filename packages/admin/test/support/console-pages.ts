/** Serves the operator's console, and asks it as a browser does. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { text as textFrom } from 'node:stream/consumers';
import { listen } from '../../../../test/support/listen.ts';
import { type ConsoleOptions, createConsole } from '../../console/console.ts';

export interface AskOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** What a reader sees of a page, in one line. */
export const textOf = (html: string) =>
  html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

export async function serveConsole(options: Pick<ConsoleOptions, 'table'> & Partial<ConsoleOptions>) {
  /** The texts that the console passed to `onFailed`. */
  const failures: string[] = [];
  const { listener, signInPath } = createConsole({
    ...{ target: () => 'table t', isLocal: true, commandOptions: () => '--table t', now: Date.now },
    ...{ url: () => undefined, measure: async () => undefined, deadLetters: async () => undefined },
    onFailed: (text) => failures.push(text),
    ...options,
  });
  const server = createServer(listener);
  const port = await listen(server);
  /** Path of the pages. */
  const home = signInPath.split('/?')[0] ?? '';
  let cookie = '';

  /** Sends a request, and follows no redirect. */
  async function ask(path: string, { body = '', ...options }: AskOptions = {}) {
    const [answer] = await once(request({ port, host: '127.0.0.1', path, ...options }).end(body), 'response');
    return { status: answer.statusCode, headers: answer.headers, text: await textFrom(answer) };
  }

  return {
    ...{ port, failures, signInPath, home, ask },
    /** Opens the printed address, and keeps the cookie. */
    async signIn() {
      const answer = await ask(signInPath);
      cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
      return answer;
    },
    /** A page, asked for with the cookie. */
    page: (path: string, options: AskOptions = {}) =>
      ask(`${home}${path}`, { ...options, headers: { cookie, ...options.headers } }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
