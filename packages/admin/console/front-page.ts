/** The front page: the status of the service, what needs an operator, and the accounts. */
import { readAccounts } from '../accounts/accounts.ts';
import { type IngestCounts, readIngestStatus } from '../ingest/ingest-status.ts';
import type { Measured } from '../status/measured.ts';
import { type Part, part, readStatus } from '../status/status.ts';
import {
  CALLS_TITLE,
  type Cell,
  callsTable,
  type Figure,
  figureOf,
  figuresOf,
  type StatusTable,
  tablesOf,
} from '../status/summary.ts';
import { countText } from '../text/printable.ts';
import { anchor, badge, type Html, href, html, link, moreLink, section, tableOf, type Value, when } from './html.ts';
import { command, type View } from './view.ts';

type FrontView = Omit<View, 'account'>;

const ACCOUNTS_LISTED = 50;

export async function frontPage(view: FrontView): Promise<Html> {
  const { table, query } = view;
  // Only the first page of accounts shows the status, too.
  const shown = query.after === undefined ? await statusOf(view) : undefined;
  const { accounts, next } = await readAccounts(table, { limit: ACCOUNTS_LISTED, after: query.after });
  const rows = accounts.map(({ account_id: id, name, permissions, suspended }) => [
    link(href([id, 'fleet']), name),
    String(id),
    permissions.join(' ') || 'none',
    suspended && badge('suspended'),
  ]);
  const none = 'The table has no accounts.';
  const list = tableOf({ head: ['name', 'account', 'permissions', 'state'], rows, none });
  return html`${shown?.attention}
<div class="columns">
${section('Accounts', html`${list}${moreLink(next && href([], { after: next }), 'Further accounts')}`)}
${shown?.calls}
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
      measure: async () => (await measure()) ?? NO_FIGURES,
    }),
    ingestQueues && part(() => readIngestStatus(ingestQueues)),
  ]);
  const figures = [...figuresOf(status, errorText), feedFigure(ingestStatus)];
  const tiles = figures.sort((a, b) => Number(b.isBad) - Number(a.isBad)).map(tileOf);
  const sectionOf = ({ title, head, rows }: StatusTable) =>
    section(title, tableOf({ head, rows: rows.map((row) => row.map((cell) => cellOf(view, cell))) }));
  const calls = callsTable(status);
  return {
    attention: html`<ul class="tiles">${tiles}</ul>${tablesOf(status).map(sectionOf)}`,
    calls: calls.rows.length > 0 && sectionOf(calls),
  };
}

/** Figures for a service that has none. */
const NO_FIGURES: Measured = { operations: [], attempts: [] };

const errorText = ({ name, message }: Error) => (name === 'Error' ? message : `${name}: ${message}`);

const feedFigure = (counts: Part<IngestCounts> | undefined): Figure =>
  figureOf('Feed', counts, errorText, ({ ingest: { waiting }, refused }) => {
    const text = `${countText(waiting, 'message')} waiting`;
    if (refused.waiting === 0) return { value: text, isBad: false };
    return { value: `${refused.waiting.toLocaleString('en')} refused`, note: `records, ${text}`, isBad: true };
  });

/** What the figures link to. */
const LINKS: Readonly<Record<string, string>> = { Feed: 'feed', 'Failed calls': `#${anchor(CALLS_TITLE)}` };

function tileOf({ name, value, note, accounts = [], isBad }: Figure): Html {
  const links = accounts.map(({ id, text }) => html`${link(href([id, 'account']), text)} `);
  const to = LINKS[name];
  const shown = to === undefined ? value : link(to, value);
  return html`<li${isBad && html` class="bad"`}><span>${name}</span> <strong>${shown}</strong> <small>${note}${links}</small></li>`;
}

function cellOf(view: FrontView, cell: Cell): Value {
  if (typeof cell !== 'object') return cell;
  if ('atMs' in cell) return when(cell.atMs, view.nowMs);
  return 'command' in cell ? command(view, cell.command) : link(href(cell.path), cell.text);
}
