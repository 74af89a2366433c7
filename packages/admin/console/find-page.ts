/** The page of results of a search for an id, in all accounts. */
import { find, HISTORIES_SEARCHED } from '../find/find.ts';
import { type Html, href, html, link, tableOf } from './html.ts';
import { command, type View } from './view.ts';

export async function findPage(view: Omit<View, 'account'>): Promise<Html> {
  const id = view.query.id?.trim() ?? '';
  const found = id === '' ? [] : await find(view.table, id);
  const none = `Nothing has the id ${id}. Ids of hosts and work items, and keys of alerts, are exact; a request_id is one of a merge, in the newest ${HISTORIES_SEARCHED} incidents of each account.`;
  const rows = tableOf({
    head: ['id', 'kind', 'account', 'what', 'how to show it'],
    rows: found.map(({ kind, account, accountName, id: name, detail, command: { words, idArgument }, page }) => [
      link(`${href(page.path, page.query)}${page.part ? `#${page.part}` : ''}`, name),
      kind.replaceAll('_', ' '),
      `${account}, ${accountName}`,
      detail,
      command(view, words, { last: idArgument }),
    ]),
    none,
  });
  return html`<section>${rows}</section>`;
}
