/** The operator's console: a read-only web site on this machine, for the first browser that opens its address. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { isUnavailable } from '../../../lib/shared/concurrency.ts';
import { isInt64, toInt64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { readAccount } from '../accounts/accounts.ts';
import { NoAnswerError, withAnswerTimeout } from '../local-service/answer-timeout.ts';
import { isLoopbackHost } from '../local-service/loopback.ts';
import { printable } from '../text/printable.ts';
import { accountPage } from './account-page.ts';
import { feedPage } from './feed-page.ts';
import { findPage } from './find-page.ts';
import { fleetPage } from './fleet-page.ts';
import { frontPage } from './front-page.ts';
import { healthPage, runCheck } from './health-page.ts';
import { hostPage } from './host-page.ts';
import { type Frame, type Html, html, htmlDocument, type Page, type Titled } from './html.ts';
import { alertPage, incidentPage, incidentsPage } from './incidents-page.ts';
import { metered, NotFound, type Source, type View } from './view.ts';
import { workItemsPage } from './work-items-page.ts';

export interface ConsoleOptions extends Source {
  now(): number;
  /** Called after a bug in the console, with printable lines that describe it. */
  onFailed(text: string): void;
}

type Env = { Bindings: HttpBindings };

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
const COOKIE = 'console';
/** Milliseconds without any answer from DynamoDB after which a page says so. */
const NO_ANSWER_MS = 10_000;
/** The end of the only path that takes a form. */
const CHECK_PATH = /\/health$/;
/** Maximum bytes of an id or filter: a key of DynamoDB has at most 1,024, with its prefix. */
const MAX_ID_BYTES = 900;
/** US dollars for a read unit on demand, as in docs/cost.md. */
const READ_UNIT_DOLLARS = 0.125 / 1_000_000;

/** Compares texts in constant time. */
const isSame = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
const digest = (text: string) => createHash('sha256').update(text).digest();
const secret = () => randomBytes(32).toString('base64url');

/** @returns `listener` answers requests; `signInPath` is the path and query by which one browser signs in */
export function createConsole(options: ConsoleOptions) {
  let token: string | undefined = secret();
  // Browsers send a cookie to all ports of a host, but only to its path, which is secret: no other service gets it.
  const prefix = `/${secret()}`;
  const home = `${prefix}/`;
  const signInPath = `${home}?token=${token}`;
  const session = secret();
  const formToken = secret();
  const checks: View['checks'] = new Map();
  const app = new Hono<Env>({ strict: false });
  // Two slashes at the beginning of an address would make what follows the name of another host.
  const addressOf = ({ req }: Context<Env>) => req.url.slice(new URL(req.url).origin.length).replace(/^\/+/, '/');
  /** The base of the page's addresses. Callers who do not know the secret path do not learn it. */
  const baseOf = (context: Context<Env>) => (`${context.req.path}/`.startsWith(home) ? home : '/');
  const isSignedIn = (context: Context<Env>) => isSame(getCookie(context, COOKIE) ?? '', session);
  function frameOf(context: Context<Env>, cost = ''): Frame {
    const { target, isLocal, url } = options;
    // Only `npm start` serves the API reference.
    const reference = isLocal && url !== undefined ? `${url}/docs` : undefined;
    const signedIn = isSignedIn(context) && { target, isLocal, reference, nowMs: options.now(), cost };
    return { base: baseOf(context), address: addressOf(context), signedIn };
  }
  const refuse = (
    context: Context<Env>,
    status: 400 | 401 | 403 | 404 | 405 | 500 | 502,
    title: string,
    sentence: string,
  ) => context.html(htmlDocument({ title, body: html`<p>${sentence}</p>` }, frameOf(context)), status);

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
  app.use(async (context, next) => {
    context.header('Cache-Control', 'no-store');
    const sentToken = context.req.query('token');
    if (token !== undefined && sentToken !== undefined && isSame(sentToken, token)) {
      token = undefined;
      setCookie(context, COOKIE, session, { path: home, httpOnly: true, sameSite: 'Strict' });
      return context.redirect(home);
    }
    const advice = 'Open the address that was printed. It works once: run the command again for another.';
    if (!isSignedIn(context)) return refuse(context, 401, 'Access denied', advice);
    return sentToken === undefined ? next() : context.redirect(home);
  });
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

  function viewOf(context: Context<Env>): Omit<View, 'account'> {
    const patient = withAnswerTimeout(options.table, {
      warnAfterMs: NO_ANSWER_MS,
      failAfterMs: NO_ANSWER_MS,
      onWaiting: () => undefined,
    });
    const { table, units } = metered(patient.table);
    const query = Object.fromEntries(Object.entries(context.req.query()).filter(([, value]) => value !== ''));
    const { signal } = context.req.raw;
    return { ...options, table, nowMs: options.now(), query, signal, checks, formToken, cost: () => costText(units()) };
  }
  /** Makes the handler of requests for a page. */
  const handler =
    (page: (view: Omit<View, 'account'>, context: Context<Env>) => Promise<Page>) => async (context: Context<Env>) => {
      const view = viewOf(context);
      const shown = await page(view, context);
      return context.html(htmlDocument(shown, frameOf(context, view.cost())));
    };
  const tableHandler = (title: string, body: (view: Omit<View, 'account'>) => Promise<Html>, tab?: Page['tab']) =>
    handler(async (view) => ({ title, body: await body(view), ...(tab && { tab }) }));
  const accountHandler = (
    tab: NonNullable<Page['tab']>,
    title: string,
    body: (view: View, id: string) => Promise<Html | Titled>,
  ) =>
    handler(async (view, context) => {
      const account = await requireAccount(view.table, context.req.param('account'));
      const id = context.req.param('id')?.toLowerCase() ?? '';
      const shown = await body({ ...view, account }, id);
      return {
        tab,
        account,
        ...('title' in shown ? { ...shown, kind: title.toLowerCase() } : { title, body: shown }),
      };
    });

  app.get(prefix, tableHandler('Overview', frontPage, 'overview'));
  app.get(`${prefix}/find`, tableHandler('Find', findPage));
  app.get(`${prefix}/feed`, tableHandler('Feed', feedPage, 'feed'));
  app.get(`${prefix}/:account/fleet`, accountHandler('fleet', 'Fleet', fleetPage));
  app.get(`${prefix}/:account/host`, accountHandler('fleet', 'Host', hostPage));
  app.get(`${prefix}/:account/incidents`, accountHandler('incidents', 'Incidents', incidentsPage));
  app.get(`${prefix}/:account/incident/:id`, accountHandler('incidents', 'Incident', incidentPage));
  app.get(`${prefix}/:account/alert/:id`, accountHandler('incidents', 'Alert', alertPage));
  app.get(`${prefix}/:account/work-items`, accountHandler('work-items', 'Work items', workItemsPage));
  app.get(`${prefix}/:account/account`, accountHandler('account', 'Account', accountPage));
  app.get(`${prefix}/:account/health`, accountHandler('health', 'Health', healthPage));
  app.post(`${prefix}/:account/health`, async (context) => {
    const form = await context.req.parseBody().catch(() => undefined);
    if (!form) return refuse(context, 400, 'Malformed', 'The form cannot be read.');
    if (typeof form.token !== 'string' || !isSame(form.token, formToken))
      return refuse(context, 403, 'Refused', 'Use the button of the page.');
    const view = viewOf(context);
    await runCheck({ ...view, account: await requireAccount(view.table, context.req.param('account')) });
    return context.redirect(context.req.path, 303);
  });
  return { listener: getRequestListener(app.fetch), signInPath };
}

/** The status, title and text of the page for an error. Status 500 means a bug in the console. */
function failureOf(error: Error) {
  const { name, message } = error;
  if (error instanceof NotFound) return { status: 404, title: 'Not found', sentence: message } as const;
  // DynamoDB failed, or could not be reached.
  if (error instanceof NoAnswerError)
    return { status: 502, title: 'No answer', sentence: `${message}. Then reload the page.` } as const;
  if (error instanceof DynamoDBServiceException || isUnavailable(error) || name === 'CredentialsProviderError') {
    const sentence = `The table cannot be read: ${name}: ${message.split('\n')[0]}`;
    return { status: 502, title: 'Cannot read', sentence } as const;
  }
  const sentence = 'This is a bug in the console: its terminal shows the details.';
  return { status: 500, title: 'Internal error', sentence } as const;
}

/** @throws NotFound */
async function requireAccount(table: Table, text = '') {
  const id = /^\d{1,19}$/.test(text) ? toInt64(text) : 0;
  const account = id > 0 && isInt64(id) ? await readAccount(table, id) : undefined;
  if (!account) throw new NotFound(`There is no account ${text}.`);
  return account;
}

function costText(units: number): string {
  if (units === 0) return ''; // not every server returns the consumed capacity
  return `Read ${units.toLocaleString('en')} read units, about $${(units * READ_UNIT_DOLLARS).toFixed(7)} on demand`;
}
