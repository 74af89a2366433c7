/** The operator's console: a read-only web site on this machine, for the first browser that opens its address. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { isUnavailable } from '../../../lib/dynamodb/failures.ts';
import { isInt64, toInt64 } from '../../../lib/shared/json.ts';
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
const PAGE_MS = 10_000;
/** The end of the only path that takes a form. */
const CHECK_PATH = /\/health$/;
/** Maximum bytes of an id or filter: a key of DynamoDB has at most 1,024, with its prefix. */
const MAX_ID_BYTES = 900;
/** US dollars for a read unit on demand, as in docs/cost.md. */
const READ_UNIT_DOLLARS = 0.125 / 1_000_000;

/** Compares texts in constant time. */
const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));
const digest = (text: string) => createHash('sha256').update(text).digest();
const secret = () => randomBytes(32).toString('base64url');

/**
 * @returns `listener` answers requests for `/console` and paths below it; `entrance` is the path and query by which
 * one browser signs in
 */
export function createConsole(options: ConsoleOptions) {
  let token: string | undefined = secret();
  // Browsers send a cookie to all ports of a host, but only to its path, which is secret: no other service gets it.
  const prefix = `/${secret()}`;
  const home = `/console${prefix}/`;
  const entrance = `${home}?token=${token}`;
  const session = secret();
  const formToken = secret();
  const checks: View['checks'] = new Map();
  const app = new Hono<Env>({ strict: false }).basePath('/console');
  const addressOf = ({ req }: Context<Env>) => req.url.slice(new URL(req.url).origin.length);
  /** The base of the page's addresses. Callers who do not know the secret path do not learn it. */
  const baseOf = (c: Context<Env>) => (`${c.req.path}/`.startsWith(home) ? home : '/console/');
  const isSignedIn = (c: Context<Env>) => isSame(getCookie(c, COOKIE) ?? '', session);
  function frameOf(c: Context<Env>, cost = ''): Frame {
    const { target, isLocal, url } = options;
    // The reference page is served by `npm start` only.
    const reference = isLocal && url() !== undefined ? `${url()}/docs` : undefined;
    const signedIn = isSignedIn(c) && { target: target(), isLocal, reference, nowMs: options.now(), cost };
    return { base: baseOf(c), path: addressOf(c), signedIn };
  }
  const refuse = (c: Context<Env>, status: 401 | 403 | 404 | 405 | 500 | 502, title: string, sentence: string) =>
    c.html(htmlDocument({ title, body: html`<p>${sentence}</p>` }, frameOf(c)), status);

  app.use(secureHeaders({ contentSecurityPolicy: POLICY, strictTransportSecurity: false }));
  app.use(async (c, next) => {
    const { method, headers, socket } = c.env.incoming;
    if (!isLoopbackHost(headers.host, socket.localPort))
      return refuse(c, 403, 'Refused', 'Use the address that was printed.');
    if (method === 'GET' || (method === 'POST' && CHECK_PATH.test(c.req.path))) return next();
    c.header('Allow', 'GET');
    return refuse(c, 405, 'Read-only', 'To change something, use the commands that the console names.');
  });
  for (const [name, type] of Object.entries(FILES)) {
    const body = readFileSync(new URL(name, import.meta.url));
    app.get(`/${name}`, (c) => c.body(body, 200, { 'Content-Type': `${type}; charset=utf-8` }));
  }
  app.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    const given = c.req.query('token');
    if (token !== undefined && given !== undefined && isSame(given, token)) {
      token = undefined;
      setCookie(c, COOKIE, session, { path: home, httpOnly: true, sameSite: 'Strict' });
      return c.redirect(home);
    }
    const advice = 'Open the address that was printed. It works once: run the command again for another.';
    if (!isSignedIn(c)) return refuse(c, 401, 'Access denied', advice);
    return given === undefined ? next() : c.redirect(home);
  });
  app.use(async (c, next) => {
    const given = [...c.req.path.split('/'), ...Object.values(c.req.query())];
    if (given.some((text) => Buffer.byteLength(text) > MAX_ID_BYTES)) return c.notFound();
    return next();
  });
  app.onError((error, c) => {
    const { status, title, sentence } = failureOf(error);
    if (status === 500) {
      const { message, stack = message } = error;
      options.onFailed(`The console failed: ${stack.split('\n').map(printable).join('\n')}`);
    }
    return refuse(c, status, title, sentence);
  });
  app.notFound((c) => refuse(c, 404, 'Not found', 'There is no such page.'));

  function viewOf(c: Context<Env>): Omit<View, 'account'> {
    const patient = withAnswerTimeout(options.table, {
      warnAfterMs: PAGE_MS,
      failAfterMs: PAGE_MS,
      onWaiting: () => undefined,
    });
    const { table, units } = metered(patient.table);
    const query = Object.fromEntries(Object.entries(c.req.query()).filter(([, value]) => value !== ''));
    const { signal } = c.req.raw;
    return { ...options, table, nowMs: options.now(), query, signal, checks, formToken, cost: () => costText(units()) };
  }
  const show = (page: (view: Omit<View, 'account'>, c: Context<Env>) => Promise<Page>) => async (c: Context<Env>) => {
    const view = viewOf(c);
    const shown = await page(view, c);
    return c.html(htmlDocument(shown, frameOf(c, view.cost())));
  };
  const ofTable = (title: string, body: (view: Omit<View, 'account'>) => Promise<Html>, page?: Page['page']) =>
    show(async (view) => ({ title, body: await body(view), ...(page && { page }) }));
  const ofAccount = (
    page: NonNullable<Page['page']>,
    title: string,
    body: (view: View, id: string) => Promise<Html | Titled>,
  ) =>
    show(async (view, c) => {
      const account = await requireAccount(view.table, c.req.param('account'));
      const id = c.req.param('id')?.toLowerCase() ?? '';
      const shown = await body({ ...view, account }, id);
      return {
        page,
        account,
        ...('title' in shown ? { ...shown, kind: title.toLowerCase() } : { title, body: shown }),
      };
    });

  app.get(prefix, ofTable('Overview', frontPage, 'overview'));
  app.get(`${prefix}/find`, ofTable('Find', findPage));
  app.get(`${prefix}/feed`, ofTable('Feed', feedPage, 'feed'));
  app.get(`${prefix}/:account/fleet`, ofAccount('fleet', 'Fleet', fleetPage));
  app.get(`${prefix}/:account/host`, ofAccount('fleet', 'Host', hostPage));
  app.get(`${prefix}/:account/incidents`, ofAccount('incidents', 'Incidents', incidentsPage));
  app.get(`${prefix}/:account/incident/:id`, ofAccount('incidents', 'Incident', incidentPage));
  app.get(`${prefix}/:account/alert/:id`, ofAccount('incidents', 'Alert', alertPage));
  app.get(`${prefix}/:account/work-items`, ofAccount('work-items', 'Work items', workItemsPage));
  app.get(`${prefix}/:account/account`, ofAccount('account', 'Account', accountPage));
  app.get(`${prefix}/:account/health`, ofAccount('health', 'Health', healthPage));
  app.post(`${prefix}/:account/health`, async (c) => {
    const { token: given } = await c.req.parseBody();
    if (typeof given !== 'string' || !isSame(given, formToken))
      return refuse(c, 403, 'Refused', 'Use the button of the page.');
    const view = viewOf(c);
    await runCheck({ ...view, account: await requireAccount(view.table, c.req.param('account')) });
    return c.redirect(c.req.path, 303);
  });
  return { listener: getRequestListener(app.fetch), entrance };
}

/** The page that tells of an error; its status is 500 for a bug in the console. */
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
  if (units === 0) return ''; // not every server returns them
  return `Read ${units.toLocaleString('en')} read units, about $${(units * READ_UNIT_DOLLARS).toFixed(7)} on demand`;
}
