/** The operator's console: a read-only web site on this machine, for the first browser that opens its address. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { isUnavailable } from '../../../lib/shared/concurrency.ts';
import { NoAnswerError } from '../local-service/answer-timeout.ts';
import { isLoopbackHost } from '../local-service/loopback.ts';
import { printable } from '../text/printable.ts';
import { html, htmlDocument, type Page } from './html.ts';
import { createPages } from './pages.ts';
import { createSession } from './session.ts';
import { NotFound, type Source } from './view.ts';

type Env = { Bindings: HttpBindings };
type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 500 | 502;

/** The static files, with their content types. */
const FILES = { 'console.css': 'text/css', 'console.js': 'text/javascript' };
const [NONE, SELF] = [["'none'"], ["'self'"]];
const POLICY = {
  defaultSrc: NONE,
  styleSrc: SELF,
  scriptSrc: SELF,
  requireTrustedTypesFor: ["'script'"],
  imgSrc: ['data:'],
  formAction: SELF,
  baseUri: SELF,
  frameAncestors: NONE,
};
/** The end of the only path that takes a form. */
const CHECK_PATH = /\/health$/;
/** Maximum bytes of an id or filter: a sort key of DynamoDB has at most 1,024. */
const MAX_ID_BYTES = 1_024;

/**
 * Serves the console on 127.0.0.1, on a port that the system chooses. A browser keeps the service workers of other projects
 * by address and port: one at a port that is used again and again, such as 3000, would control the pages of the console.
 * @returns `address`: by it one browser signs in
 */
export async function startConsole(options: Source): Promise<{ address: string; stop(): Promise<void> }> {
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

/** @returns `listener` answers requests; `signInPath` is the path and query by which one browser signs in */
function createConsole(options: Source) {
  const { target, isLocal, url } = options;
  // Only `npm start` serves the API reference.
  const reference = isLocal && url !== undefined ? `${url}/docs` : undefined;
  function show(
    context: Context,
    page: Page,
    { status = 200, cost = '' }: { status?: 200 | RefusalStatus; cost?: string } = {},
  ) {
    const { req } = context;
    const signedIn = session.isSignedIn(context) && { target, isLocal, reference, nowMs: options.now(), cost };
    // Two slashes at the beginning of an address would make what follows the name of another host.
    const address = req.url.slice(new URL(req.url).origin.length).replace(/^\/+/, '/');
    return context.html(htmlDocument(page, { base: session.baseOf(context), address, signedIn }), status);
  }
  const refuse = (context: Context, status: RefusalStatus, title: string, sentence: string) =>
    show(context, { title, body: html`<p>${sentence}</p>` }, { status });
  const session = createSession((context) =>
    refuse(
      context,
      401,
      'Access denied',
      'Open the address that was printed. It works once: `npm run admin -- console` prints another.',
    ),
  );

  const app = new Hono<Env>({ strict: false });
  app.use(secureHeaders({ contentSecurityPolicy: POLICY, strictTransportSecurity: false }));
  app.use(async (context, next) => {
    const { method, headers } = context.env.incoming;
    if (!isLoopbackHost(headers.host)) return refuse(context, 403, 'Refused', 'Use the address that was printed.');
    if (method === 'GET' || (method === 'POST' && CHECK_PATH.test(context.req.path))) return next();
    context.header('Allow', 'GET');
    return refuse(context, 405, 'Read-only', 'To change something, use the commands that the console names.');
  });
  for (const [name, type] of Object.entries(FILES)) {
    const body = readFileSync(new URL(name, import.meta.url));
    app.get(`/${name}`, (context) => context.body(body, 200, { 'Content-Type': `${type}; charset=utf-8` }));
  }
  app.use(session.requireSession);
  app.use(async (context, next) => {
    const texts = [...context.req.path.split('/'), ...Object.values(context.req.query())];
    if (texts.some((text) => Buffer.byteLength(text) > MAX_ID_BYTES)) return context.notFound();
    return next();
  });
  app.onError((error, context) => {
    const { status, title, sentence } = failureOf(error);
    if (status === 500) {
      const { message, stack = message } = error;
      options.onFailed(`The console failed: ${stack.split('\n').map(printable).join('\n')}`);
    }
    return refuse(context, status, title, sentence);
  });
  app.notFound((context) => refuse(context, 404, 'Not found', 'There is no such page.'));
  app.route(session.prefix, createPages(options, show));
  return { listener: getRequestListener(app.fetch), signInPath: session.signInPath };
}

/** The status, title and text of the page for an error. Status 500 means a bug in the console. */
function failureOf(error: Error) {
  const { name, message } = error;
  if (error instanceof NotFound) return { status: 404, title: 'Not found', sentence: message } as const;
  // DynamoDB failed, or could not be reached.
  if (error instanceof NoAnswerError)
    return { status: 502, title: 'No answer', sentence: `${message}. Then reload the page.` } as const;
  if (error instanceof DynamoDBServiceException || isUnavailable(error) || name === 'CredentialsProviderError') {
    const sentence = `The table cannot be read: ${name}: ${message.split('\n')[0]}. Check endpoint, region and credentials, then reload the page.`;
    return { status: 502, title: 'Cannot read', sentence } as const;
  }
  const sentence = 'This is a bug in the console: its terminal shows the details.';
  return { status: 500, title: 'Internal error', sentence } as const;
}
