/** The pages of the console: those of the table, and below them those of an account. */
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { isInt64, toInt64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { readAccount } from '../accounts/accounts.ts';
import { withAnswerTimeout } from '../local-service/answer-timeout.ts';
import { countText } from '../text/printable.ts';
import { accountPage } from './account-page.ts';
import { alertPage } from './alert-page.ts';
import { alertsPage } from './alerts-page.ts';
import { feedPage } from './feed-page.ts';
import { findPage } from './find-page.ts';
import { fleetPage } from './fleet-page.ts';
import { frontPage } from './front-page.ts';
import { healthPage, runCheck } from './health-page.ts';
import { hostPage } from './host-page.ts';
import { type Html, html, type Page, type Titled } from './html.ts';
import { incidentPage, incidentsPage } from './incidents-page.ts';
import { isSame, secret } from './session.ts';
import { metered, NotFound, type Source, type View } from './view.ts';
import { workItemsPage } from './work-items-page.ts';

type TableView = Omit<View, 'account'>;
type Tab = NonNullable<Page['tab']>;
type TableEnv = { Bindings: HttpBindings; Variables: { view: TableView } };

/** Milliseconds without any answer from DynamoDB after which a page says so. */
const NO_ANSWER_MS = 10_000;
/** US dollars for a read unit on demand, as in docs/cost.md. */
const READ_UNIT_DOLLARS = 0.125 / 1_000_000;

/** Answers with a page. @param status absent: 200; @param cost of the reads, as a clause */
export type Show = (
  context: Context,
  page: Page,
  options?: { status?: 400 | 403; cost?: string },
) => Response | Promise<Response>;

export function createPages(source: Source, show: Show): Hono<TableEnv> {
  const checks: View['checks'] = new Map();
  const formToken = secret();
  const pages = new Hono<TableEnv>({ strict: false });
  pages.use(async (context, next) => {
    context.set('view', viewOf(context, { ...source, checks, formToken }));
    return next();
  });
  const page =
    (title: string, body: (view: TableView) => Promise<Html>, tab?: Tab) => async (context: Context<TableEnv>) => {
      const { view } = context.var;
      const shown = { title, body: await body(view), ...(tab && { tab }) };
      return show(context, shown, { cost: view.cost() });
    };
  pages.get('/', page('Overview', frontPage, 'overview'));
  pages.get('/find', page('Find', findPage));
  pages.get('/feed', page('Feed', feedPage, 'feed'));
  return pages.route('/:account', createAccountPages(show));
}

function createAccountPages(show: Show): Hono<TableEnv> {
  const pages = new Hono<TableEnv>({ strict: false });
  const viewOfAccount = async ({ req, var: { view } }: Context<TableEnv>): Promise<View> => ({
    ...view,
    account: await requireAccount(view.table, req.param('account')),
  });
  const page =
    (tab: Tab, title: string, body: (view: View, id: string) => Promise<Html | Titled>) =>
    async (context: Context<TableEnv>) => {
      const view = await viewOfAccount(context);
      const shown = await body(view, context.req.param('id')?.toLowerCase() ?? '');
      const titled = 'title' in shown ? { ...shown, kind: title.toLowerCase() } : { title, body: shown };
      return show(context, { tab, account: view.account, ...titled }, { cost: view.cost() });
    };
  pages.get('/fleet', page('fleet', 'Fleet', fleetPage));
  pages.get('/host', page('fleet', 'Host', hostPage));
  pages.get('/incidents', page('incidents', 'Incidents', incidentsPage));
  pages.get('/incident/:id', page('incidents', 'Incident', incidentPage));
  pages.get('/alerts', page('alerts', 'Alerts', alertsPage));
  pages.get('/alert/:id', page('alerts', 'Alert', alertPage));
  pages.get('/work-items', page('work-items', 'Work items', workItemsPage));
  pages.get('/account', page('account', 'Account', accountPage));
  pages.get('/health', page('health', 'Health', healthPage));
  pages.post('/health', async (context) => {
    const form = await context.req.parseBody().catch(() => undefined);
    const refuse = (status: 400 | 403, title: string, sentence: string) =>
      show(context, { title, body: html`<p>${sentence}</p>` }, { status });
    if (!form) return refuse(400, 'Malformed', 'The form cannot be read.');
    if (typeof form.token !== 'string' || !isSame(form.token, context.var.view.formToken))
      return refuse(403, 'Refused', 'Use the button of the page.');
    await runCheck(await viewOfAccount(context));
    return context.redirect(context.req.path, 303);
  });
  return pages;
}

function viewOf({ req }: Context, options: Source & Pick<View, 'checks' | 'formToken'>): TableView {
  const patient = withAnswerTimeout(options.table, {
    warnAfterMs: NO_ANSWER_MS,
    failAfterMs: NO_ANSWER_MS,
    onWaiting: () => undefined,
  });
  const { table, units } = metered(patient.table);
  const query = Object.fromEntries(Object.entries(req.query()).filter(([, value]) => value !== ''));
  return { ...options, table, nowMs: options.now(), query, signal: req.raw.signal, cost: () => costText(units()) };
}

/** @throws NotFound */
async function requireAccount(table: Table, text = '') {
  const id = /^\d{1,19}$/.test(text) ? toInt64(text) : 0;
  const account = id > 0 && isInt64(id) ? await readAccount(table, id) : undefined;
  if (!account || account.erased_at_ms !== undefined) throw new NotFound(`There is no account ${text}.`);
  return account;
}

function costText(units: number): string {
  if (units === 0) return ''; // not every server returns the consumed capacity
  return `Read ${countText(units, 'read unit')}, about $${(units * READ_UNIT_DOLLARS).toFixed(7)} on demand`;
}
