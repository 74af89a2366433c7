/** The page of work items, with who deleted them. */
import { partitions } from '../../../lib/table/keys.ts';
import { queryPage } from '../../../lib/table/read.ts';
import { readWorkItem } from '../incidents/restore-work-item.ts';
import { copyable, facts, type Html, href, html, moreLink, tableOf, when } from './html.ts';
import { command, nameCallers, type View } from './view.ts';

const ITEMS_LISTED = 50;

export async function workItemsPage(view: View): Promise<Html> {
  const { table, account, nowMs, query } = view;
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
<section>
${tableOf({
  head: ['work item', 'title', 'version', 'deleted'],
  rows: rows.map(({ work_item_id, title, version, deleted_at_ms: deleted, deleted_by: by, deleted_request_id }) => {
    const deletion =
      deleted !== undefined &&
      facts([
        ['at', when(deleted, nowMs)],
        ['by', by && callerOf(by)],
        ['request', deleted_request_id && copyable(deleted_request_id)],
        ['restore', command(view, `work-item restore --account ${id}`, { last: work_item_id })],
      ]);
    return [work_item_id, title, String(version), deletion];
  }),
  none: 'The account has no work items.',
})}
</section>
${moreLink(next && href([id, 'work-items'], { after: next }), 'Further work items')}`;
}
