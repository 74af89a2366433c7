/** The page of a host: its status, the rule that decided it, and its stored rows. */
import { explainHost, readHost } from '../fleet/hosts.ts';
import { hostFields } from '../tables/hosts.ts';
import { badge, html, section, type Titled } from './html.ts';
import { facts } from './table.ts';
import { command, NotFound, type View } from './view.ts';

export async function hostPage(view: View): Promise<Titled> {
  const { table, account, nowMs, query } = view;
  const { id = '' } = query;
  const { host, live } = id === '' ? {} : await readHost(table, account.account_id, id);
  if (!host && !live) throw new NotFound(`Account ${account.account_id} has no host ${id}.`);
  const explained = host && explainHost(host, live, nowMs);
  const about = explained
    ? html`${badge(explained.status)} ${explained.why} (rule ${explained.rule})`
    : 'It is not in the inventory, so the API does not list it.';
  const body = html`
<p class="headline">${about}</p>
<div class="columns">
${section('Inventory', facts(view, hostFields('Inventory', host)))}
${section('Live status', facts(view, hostFields('Live status', live)))}
</div>
<p>${command(view, `show host --account ${account.account_id}`, { last: id })}</p>`;
  return { title: id, body };
}
