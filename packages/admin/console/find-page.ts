/** What an id names, in all accounts. */
import { FEEDS_SEARCHED, find } from '../find/find.ts';
import { type Html, href, html, link, section } from './html.ts';
import { command, type View } from './view.ts';

export const searchBox = (id = '') => html`<form action="find" role="search"><div class="grid">
<label>Find an id <input name="id" type="search" value="${id}" required></label>
<button type="submit">Find</button>
</div></form>`;

export async function findPage(view: Omit<View, 'account'>): Promise<Html> {
  const id = view.query.id?.trim() ?? '';
  const found = id === '' ? [] : await find(view.table, id);
  return html`${searchBox(id)}
${section('What has this id', {
  head: ['id', 'kind', 'account', 'what', 'how to show it'],
  rows: found.map(({ kind, account, accountName, id: name, detail, command: { words, stored }, page }) => [
    link(href(page.path, page.query), name),
    kind,
    `${account}, ${accountName}`,
    detail,
    command(view, words, stored),
  ]),
  none: `Nothing. Ids of hosts and work items are exact; a request_id is one of a merge, in the newest ${FEEDS_SEARCHED} incidents of each account.`,
})}`;
}
