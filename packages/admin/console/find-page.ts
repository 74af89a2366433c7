/** The page of results of a search for an id, in all accounts. */
import { find, HISTORIES_SEARCHED } from '../find/find.ts';
import { FOUND } from '../tables/found.ts';
import { tableOf } from '../text/table.ts';
import { type Html, html } from './html.ts';
import { tableHtml } from './table.ts';
import type { View } from './view.ts';

export async function findPage(view: Omit<View, 'account'>): Promise<Html> {
  const id = view.query.id?.trim() ?? '';
  if (id === '') return html`<section><p>Type an id, or the key of an alert, in the search box.</p></section>`;
  const none = `Nothing has the id ${id}. Ids of hosts and work items, and keys of alerts, are exact; a request_id is one of a merge, in the newest ${HISTORIES_SEARCHED} incidents of each account.`;
  return html`<section>${tableHtml(view, tableOf({ ...FOUND, none }, await find(view.table, id)))}</section>`;
}
