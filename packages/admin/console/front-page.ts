/** The front page: the status of the service, what needs an operator, and the accounts. */
import { readAccounts } from '../accounts/accounts.ts';
import type { QueueCounts } from '../ingest/queues.ts';
import { type Reading, readingOf, readStatus } from '../status/status.ts';
import { CALLS, callsTable, type Figure, figureMaker, figuresOf, tablesOf } from '../status/summary.ts';
import { ACCOUNTS, shownAccount } from '../tables/accounts.ts';
import { type Table, tableOf } from '../text/table.ts';
import { anchor, type Html, href, html, link, moreLink, section } from './html.ts';
import { tableHtml } from './table.ts';
import type { View } from './view.ts';

type FrontView = Omit<View, 'account'>;

const ACCOUNTS_LISTED = 50;

export async function frontPage(view: FrontView): Promise<Html> {
  const { table, query } = view;
  // Only the first page of accounts shows the status, too.
  const shown = query.after === undefined ? await statusOf(view) : undefined;
  const { accounts, next } = await readAccounts(table, { limit: ACCOUNTS_LISTED, after: query.after });
  const list = tableHtml(view, tableOf(ACCOUNTS, accounts.map(shownAccount)));
  return html`${shown?.attention}
<div class="columns wide">
${section('Accounts', html`${list}${moreLink(next && href([], { after: next }), 'Further accounts')}`)}
${shown && html`<div>${shown.others}</div>`}
</div>`;
}

async function statusOf(view: FrontView) {
  const { table, nowMs, measure, deadLetters, url, ingestQueues } = view;
  const [status, ingestStatus] = await Promise.all([
    readStatus({
      table,
      url,
      deadLetters,
      now: () => nowMs,
      measure,
    }),
    ingestQueues && readingOf(() => ingestQueues.counts()),
  ]);
  const figures = [...figuresOf(status, errorText), feedFigure(ingestStatus)];
  const tiles = figures.sort((a, b) => Number(b.isBad) - Number(a.isBad)).map(tileOf);
  const sectionOf = (shown: Table) => section(shown.title ?? '', tableHtml(view, shown));
  const calls = callsTable(status);
  const tables = tablesOf(status);
  /** Needs the width of the page. */
  const isWide = ({ head }: Table) => head.length > 4;
  return {
    attention: html`<ul class="tiles">${tiles}</ul>${tables.filter(isWide).map(sectionOf)}`,
    others: [...tables.filter((each) => !isWide(each)).map(sectionOf), calls.rows.length > 0 && sectionOf(calls)],
  };
}

const errorText = ({ name, message }: Error) => (name === 'Error' ? message : `${name}: ${message}`);

const feedFigure = (counts: Reading<QueueCounts> | undefined): Figure =>
  figureMaker(errorText)('Feed', counts, ({ ingest: { waiting }, refused }) => {
    const note = waiting === 1 ? 'message waiting' : 'messages waiting';
    const count = waiting.toLocaleString('en');
    if (refused.waiting === 0) return { value: count, note, isBad: false };
    return { value: refused.waiting.toLocaleString('en'), note: `refused records, ${count} ${note}`, isBad: true };
  });

/** What the figures link to. */
const LINKS: Readonly<Record<string, string>> = { Feed: 'feed', 'Failed calls': `#${anchor(CALLS.title)}` };

function tileOf({ name, value, note, accounts = [], isBad }: Figure): Html {
  const links = accounts.map(({ id, text }) => html`${link(href([id, 'account']), text)} `);
  const to = LINKS[name];
  const shown = to === undefined ? value : link(to, value);
  return html`<li${isBad && html` class="bad"`}><span>${name}</span> <strong>${shown}</strong> <small>${note}${links}</small></li>`;
}
