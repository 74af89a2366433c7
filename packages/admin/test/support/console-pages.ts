/** Serves the operator's console, and asks it as a browser does. */
import { once } from 'node:events';
import { request } from 'node:http';
import { text as textFrom } from 'node:stream/consumers';
import { startConsole } from '../../console/console.ts';
import type { Source } from '../../console/view.ts';

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

export async function serveConsole(options: Pick<Source, 'table'> & Partial<Source>) {
  /** The texts that the console passed to `onFailed`. */
  const failures: string[] = [];
  const { address, stop } = await startConsole({
    ...{ target: 'table t', isLocal: true, commandOptions: ['--table', 't'], now: Date.now },
    ...{ url: undefined, measure: undefined, deadLetters: async () => undefined, ingestQueues: undefined },
    onFailed: (text) => failures.push(text),
    ...options,
  });
  const { port, pathname, search } = new URL(address);
  const signInPath = `${pathname}${search}`;
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
    close: stop,
  };
}
