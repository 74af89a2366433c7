/** The page of a host: its status, the rule that decided it, and its stored rows. */
import { stringifyJson } from '../../../lib/shared/json.ts';
import { explainHost, readHost } from '../fleet/hosts.ts';
import { shownFields } from '../text/printable.ts';
import { badge, duration, facts, html, section, type Titled, type Value, when } from './html.ts';
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
${section('Inventory', host ? fields(host, nowMs) : html`<p>It has none.</p>`)}
${section('Live status', live ? fields(live, nowMs) : html`<p>It never reported.</p>`)}
</div>
<p>${command(view, `show host --account ${account.account_id}`, { last: id })}</p>`;
  return { title: id, body };
}

const fields = (row: object, nowMs: number) =>
  facts(
    Object.entries(shownFields(row))
      .sort(([a], [b]) => a.localeCompare(b))
      .filter(([name]) => name !== 'host_id')
      .map(([name, value]) => [name.replace(/_ms$/, '').replaceAll('_', ' '), textOf(name, value, nowMs)]),
  );

/** A value of a row; times and durations in readable form. Other systems write these rows, so a value may have any type. */
function textOf(name: string, value: unknown, nowMs: number): Value {
  if (name.endsWith('_ms') && (typeof value === 'number' || typeof value === 'bigint'))
    return name.endsWith('interval_ms') ? duration(Number(value)) : when(Number(value), nowMs);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? stringifyJson(value) : String(value);
}
