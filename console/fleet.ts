/** The fleet: who is worst, how old the snapshots are, and each host with the reason for its status. */
import ms from 'ms';
import { FLEET_STATUSES } from '../lib/api/operations.ts';
import { type Explained, explainCandidate } from '../lib/fleet/explain.ts';
import { type Candidate, createHostReader } from '../lib/fleet/hosts.ts';
import { UNREADABLE } from '../lib/fleet/rows.ts';
import type { FleetStatus } from '../lib/fleet/status.ts';
import { bar, count, duration, further, type Html, href, html, link, section, type Table } from './html.ts';
import type { View } from './view.ts';

/** Hosts that a page reads, unless the reader asks for all; and those that it lists. */
const HOSTS_READ = 2_000;
const HOSTS_LISTED = 50;
const HOSTS_AT_ONCE = 1_000;

/** Upper ends of the histogram's ages. */
const AGES = ['10s', '30s', '1m', '5m', '1h', '1d'] as const;
const [NO_SNAPSHOT, OLDER] = ['no snapshot', 'over 1d'];
const AGE_TEXTS = [...AGES.map((age) => `up to ${age}`), OLDER, NO_SNAPSHOT];

function ageText(ageMs: number | undefined): string {
  if (ageMs === undefined) return NO_SNAPSHOT;
  const end = AGES.find((age) => ageMs <= ms(age));
  return end ? `up to ${end}` : OLDER;
}

type Counts = Record<FleetStatus, number>;

const ageOf = ({ live }: Candidate, nowMs: number): number | undefined =>
  live === undefined || live === UNREADABLE || live.received_at_ms === undefined
    ? undefined
    : Math.max(0, nowMs - Number(live.received_at_ms));

/** Counts of the hosts that were read, and those that are listed. */
async function readFleet({ table, account, nowMs, query, signal }: View) {
  const { status, cluster, version, after, read } = query;
  const onUnreadable = (error: unknown) => {
    throw error;
  };
  const reader = createHostReader({ table, account: account.account_id, after, signal, onUnreadable });
  const [clusters, versions, ages] = [new Map<string, Counts>(), new Map<string, Counts>(), new Map<string, number>()];
  const add = (counts: Map<string, Counts>, name: string, of: FleetStatus) => {
    const row = counts.get(name) ?? (Object.fromEntries(FLEET_STATUSES.map((one) => [one, 0])) as Counts);
    row[of] += 1;
    counts.set(name, row);
  };
  const listed: { candidate: Candidate; explained: Explained }[] = [];
  const most = read === 'all' ? Number.POSITIVE_INFINITY : HOSTS_READ;
  let [hosts, last, more] = [0, after, true];
  while (more && hosts < most) {
    const chunk = await reader.next(Math.min(HOSTS_AT_ONCE, most - hosts));
    more = chunk.more;
    hosts += chunk.candidates.length;
    for (const candidate of chunk.candidates) {
      const { host } = candidate;
      const explained = explainCandidate(candidate, nowMs);
      last = host.host_id;
      add(clusters, host.edge_cluster, explained.status);
      add(versions, host.agent_version, explained.status);
      const age = ageText(ageOf(candidate, nowMs));
      ages.set(age, (ages.get(age) ?? 0) + 1);
      const isWanted =
        (!status || status === explained.status) &&
        (!cluster || cluster === host.edge_cluster) &&
        (!version || version === host.agent_version);
      if (isWanted && listed.length <= HOSTS_LISTED) listed.push({ candidate, explained });
    }
  }
  // One more than is listed tells whether the next page begins within what was read.
  const shown = listed.slice(0, HOSTS_LISTED);
  const next = listed.length > shown.length ? shown.at(-1)?.candidate.host.host_id : more ? last : undefined;
  return { clusters, versions, ages, shown, hosts, last, more, next };
}

export async function fleetPage(view: View): Promise<Html> {
  const { account, query, nowMs, cost } = view;
  const { status, cluster, version, after } = query;
  const fleet = await readFleet(view);
  const to = (change: View['query']) => href([account.account_id, 'fleet'], { ...query, ...change });
  const isWhole = !fleet.more && !after;
  const stretch = [after && `after ${after}`, fleet.more && `up to ${fleet.last}`].filter(Boolean).join(' ');
  const rows = fleet.shown.map(({ candidate, explained }) => {
    const { host_id, edge_cluster, agent_version } = candidate.host;
    const age = ageOf(candidate, nowMs);
    const snapshot = age === undefined ? 'none' : `${duration(age)} ago`;
    const why = `${explained.why} (rule ${explained.rule})`;
    return [host_id, label(explained.status, explained.status), why, edge_cluster, agent_version, snapshot];
  });
  return html`
<p>Read ${isWhole ? 'all ' : ''}${count(fleet.hosts, 'host')}${isWhole ? '' : ` of more, ${stretch}`}: ${cost()}.
${!isWhole && html`What follows is of these. ${link(to({ after: undefined, read: 'all' }), 'Read the whole fleet')}`}</p>
${section(
  'Status by edge cluster',
  bars('edge cluster', fleet.clusters, (name, one) => to({ cluster: name, status: one })),
  WORST_FIRST,
)}
${section(
  'Status by agent version',
  bars('agent version', fleet.versions, (name, one) => to({ version: name, status: one })),
  WORST_FIRST,
)}
${section('Age of the latest snapshots', {
  head: ['age', 'hosts', 'share'],
  rows: AGE_TEXTS.map((name) => [name, fleet.ages.get(name) ?? 0, share(fleet.ages.get(name) ?? 0, fleet.hosts)]),
  none: '',
})}
<form method="get" aria-label="Filter the hosts"><div class="filters">
<label>Status <select name="status"><option value="">any</option>${FLEET_STATUSES.map(
    (one) => html`<option${one === status && html` selected`}>${one}</option>`,
  )}</select></label>
<label>Edge cluster <input name="cluster" value="${cluster}"></label>
<label>Agent version <input name="version" value="${version}"></label>
<button>Filter</button>
</div></form>
${section('Hosts', {
  head: ['host', 'status', 'why', 'edge cluster', 'agent version', 'snapshot'],
  rows,
  none: 'No host of those that were read matches.',
})}
${further(fleet.next && to({ after: fleet.next, read: undefined }), 'Next hosts')}`;
}

const label = (status: FleetStatus, text: string | Html) => html`<span class="${status} label">${text}</span> `;
const share = (part: number, whole: number) =>
  bar([
    ['age', part],
    ['free', whole - part],
  ]);

const ATTENTION = ['stale', 'degraded', 'no_data'] as const;
const WORST_FIRST = html`<p>The worst first: the share of hosts that are stale, degraded or without data.</p>`;
const GROUPS_SHOWN = 50;

/** The worst groups of hosts. */
function bars(what: string, counts: ReadonlyMap<string, Counts>, to: (name: string, status?: string) => string): Table {
  const groups = [...counts].map(([name, of]) => {
    const sum = (statuses: readonly FleetStatus[]) => statuses.reduce((all, one) => all + of[one], 0);
    const [total, bad] = [sum(FLEET_STATUSES), sum(ATTENTION)];
    return { name, of, total, bad };
  });
  groups.sort((one, other) => other.bad / other.total - one.bad / one.total || one.name.localeCompare(other.name));
  const rows = groups.slice(0, GROUPS_SHOWN).map(({ name, of, total, bad }) => {
    const parts = FLEET_STATUSES.filter((one) => of[one] > 0);
    const labels = parts.map((one) => label(one, link(to(name, one), `${of[one]} ${one}`)));
    const statuses = html`${bar(parts.map((one) => [one, of[one]]))}${labels}`;
    return [name && link(to(name), name), `${Math.round((100 * bad) / total)} % (${bad} of ${total})`, statuses];
  });
  return { head: [what, 'share', 'statuses'], rows, none: 'There are no hosts.' };
}
