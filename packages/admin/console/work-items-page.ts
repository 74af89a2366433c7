/** The page of work items, with who deleted them. */
import type { WorkItemRow } from '../../../lib/model/work-item.ts';
import { partitions } from '../../../lib/table/keys.ts';
import { queryPage } from '../../../lib/table/read.ts';
import { readWorkItem } from '../incidents/restore-work-item.ts';
import type { Listing } from '../text/table.ts';
import { type Html, href, html, moreLink, when } from './html.ts';
import { facts, listing } from './table.ts';
import { nameCallers, type View } from './view.ts';

const ITEMS_LISTED = 50;

export async function workItemsPage(view: View): Promise<Html> {
  const { table, account, query } = view;
  const id = account.account_id;
  // A search result links to a list that begins with its item; the other lists begin after an item.
  const { from, after = from } = query;
  const [linkedItem, { rows: others, next }, callerOf] = await Promise.all([
    from === undefined ? undefined : readWorkItem(table, id, from),
    queryPage(table, partitions.workItem(id), { limit: ITEMS_LISTED, after }),
    nameCallers(view),
  ]);
  const rows = linkedItem ? [linkedItem, ...others] : others;
  return html`
${listing(view, workItems(view, callerOf), rows)}
${moreLink(next && href([id, 'work-items'], { after: next }), 'Further work items')}`;
}

const workItems = (view: View, callerOf: (by: string) => string): Listing<WorkItemRow, Html | false> => ({
  title: 'Work items',
  columns: [
    { title: 'work item', of: 'work_item_id' },
    { title: 'title', of: ({ title }) => String(title ?? '') },
    { title: 'version', of: 'version' },
    {
      title: 'deleted',
      of({ work_item_id, deleted_at_ms: atMs, deleted_by: by, deleted_request_id: request }) {
        if (atMs === undefined) return false;
        const restore = { command: `work-item restore --account ${view.account.account_id}`, last: work_item_id };
        const details = facts(view, {
          fields: [
            ['by', by && callerOf(by)],
            ['request', request === undefined ? undefined : { copy: request }],
            ['restore', restore],
          ],
        });
        return html`<details><summary>${when(atMs, view.nowMs)}</summary>${details}</details>`;
      },
    },
  ],
  none: 'The account has no work items. The feed takes them: docs/feed.md.',
});
