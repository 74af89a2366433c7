/** The page of a fleet: numbers of hosts by status, the worst clusters and versions, and the hosts. */
import ms, { type StringValue } from 'ms';
import type { FleetStatus } from '../../../lib/operations/browse-fleet/host.ts';
import { isMatch, readFleet, type ShownHost } from '../fleet/hosts.ts';
import { HOSTS } from '../tables/hosts.ts';
import { countText } from '../text/printable.ts';
import type { Listing } from '../text/table.ts';
import { badge, bar, beginningOf, duration, type Html, href, html, link, moreLink, stackedBar } from './html.ts';
import { listing } from './table.ts';
import { command, type View } from './view.ts';

/** Maximum hosts that a page reads, unless the reader asks for all. */
const HOSTS_READ = 2_000;
const HOSTS_LISTED = 50;
/** Maximum edge clusters, and maximum agent versions, that are listed, the worst first. */
const GROUPS_SHOWN = 12;
const WORST_FIRST: readonly FleetStatus[] = [
  'stale',
  'degraded',
  'no_data',
  'initializing',
  'active',
  'disabled',
  'unsupported',
];
const ATTENTION: ReadonlySet<FleetStatus> = new Set(['stale', 'degraded', 'no_data']);

async function readHosts({ table, account, nowMs, query: { after, read }, signal }: View) {
  const all: ShownHost[] = [];
  const options = { table, account: account.account_id, after, signal, now: () => nowMs };
  for await (const { hosts, more } of readFleet(options)) {
    all.push(...hosts);
    if (!more || (read !== 'all' && all.length >= HOSTS_READ)) return { hosts: all, more };
  }
  return { hosts: all, more: false };
}

type Filter = 'status' | 'cluster' | 'version';

export async function fleetPage(view: View): Promise<Html> {
  const { account, query } = view;
  const { status, cluster, version, after } = query;
  const { hosts, more } = await readHosts(view);
  if (hosts.length === 0 && after === undefined)
    return html`<section><p>The account has no hosts. Each appears once the feed has taken its record: see docs/feed.md.</p></section>`;
  /** The address of this page with a changed query. */
  const to = (change: View['query']) => href([account.account_id, 'fleet'], { ...query, from: undefined, ...change });
  /** A link to the hosts with this value; if that filter is set, a link that removes it. */
  function chip(filter: Filter, value: string, text = value): Html {
    const isOn = query[filter] === value;
    const address = `${to({ [filter]: isOn ? undefined : value })}#hosts`;
    return html`<a class="chip ${filter === 'status' && value}" href="${address}"${isOn && html` aria-current="true"`}>${text}</a> `;
  }
  const found = hosts
    .filter((host) => isMatch(host, { status, cluster, agentVersion: version }, view.nowMs))
    .sort((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status));
  const from = Math.max(0, Math.trunc(Number(query.from)) || 0);
  const listed = found.slice(from, from + HOSTS_LISTED);
  const reached = from + listed.length;
  const last = hosts.at(-1)?.host_id ?? after;
  const next = reached < found.length ? { from: String(reached) } : more ? { after: last, read: undefined } : undefined;
  const clusters = groupsOf(hosts, 'edge_cluster');
  const versions = groupsOf(hosts, 'agent_version');
  const counts = countsOf(hosts);
  const scope = [after && `after ${after}`, more && `up to ${last}`].filter(Boolean).join(' ');
  const wholeFleet = link(to({ after: undefined, read: 'all' }), 'Read the whole fleet');
  const range = listed.length < found.length && `${from + 1} to ${reached} of `;
  const activeFilters = (['status', 'cluster', 'version'] as const).map(
    (name) => query[name] && chip(name, query[name]),
  );
  return html`
${scope !== '' && html`<p>This page covers only the hosts ${scope}. ${wholeFleet}</p>`}
<p class="headline"><strong>${countText(hosts.length, 'host')}</strong> ${counts.map(([status, size]) => chip('status', status, `${size.toLocaleString('en')} ${inWords(status)}`))}</p>
${stackedBar(counts)}
<div class="columns">
${chart(view, 'By edge cluster', clusters, (cluster, status) => `${to({ cluster, status })}#hosts`)}
${chart(view, 'By agent version', versions, (version, status) => `${to({ version, status })}#hosts`)}
${listing(view, AGE_TABLE, agesOf(hosts))}
</div>
${listing(
  view,
  HOSTS,
  listed,
  html`<p>${range}${countText(found.length, 'host')}${found.length > 1 && ', the worst first'} ${activeFilters}</p>`,
)}
${moreLink(next && `${to(next)}#hosts`, 'Next hosts')}
<section><details><summary>Commands for these hosts</summary>${commands(view)}</details></section>`;
}

/** Commands with the filter of the page. */
function commands(view: View): Html {
  const { account, query } = view;
  const options = [`--account=${account.account_id}`];
  for (const [option, value] of [
    ['--status', query.status],
    ['--cluster', query.cluster],
    ['--agent-version', query.version],
  ] as const)
    if (value) options.push(`${option}=${value}`);
  return html`<p>${command(view, 'host list', { options })}</p>
<p>${command(view, 'host retire --stale-for 30d --dry-run', { options })}</p>`;
}

const inWords = (status: string) => status.replaceAll('_', ' ');

/** The number of hosts of each status, the worst first. */
const countsOf = (hosts: readonly ShownHost[]) =>
  WORST_FIRST.map((status) => [status, hosts.filter((host) => host.status === status).length] as const).filter(
    ([, size]) => size > 0,
  );

interface Group {
  readonly name: string;
  readonly members: readonly ShownHost[];
  /** Share of its hosts that need attention, from 0 to 1. */
  readonly share: number;
}

function groupsOf(hosts: readonly ShownHost[], by: 'edge_cluster' | 'agent_version'): Group[] {
  const groups = [...Map.groupBy(hosts, (host) => host[by])].map(([name, members]) => {
    const share = members.filter(({ status }) => ATTENTION.has(status)).length / members.length;
    return { name, members, share };
  });
  return groups.sort((a, b) => b.share - a.share || a.name.localeCompare(b.name));
}

/** The groups with the largest share of hosts that need attention, and links to the others. */
function chart(
  view: View,
  title: string,
  groups: readonly Group[],
  to: (name: string, status?: string) => string,
): Html {
  const worst = groups.slice(0, GROUPS_SHOWN);
  const nameOf = ({ name, members, share }: Group) =>
    html`${name && link(to(name), beginningOf(name))} <small>${Math.round(100 * share)} % of ${members.length.toLocaleString('en')}</small>`;
  const sharesOf = ({ name, members }: Group) => {
    const counts = countsOf(members);
    const bad = counts.filter(([status]) => ATTENTION.has(status));
    const labels = bad.map(([status, size]) => {
      const text = `${size.toLocaleString('en')} ${inWords(status)}`;
      return html`${badge(status, name ? link(to(name, status), text) : text)} `;
    });
    return html`${stackedBar(counts)}${labels}`;
  };
  const others = groups.slice(GROUPS_SHOWN).map(({ name }) => name && html`${link(to(name), beginningOf(name))} `);
  const summary = `The worst ${GROUPS_SHOWN} of ${groups.length}; the others`;
  const note = others.length > 0 ? html`<details><summary>${summary}</summary>${others}</details>` : undefined;
  const columns = [
    { title: title.replace('By ', ''), of: nameOf },
    { title: 'stale, degraded or no data', of: sharesOf },
  ];
  return listing(view, { title, columns, none: '' }, worst, note);
}

/** Upper ends of the histogram's ages. */
const AGES = ['10s', '30s', '1m', '5m', '1h', '1d'] as const;
const [OLDER, NONE] = ['older', 'no snapshot'];

interface Age {
  name: string;
  hosts: number;
  share: Html;
}

const AGE_TABLE: Listing<Age, Html> = {
  title: 'Age of snapshots',
  columns: [
    { title: 'age', of: 'name' },
    { title: 'share', of: ({ share }) => share },
    { title: 'hosts', of: 'hosts', as: 'count' },
  ],
  none: '',
};

function agesOf(hosts: readonly ShownHost[]): Age[] {
  const nameOf = (age: StringValue) => `up to ${duration(ms(age))}`;
  const found = Map.groupBy(hosts, ({ ageMs }) => {
    const end = AGES.find((age) => ageMs !== undefined && ageMs <= ms(age));
    return end ? nameOf(end) : ageMs === undefined ? NONE : OLDER;
  });
  return [...AGES.map(nameOf), OLDER, NONE].map((name) => {
    const size = found.get(name)?.length ?? 0;
    return { name, hosts: size, share: bar(size, hosts.length) };
  });
}
