/** The fleet: who is worst, how old the snapshots are, and each host with the reason for its status. */
import ms from 'ms';
import { FLEET_STATUSES } from '../../../lib/http/operations.ts';
import { readOverview, type ShownHost } from '../fleet/fleet-overview.ts';
import { countText } from '../text/count-text.ts';
import { bar, duration, further, type Html, href, html, link, section, stackedBar, type Table } from './html.ts';
import type { View } from './view.ts';

/** Hosts that a page reads, unless the reader asks for all. */
const HOSTS_READ = 2_000;
const HOSTS_LISTED = 50;
const GROUPS_LISTED = 50;

async function readHosts({ table, account, nowMs, query: { after, read }, signal }: View) {
  const all: ShownHost[] = [];
  const options = { table, account: account.account_id, after, signal, now: () => nowMs };
  for await (const { hosts, more } of readOverview(options)) {
    all.push(...hosts);
    if (!more || (read !== 'all' && all.length >= HOSTS_READ)) return { hosts: all, more };
  }
  return { hosts: all, more: false };
}

export async function fleetPage(view: View): Promise<Html> {
  const { account, query, cost } = view;
  const { status, cluster, version, host: named, after } = query;
  const { hosts, more } = await readHosts(view);
  const to = (change: View['query']) => href([account.account_id, 'fleet'], { ...query, ...change });
  const last = hosts.at(-1)?.host_id ?? after;
  const isWhole = !more && !after;
  const stretch = [after && `after ${after}`, more && `up to ${last}`].filter(Boolean).join(' ');
  const wanted = hosts.filter(
    (host) =>
      (!named || named === host.host_id) &&
      (!status || status === host.status) &&
      (!cluster || cluster === host.edge_cluster) &&
      (!version || version === host.agent_version),
  );
  const listed = wanted.slice(0, HOSTS_LISTED);
  const next = wanted.length > listed.length ? listed.at(-1)?.host_id : more ? last : undefined;
  return html`
<p>Read ${isWhole ? 'all ' : ''}${countText(hosts.length, 'host')}${isWhole ? '' : ` of more, ${stretch}`}: ${cost()}.
${!isWhole && html`Everything below is about these hosts. ${link(to({ after: undefined, read: 'all' }), 'Read the whole fleet')}`}</p>
${groups(hosts, 'edge_cluster', to)}
${groups(hosts, 'agent_version', to)}
${section('Age of the latest snapshots', ages(hosts))}
<form aria-label="Filter the hosts"><div class="grid">
<label>Status <select name="status"><option value="">any</option>${FLEET_STATUSES.map(
    (one) => html`<option${one === status && html` selected`}>${one}</option>`,
  )}</select></label>
<label>Edge cluster <input name="cluster" value="${cluster}"></label>
<label>Agent version <input name="version" value="${version}"></label>
<button type="submit">Filter</button>
</div></form>
${section('Hosts', {
  head: ['host', 'status', 'why', 'edge cluster', 'agent version', 'snapshot'],
  rows: listed.map((host) => [
    host.host_id,
    label(host.status, host.status),
    `${host.why} (rule ${host.rule})`,
    host.edge_cluster,
    host.agent_version,
    host.ageMs === undefined ? 'none' : `${duration(host.ageMs)} ago`,
  ]),
  none: 'No host of those that were read matches.',
})}
${further(next && to({ after: next, read: undefined }), 'Next hosts')}`;
}

const label = (status: string, text: string | Html) => html`<span class="${status} label">${text}</span> `;

const ATTENTION = new Set(['stale', 'degraded', 'no_data']);

/** The statuses of the hosts of each edge cluster or agent version: a filter of the page chooses one. */
function groups(hosts: ShownHost[], by: 'edge_cluster' | 'agent_version', to: (change: View['query']) => string): Html {
  const [what, filter] = by === 'edge_cluster' ? ['edge cluster', 'cluster'] : ['agent version', 'version'];
  const all = [...Map.groupBy(hosts, (host) => host[by])].map(([name, members]) => {
    const bad = members.filter((host) => ATTENTION.has(host.status)).length;
    return { name, members, bad, share: bad / members.length };
  });
  all.sort((one, other) => other.share - one.share || one.name.localeCompare(other.name));
  const rows = all.slice(0, GROUPS_LISTED).map(({ name, members, bad, share }) => {
    const parts = FLEET_STATUSES.map((one) => [one, members.filter(({ status }) => status === one).length] as const);
    const found = parts.filter(([, size]) => size > 0);
    const labels = found.map(([one, size]) => label(one, link(to({ [filter]: name, status: one }), `${size} ${one}`)));
    return [
      name && link(to({ [filter]: name }), name),
      `${Math.round(100 * share)} % (${bad} of ${members.length})`,
      [stackedBar(found), labels],
    ];
  });
  const more = all.length > rows.length && ` The first ${rows.length} of ${all.length}.`;
  const note = html`<p>The worst first: the share of hosts that are stale, degraded or without data.${more}</p>`;
  return section(`Status by ${what}`, { head: [what, 'share', 'statuses'], rows, none: 'There are no hosts.' }, note);
}

/** Upper ends of the histogram's ages. */
const AGES = ['10s', '30s', '1m', '5m', '1h', '1d'] as const;
const [OLDER, NO_SNAPSHOT] = ['over 1d', 'no snapshot'];

function ages(hosts: readonly ShownHost[]): Table {
  const found = Map.groupBy(hosts, ({ ageMs }) => {
    const end = AGES.find((age) => ageMs !== undefined && ageMs <= ms(age));
    return end ? `up to ${end}` : ageMs === undefined ? NO_SNAPSHOT : OLDER;
  });
  const rows = [...AGES.map((age) => `up to ${age}`), OLDER, NO_SNAPSHOT].map((name) => {
    const size = found.get(name)?.length ?? 0;
    return [name, size, bar(size, hosts.length)];
  });
  return { head: ['age', 'hosts', 'share'], rows, none: '' };
}
