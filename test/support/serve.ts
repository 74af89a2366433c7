import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { listen } from './listen.ts';

/** Serves in place of another service until the test ends. @returns the address */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** Text, or an envelope without its request id. */
  body: object | string;
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever a request holds
type AnswerTo = (request: any, call: number, body: string) => Answer | Promise<Answer>;

/** A service in place of ours until the test ends. `calls` are the paths and requests that it got, `bodies` the texts of these. */
export async function serveAnswers(answerTo: AnswerTo) {
  const calls: [path: string, request: object][] = [];
  const bodies: string[] = [];
  const url = await serve(async (request, response) => {
    const text = (await Array.fromAsync(request)).join('');
    const parsed = JSON.parse(text);
    calls.push([new URL(request.url ?? '', 'http://service').pathname, parsed]);
    bodies.push(text);
    const { status = 200, headers, body } = await answerTo(parsed, bodies.length, text);
    const answer = typeof body === 'string' ? body : JSON.stringify({ request_id: 'r', ...body });
    response.writeHead(status, headers).end(answer);
  });
  return { url, calls, bodies };
}
