/** HTML in which stored text is harmless, and the pieces that the pages share. */
import { html as template } from 'hono/html';
import ms from 'ms';
import type { AccountRow } from '../../../lib/dynamodb/rows.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { printable } from '../text/printable.ts';
import { timeText } from '../text/time-text.ts';

export type Html = ReturnType<typeof template>;
type Value = Html | string | number | bigint | false | undefined | readonly Value[];

/** Of a stored text, in UTF-16 units: some may be as long as a row. */
const LONGEST_TEXT = 4_000;
const SECOND_MS = 1_000;

/** A template that escapes its values, and shows characters that reorder or hide text as escapes, as the commands do. */
export const html = (strings: TemplateStringsArray, ...values: Value[]): Html =>
  template(strings, ...values.map(harmless));

function harmless(value: Value): unknown {
  if (typeof value === 'string')
    return printable(value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value);
  if (typeof value === 'bigint') return String(value);
  return Array.isArray(value) ? value.map(harmless) : value;
}

/** The address of a page, relative to the document's base: its path, and its query without the parts that are not given. */
export function href(path: readonly (string | Int64)[], query: Readonly<Record<string, string | undefined>> = {}) {
  const given = Object.entries(query).filter((part): part is [string, string] => (part[1] ?? '') !== '');
  const address = path.length === 0 ? '.' : path.map((part) => encodeURIComponent(String(part))).join('/');
  return given.length === 0 ? address : `${address}?${new URLSearchParams(given)}`;
}

export const link = (to: string, text: Value) => html`<a href="${to}">${text}</a>`;

/** A moment in Unix milliseconds, and how long ago it was. */
export function when(atMs: number, nowMs: number): Html {
  const distance = duration(Math.abs(nowMs - atMs));
  return html`${timeText(atMs)} <small>(${nowMs >= atMs ? `${distance} ago` : `in ${distance}`})</small>`;
}

export const duration = (durationMs: number) =>
  durationMs < SECOND_MS ? 'less than a second' : ms(Math.round(durationMs / SECOND_MS) * SECOND_MS, { long: true });

/** Cells; the first is the row's heading. */
type Row = readonly Value[];

export interface Table {
  head: readonly string[];
  rows: readonly Row[];
  /** Said in place of a table without rows. */
  none: string;
}

/** A heading with a table, which scrolls by itself where it is wider than the screen. */
export const section = (title: string, { head, rows, none }: Table, note?: Html): Html => html`<h2>${title}</h2>${note}
${
  rows.length === 0
    ? html`<p>${none}</p>`
    : html`<div class="overflow-auto" role="region" aria-label="${title}" tabindex="0"><table>
<thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>${body(rows)}</table></div>`
}`;

/** Names and values. */
export const facts = (rows: readonly Row[]) => html`<table>${body(rows)}</table>`;

const body = (rows: readonly Row[]) =>
  html`<tbody>${rows.map(
    ([first, ...rest]) => html`<tr><th scope="row">${first}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}</tbody>`;

/** Leads to the rows that follow, if there are any. */
export const further = (to: string | undefined, text: string) => to !== undefined && html`<p>${link(to, text)}</p>`;

/** A bar for those who see it; what it shows must also stand beside it as text. */
export const bar = (part: number, whole: number) =>
  html`<progress value="${part}" max="${Math.max(1, whole)}" aria-hidden="true"></progress>`;

/** The same in several parts, each with a class for its colour. */
export function stackedBar(parts: readonly (readonly [className: string, size: number])[]): Html {
  let reached = 0;
  const pieces = parts.map(([className, size]) => {
    reached += size;
    return html`<rect class="${className}" x="${reached - size}" width="${size}" height="1"/>`;
  });
  return html`<svg viewBox="0 0 ${reached} 1" preserveAspectRatio="none" aria-hidden="true">${pieces}</svg>`;
}

export interface Page {
  title: string;
  /** Of the pages of one account. */
  account?: AccountRow;
  /** Which of them it is, or belongs to; or that of the feed. */
  page?: keyof typeof PAGES | 'feed';
  body: Html;
}

const PAGES = { fleet: 'Fleet', merges: 'Incidents and merges', account: 'Account', health: 'Health' };

const pageLink = (to: string, label: string, isCurrent: boolean) =>
  html`<li><a href="${to}"${isCurrent && html` aria-current="page"`}>${label}</a></li>`;

/**
 * @param base where the addresses of pages begin
 * @param path of this page, with its query
 * @param footer where it is from
 */
export const document = (
  { title, account, page, body }: Page,
  base: string,
  path: string,
  footer?: string,
): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – console</title>
<base href="${base}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/pico.css">
<link rel="stylesheet" href="/console/console.css">
</head>
<body class="container-fluid">
<a class="skip" href="${path}#content">Skip to the content</a>
<header><nav aria-label="Pages"><ul>
${pageLink(href([]), 'Accounts', !account && page !== 'feed')}
${pageLink(href(['feed']), 'Feed', page === 'feed')}
${account && Object.entries(PAGES).map(([name, label]) => pageLink(href([account.account_id, name]), label, name === page))}
</ul></nav></header>
<main id="content" tabindex="-1">
<h1>${title}</h1>
${account && html`<p>Account ${account.account_id}, ${account.name}</p>`}
${body}
</main>
${footer && html`<footer><small>${footer}</small></footer>`}
</body>
</html>`;
