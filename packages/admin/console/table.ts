/** Shows tables and the fields of things. */
import type { AccountRow } from '../../../lib/model/account.ts';
import { type Cell, type Fields, isList, type Listing, type Table, tableOf } from '../text/table.ts';
import {
  badge,
  beginningOf,
  copyable,
  duration,
  folded,
  type Html,
  href,
  html,
  link,
  section,
  type Value,
  when,
} from './html.ts';
import { command, type View } from './view.ts';

/** What the console shows besides cells. */
type Special = Html | false;
type TableView = Pick<View, 'nowMs' | 'commandOptions'> & { readonly account?: AccountRow };

const isHtml = (value: object): value is Html => value instanceof Promise || 'isEscaped' in value;

function cellHtml(view: TableView, cell: Cell | Special): Value {
  if (typeof cell === 'number') return cell.toLocaleString('en');
  if (typeof cell !== 'object' || isHtml(cell)) return cell;
  if (isList(cell))
    return cell.map((each) => html`<code>${typeof each === 'string' ? folded(each) : cellHtml(view, each)}</code> `);
  if ('atMs' in cell) return when(cell.atMs, view.nowMs);
  if ('durationMs' in cell) return duration(cell.durationMs);
  if ('command' in cell) return command(view, cell.command, { last: cell.last });
  if ('copy' in cell) return copyable(cell.copy);
  if ('state' in cell) return badge(cell.state, cell.text);
  // Only these schemes are taken, and no other may become a link.
  if ('url' in cell) return /^https?:/i.test(cell.url) && link(cell.url, beginningOf(cell.url));
  if ('brief' in cell)
    return cell.brief === '' ? '' : html`<details><summary>${cell.brief}</summary>${cell.text}</details>`;
  const { id, text, path, query, part, account = view.account?.account_id } = cell;
  const address = href([...(account === undefined ? [] : [account]), ...path], query);
  return html`${link(part === undefined ? address : `${address}#${part}`, beginningOf(text || id || ''))}${id && text && html` <small>${id}</small>`}`;
}

/** A table. On a phone each row is a card, with the column's name beside each value but a title. */
export function tableHtml(view: TableView, { head, rows, none }: Table<Special>): Html {
  if (rows.length === 0) return html`<p>${none}</p>`;
  const shown = (cell: Cell | Special) => (typeof cell === 'string' ? folded(cell) : cellHtml(view, cell));
  const numberClass = (cell: unknown) => typeof cell === 'number' && html` class="number"`;
  return html`<table>
<thead><tr>${head.map((name, column) => html`<th scope="col"${numberClass(rows.find((row) => row[column] !== undefined)?.[column])}>${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...others]) =>
      html`<tr><th scope="row"${!(typeof first === 'object' && 'id' in first) && html` data-name="${head[0]}"`}>${shown(first)}</th>${others.map(
        (cell, index) => html`<td data-name="${head[index + 1]}"${numberClass(cell)}>${shown(cell)}</td>`,
      )}</tr>`,
  )}</tbody></table>`;
}

/** A section with a list of rows. */
export const listing = <Row>(view: TableView, listed: Listing<Row, Special>, rows: readonly Row[], note?: Html): Html =>
  section(listed.title ?? '', tableHtml(view, tableOf(listed, rows)), note);

/** The fields of a thing, without those that have no value. */
export const facts = (view: TableView, { fields }: Fields<Special>) =>
  html`<dl>${fields.map(([name, value]) => value !== undefined && value !== false && html`<div><dt>${name}</dt><dd>${cellHtml(view, value)}</dd></div>`)}</dl>`;
