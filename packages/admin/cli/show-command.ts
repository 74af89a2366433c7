import { styleText } from 'node:util';
import type { FleetStatus } from '../../../lib/operations/browse-fleet/host.ts';
import { FLEET_STATUSES } from '../../../lib/operations/browse-fleet/schema.ts';
import { explainHost, readFleet, readHost } from '../fleet/hosts.ts';
import { effectsOf, type ListedMerge, listHistory, listIncidents, readIncident } from '../incidents/list.ts';
import { readWorkItem } from '../incidents/restore-work-item.ts';
import { line, printable, shownFields, timeText } from '../text/printable.ts';
import { objectId } from './arguments.ts';
import type { AccountOptions, AdminCommand, ReadResult, Session } from './command.ts';
import { CliError, type Io } from './io.ts';
import { fieldsText, plainTable, recordsTable } from './output.ts';

type ShowSession = Session<AccountOptions>;

export function addShowCommands(program: AdminCommand): void {
  const show = program.command('show').explain('Show what is stored', 'show fleet --account 42');
  show
    .command('incident')
    .explain(
      'Show an incident and its history: what was merged into it, and undone',
      'show incident 64f000000000000000000001 --account 42',
    )
    .argument('<incident-id>', 'its ObjectID', objectId)
    .ofAccount()
    .shows(showIncident);
  show
    .command('incidents')
    .explain(
      'List the incidents of an account, with the numbers of their alerts and history entries',
      'show incidents --account 42',
    )
    .ofAccount()
    .shows(showIncidents);
  show
    .command('work-item')
    .explain('Show a work item, also a deleted one', 'show work-item wi-1001 --account 42')
    .argument('<work-item-id>', 'its id')
    .ofAccount()
    .shows(showWorkItem);
  show
    .command('host')
    .explain(
      'Show the stored rows of a host, its status and the reason for it',
      'show host fra-1-web-0001 --account 42',
    )
    .argument('<host-id>', 'its id')
    .ofAccount()
    .shows(showHost);
  show
    .command('fleet')
    .explain('Show how many hosts of each status each edge cluster has', 'show fleet --account 42')
    .ofAccount()
    .shows(showFleet);
}

async function showIncident({ table, options: { account } }: ShowSession, id: string): Promise<ReadResult> {
  const incident = await readIncident(table, account, id);
  if (!incident) throw new CliError(`Account ${account} has no incident ${id}.`);
  const shown = shownFields(incident);
  const history = await listHistory(table, account, id);
  const head = history.length === 0 ? 'Its history is empty.' : 'History, oldest first:';
  return {
    json: {
      ...shown,
      history: history.map(({ entry, moves, stayed, pending }) => ({ ...entry, pending, moves, stayed })),
    },
    text: () => [fieldsText(shown), '', head, ...history.map(entryText)].join('\n'),
  };
}

async function showIncidents({ table, options: { account } }: ShowSession): Promise<ReadResult> {
  const incidents = await listIncidents(table, account);
  const records = incidents.map((incident) => ({ owner_id: 'none', ...incident }));
  return {
    json: incidents,
    text: (width) =>
      records.length === 0
        ? `Account ${account} has no incidents.`
        : recordsTable(records, ['incident_id', 'alerts', 'entries', 'owner_id', 'title'], width),
  };
}

async function showWorkItem({ table, options: { account } }: ShowSession, id: string): Promise<ReadResult> {
  const stored = await readWorkItem(table, account, id);
  if (!stored) throw new CliError(`Account ${account} has no work item ${id}.`);
  const shown = { ...shownFields(stored), state: stored.deleted_at_ms === undefined ? 'active' : 'deleted' };
  return { json: shown, text: () => fieldsText(shown) };
}

async function showHost({ io, table, options: { account } }: ShowSession, id: string): Promise<ReadResult> {
  const { host, live } = await readHost(table, account, id);
  if (!host && !live) throw new CliError(`Account ${account} has no host ${id}.`);
  const shown = host && explainHost(host, live, io.now());
  const why = shown?.why ?? 'It is not in the inventory, so the API does not list it.';
  const title = shown ? line`${id} is ${shown.status} (rule ${shown.rule}).` : line`${id} has no status.`;
  const rowText = (row: object | undefined) => (row ? fieldsText(shownFields(row)) : '  none');
  return {
    json: {
      host_id: id,
      ...shown,
      why,
      inventory: host ? shownFields(host) : null,
      live_status: live ? shownFields(live) : null,
    },
    text: () => [title, printable(why), '', 'Inventory', rowText(host), '', 'Live status', rowText(live)].join('\n'),
  };
}

async function showFleet(session: ShowSession): Promise<ReadResult> {
  const { account } = session.options;
  const counts = await countFleet(session);
  const edge_clusters = Object.fromEntries(counts.edge_clusters);
  return {
    json: { account_id: account, ...counts, edge_clusters },
    text: (width) => fleetText(counts, session.io, width),
  };
}

function entryText(item: ListedMerge): string {
  const { entry, pending } = item;
  const sequenceText = (sequence?: number) => String(sequence).padStart(15, '0');
  const what = entry.kind === 'merge' ? 'merge' : `undo of ${sequenceText(entry.undone_sequence)}`;
  return [
    line`  ${sequenceText(entry.sequence)}  ${timeText(entry.at_ms)}  ${what} by ${entry.by}${pending ? '  (pending)' : ''}`,
    ...effectsOf(item).map(({ text, incident }) => line`    ${incident ? `${text} ${incident}` : text}`),
  ].join('\n');
}

type StatusCounts = Record<FleetStatus, number>;

async function countFleet({ io, table, options: { account } }: ShowSession) {
  const zeroCounts = () => Object.fromEntries(FLEET_STATUSES.map((status) => [status, 0])) as StatusCounts;
  /** `edge_clusters` is a map, since the name of a cluster may be any text, such as `__proto__`. */
  const counts = { hosts: 0, statuses: zeroCounts(), edge_clusters: new Map<string, StatusCounts>() };
  for await (const { hosts } of readFleet({ table, account, now: io.now, signal: io.signal }))
    for (const { edge_cluster, status } of hosts) {
      counts.hosts += 1;
      counts.statuses[status] += 1;
      const cluster = counts.edge_clusters.get(edge_cluster) ?? zeroCounts();
      cluster[status] += 1;
      counts.edge_clusters.set(edge_cluster, cluster);
    }
  return counts;
}

/** How a bar shows each status: by a letter if there are no colours. */
const BAR_STYLES = {
  active: ['a', 'green'],
  degraded: ['d', 'yellow'],
  stale: ['s', 'red'],
  initializing: ['i', 'cyan'],
  disabled: ['x', 'gray'],
  unsupported: ['u', 'gray'],
  no_data: ['n', 'magenta'],
} as const satisfies Record<FleetStatus, [letter: string, colour: string]>;
const BAR_WIDTH = 40;

type FleetCounts = Awaited<ReturnType<typeof countFleet>>;

function fleetText({ hosts, statuses, edge_clusters }: FleetCounts, io: Io, width?: number): string {
  const isColoured = io.stdout.isTTY && !io.env.NO_COLOR;
  const paint = (status: FleetStatus, text: string) =>
    isColoured ? styleText(BAR_STYLES[status][1], text, { validateStream: false }) : text;
  const bar = (counts: StatusCounts) => {
    const total = FLEET_STATUSES.reduce((sum, status) => sum + counts[status], 0);
    let reached = 0;
    let drawn = 0;
    const pieces = FLEET_STATUSES.map((status) => {
      reached += counts[status];
      const until = total === 0 ? 0 : Math.round((reached / total) * BAR_WIDTH);
      const width = until - drawn;
      drawn = until;
      return width === 0 ? '' : paint(status, (isColoured ? '█' : BAR_STYLES[status][0]).repeat(width));
    });
    return { painted: pieces.join('') };
  };
  const row = (name: string, counts: StatusCounts) => [
    name,
    ...FLEET_STATUSES.map((status) => String(counts[status])),
    bar(counts),
  ];
  const head = ['edge cluster', ...FLEET_STATUSES.map((status) => ({ painted: paint(status, status) })), ''];
  const clusters = [...edge_clusters].sort(([a], [b]) => a.localeCompare(b));
  return [
    plainTable([...clusters.map(([name, counts]) => row(name, counts)), row('all', statuses)], head, width),
    '',
    `${hosts} hosts. Bars: ${FLEET_STATUSES.map((status) => `${BAR_STYLES[status][0]} ${status}`).join(', ')}.`,
  ].join('\n');
}
