/** HTML templates that escape stored text, and the parts that the pages share. */

import { html as template } from 'hono/html';
import ms from 'ms';
import type { AccountRow } from '../../../lib/model/account.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { printable, timeText } from '../text/printable.ts';

export type Html = ReturnType<typeof template>;
export type Value = Html | string | number | bigint | false | undefined | readonly Value[];

/** Maximum length of a shown text, in UTF-16 units. A stored text may be as long as a row, 400 KB. */
const MAX_TEXT_LENGTH = 4_000;
const SECOND_MS = 1_000;
/** Length of the date at the beginning of a time, such as `2026-01-02`. */
const DATE_LENGTH = 10;

/**
 * A template that escapes its values for HTML. It also escapes characters that reorder or hide text, as the commands do
 * on a terminal.
 */
export const html = (strings: TemplateStringsArray, ...values: Value[]): Html =>
  template(strings, ...values.map(escaped));

function escaped(value: Value): unknown {
  if (typeof value === 'string')
    return printable(value.length > MAX_TEXT_LENGTH ? `${value.slice(0, MAX_TEXT_LENGTH)}…` : value);
  if (typeof value === 'bigint') return String(value);
  return Array.isArray(value) ? value.map(escaped) : value;
}

/** The address of a page, relative to the document's base, without empty and undefined parameters. */
export function href(path: readonly (string | Int64)[], query: Readonly<Record<string, string | undefined>> = {}) {
  const parameters = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  const address = path.length === 0 ? '.' : path.map((part) => encodeURIComponent(String(part))).join('/');
  return parameters.length === 0 ? address : `${address}?${new URLSearchParams(parameters)}`;
}

export const link = (to: string, text: Value) => html`<a href="${to}">${text}</a>`;

/** A time in Unix milliseconds, without the date if it is today's, and how long ago it was. */
export function when(atMs: number, nowMs: number): Html {
  const [text, today] = [timeText(atMs), timeText(nowMs).slice(0, DATE_LENGTH)];
  if (!Number.isFinite(atMs)) return html`${text}`; // of a row that somebody has replaced
  const shown = text.startsWith(today) ? text.slice(DATE_LENGTH + 1) : text;
  const distance = duration(Math.abs(nowMs - atMs));
  return html`<time>${shown}</time> <small>${nowMs >= atMs ? `${distance} ago` : `in ${distance}`}</small>`;
}

export const duration = (durationMs: number) =>
  durationMs < SECOND_MS ? 'less than a second' : ms(Math.round(durationMs / SECOND_MS) * SECOND_MS, { long: true });

/** Length, in UTF-16 units, of the beginning of a text that stands for it. */
const BEGINNING = 120;
/** The beginning of a long text, for headings and links; what it leaves out stands elsewhere. */
export const beginningOf = (text: string) =>
  text.length <= BEGINNING ? text : `${text.slice(0, BEGINNING).replace(/[\ud800-\udbff]$/, '')}…`;

/** A text in a list: of one above 200 UTF-16 units the beginning, which opens all of it. */
export const folded = (text: string): string | Html =>
  text.length <= 200 ? text : html`<details><summary>${beginningOf(text)}</summary>${text}</details>`;

/** A section of a page, with an anchor. */
export const section = (title: string, content: Value, note?: Html): Html =>
  html`<section id="${anchor(title)}" aria-label="${title}"><h2>${title}</h2>${note}${content}</section>`;

/** The id of the section with this title. */
export const anchor = (title: string) => title.toLowerCase().replaceAll(' ', '-');

export const moreLink = (to: string | undefined, text: string) => to !== undefined && html`<p>${link(to, text)}</p>`;

/** A status, or another word that stands out; its class gives it a colour. */
export const badge = (className: string, text: Value = className.replaceAll('_', ' ')) =>
  html`<span class="badge ${className}">${text}</span>`;

/** A bar that shows a part of a whole. Screen readers skip it, so the figure must stand beside it as text. */
export const bar = (part: number, whole: number) =>
  stackedBar([
    ['used', part],
    ['rest', whole - part],
  ]);

/** A bar of several parts, each with a class for its colour. */
export function stackedBar(parts: readonly (readonly [className: string, size: number])[]): Html {
  let reached = 0;
  const pieces = parts.map(([className, size]) => {
    reached += size;
    return html`<rect class="${className}" x="${reached - size}" width="${size}" height="1"/>`;
  });
  return html`<svg viewBox="0 0 ${reached} 1" preserveAspectRatio="none" aria-hidden="true">${pieces}</svg>`;
}

/** A text with a button that copies it. */
export const copyable = (code: Value) =>
  html`<span class="copyable"><code>${code}</code> <button type="button">Copy</button></span>`;

/** A page with a title of its own, such as the title of an incident. */
export interface Titled {
  title: string;
  body: Html;
}

export interface Page extends Titled {
  /** What the page shows, such as `incident`, if the title does not say it. */
  kind?: string;
  /** The account that the page belongs to, if it belongs to one. */
  account?: AccountRow;
  /** The tab that the page belongs to, if it belongs to one. */
  tab?: keyof typeof TABS | 'overview' | 'feed';
}

/** The tabs of an account. */
const TABS = {
  fleet: 'Fleet',
  alerts: 'Alerts',
  incidents: 'Incidents',
  'work-items': 'Work items',
  account: 'Account',
  health: 'Health',
};

/** What surrounds the content of every page. */
export interface Frame {
  /** The base path of the pages. */
  readonly base: string;
  /** Address of this page, with its query. */
  readonly address: string;
  /** What only a signed-in reader sees; false: the reader is not signed in. */
  readonly signedIn:
    | false
    | {
        readonly isLocal: boolean;
        readonly target: string;
        /** Address of the API reference, if there is one. */
        readonly reference: string | undefined;
        readonly nowMs: number;
        readonly cost: string;
      };
}

const pageLink = (to: string, label: string, isCurrent: boolean) =>
  html`<li><a href="${to}"${isCurrent && html` aria-current="page"`}>${label}</a></li>`;

/** A whole page, with its header and navigation. */
export const htmlDocument = (
  { title, kind, account, tab, body }: Page,
  { base, address, signedIn }: Frame,
): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${beginningOf(title)}${account && ` – ${beginningOf(account.name)} (${account.account_id})`} – console</title>
<base href="${base}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console.css">
<script type="module" src="/console.js"></script>
</head>
<body>
<a class="skip" href="${address}#content">Skip to the content</a>
<header${signedIn && !signedIn.isLocal && html` class="remote"`}>
<p><strong>Incident, monitoring and RUM</strong>${signedIn && html` <span>${signedIn.target}</span>`}</p>
${
  signedIn &&
  html`<form action="find" role="search"><input name="id" type="search" required aria-label="Find an id" placeholder="Find any id"><button>Find</button></form>`
}
</header>
${
  signedIn &&
  html`<nav aria-label="Pages"><ul>
${pageLink(href([]), 'Overview', tab === 'overview')}
${pageLink(href(['feed']), 'Feed', tab === 'feed')}
${account && Object.entries(TABS).map(([name, label]) => pageLink(href([account.account_id, name]), label, name === tab))}
${signedIn.reference !== undefined && pageLink(signedIn.reference, 'API', false)}
</ul></nav>`
}
<main id="content" tabindex="-1">
<div class="top"><h1>${account && html`<small>${beginningOf(account.name)} <span>account ${account.account_id}${kind && `, ${kind}`}</span></small> `}${beginningOf(title)}</h1>
${
  signedIn &&
  html`<p><output id="said" class="unseen"></output><output id="waiting"></output>As of ${timeText(signedIn.nowMs).slice(DATE_LENGTH + 1)} <a href="${address}">Refresh</a> <label><input type="checkbox" id="refresh"> every 10 s</label></p>`
}</div>
${body}
</main>
${signedIn && signedIn.cost !== '' && html`<footer>${signedIn.cost}.</footer>`}
</body>
</html>`;
