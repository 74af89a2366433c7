import type { Command } from 'commander';
import { FLEET_STATUSES } from '../lib/api/operations.ts';
import { explainHost } from '../lib/fleet/explain.ts';
import { readOverview } from '../lib/fleet/overview.ts';
import { readHost } from '../lib/fleet/read-host.ts';
import type { FleetStatus } from '../lib/fleet/status.ts';
import { effectsOf } from '../lib/incidents/effects.ts';
import { listIncidents } from '../lib/incidents/list.ts';
import { type FeedItem, readAlert, readFeed, readIncident } from '../lib/incidents/read.ts';
import { readWorkItem } from '../lib/incidents/restore-work-item.ts';
import { type Int64, stringifyJson } from '../lib/json.ts';
import { line, printable } from '../lib/printable.ts';
import { timeText } from '../lib/time-text.ts';
import { requireAccount } from './accounts.ts';
import { accountId, objectId } from './arguments.ts';
import { jsonOption, type Session, withHelp, withTarget } from './command.ts';
import { CliError, type Io, type Painted, painter, print, printJson, type Style } from './io.ts';
import { plainTable } from './output.ts';

type ShowOptions = { account: Int64; json?: boolean };

interface Showing<Id> {
  name: string;
  argument?: [name: string, description: string, read?: (value: string) => Id];
  description: string;
  example: string;
  look(session: Session, options: ShowOptions, id: Id): Promise<{ json: unknown; text: () => string }>;
}

export function addShowCommands(program: Command, io: Io): void {
  const show = withHelp(program.command('show'), 'Show what is stored', 'show fleet --account 42');

  const showing = <Id>({ name, argument, description, example, look }: Showing<Id>) => {
    const command = show.command(name);
    if (argument?.[2]) command.argument(argument[0], argument[1], argument[2]);
    else if (argument) command.argument(argument[0], argument[1]);
    withHelp(
      command.requiredOption('--account <account>', 'the account', accountId).option(...jsonOption),
      description,
      example,
    ).action((...given: unknown[]) => {
      const used = given.at(-1) as Command;
      const options = used.opts<ShowOptions>();
      return withTarget(io, used, 'reads', async (session) => {
        await requireAccount(session.target.table, options.account);
        const { json, text } = await look(session, options, given[0] as Id);
        if (options.json) printJson(io, json);
        else print(io, text());
      });
    });
  };

  showing({
    name: 'incident',
    argument: ['<incident-id>', 'its ObjectID', objectId],
    description: 'Show an incident and its feed: what was merged into it, and undone',
    example: 'show incident 64f000000000000000000001 --account 42',
    look: async ({ target: { table } }, { account }, id) => {
      const incident = await readIncident(table, account, id);
      if (!incident) throw new CliError(`Account ${account} has no incident ${id}.`);
      const { pk: _pk, sk: _sk, ...shown } = incident;
      const feed = await readFeed(table, account, id);
      return {
        json: {
          ...shown,
          feed: feed.map(({ entry, moves, stayed, pending }) => ({ ...entry, pending, moves, stayed })),
        },
        text: () =>
          [
            fieldsText(shown),
            '',
            feed.length === 0 ? 'Its feed is empty.' : 'Feed, oldest first:',
            ...feed.map(feedText),
          ].join('\n'),
      };
    },
  });

  showing({
    name: 'incidents',
    description: 'List the incidents of an account, with the numbers of their alerts and feed entries',
    example: 'show incidents --account 42',
    look: async ({ target: { table } }, { account }) => {
      const incidents = await listIncidents(table, account);
      const rows = incidents.map(({ incident_id, alerts, entries, owner_id = 'none', title }) =>
        [incident_id, alerts, entries, owner_id, title].map(String),
      );
      const head = ['incident_id', 'alerts', 'entries', 'owner_id', 'title'];
      return {
        json: incidents,
        text: () => (rows.length === 0 ? `Account ${account} has no incidents.` : plainTable(rows, head)),
      };
    },
  });

  showing({
    name: 'alert',
    argument: ['<alert-id>', 'its ObjectID', objectId],
    description: 'Show an alert and the incident that it is in',
    example: 'show alert 64f0000000000000000000a1 --account 42',
    look: async ({ target: { table } }, { account }, id) => {
      const alert = await readAlert(table, account, id);
      if (!alert) throw new CliError(`Account ${account} has no alert ${id}.`);
      const incident =
        alert.incident_id === undefined ? undefined : await readIncident(table, account, alert.incident_id);
      const { pk: _pk, sk: _sk, ...fields } = alert;
      const shown = { ...fields, ...(incident && { incident_title: incident.title }) };
      return { json: shown, text: () => fieldsText({ incident_id: 'none', ...shown }) };
    },
  });

  showing({
    name: 'work-item',
    argument: ['<work-item-id>', 'its id'],
    description: 'Show a work item, also a deleted one',
    example: 'show work-item wi-1001 --account 42',
    look: async ({ target: { table } }, { account }, id: string) => {
      const stored = await readWorkItem(table, account, id);
      if (!stored) throw new CliError(`Account ${account} has no work item ${id}.`);
      const { pk: _pk, sk: _sk, ...item } = stored;
      const shown = { ...item, state: stored.deleted_at_ms === undefined ? 'active' : 'deleted' };
      return { json: shown, text: () => fieldsText(shown) };
    },
  });

  showing({
    name: 'host',
    argument: ['<host-id>', 'its id'],
    description: 'Show the stored rows of a host, its status and the reason for it',
    example: 'show host fra-1-web-0001 --account 42',
    look: async ({ target: { table } }, { account }, id: string) => {
      const { host, live } = await readHost(table, account, id);
      if (!host && !live) throw new CliError(`Account ${account} has no host ${id}.`);
      const nowMs = io.now();
      const shown = host && explainHost(host, live, nowMs);
      const why = shown?.why ?? 'It is not in the inventory, so the API does not list it.';
      const json = {
        host_id: id,
        ...shown,
        why,
        inventory: host ?? null,
        live_status: live ?? null,
      };
      return {
        json,
        text: () =>
          [
            shown ? line`${id} is ${shown.status} (rule ${shown.rule}).` : line`${id} has no status.`,
            printable(why),
            '',
            'Inventory',
            host ? fieldsText(host) : '  none',
            '',
            'Live status',
            live ? fieldsText(live) : '  none',
          ].join('\n'),
      };
    },
  });

  showing({
    name: 'fleet',
    description: 'Show how many hosts of each status each edge cluster has',
    example: 'show fleet --account 42',
    look: async ({ target: { table } }, { account }) => {
      const counts = await countFleet(table, account, io);
      const edge_clusters = Object.fromEntries(counts.edge_clusters);
      return { json: { account_id: account, ...counts, edge_clusters }, text: () => fleetText(counts, io) };
    },
  });
}

/** Fields in lines; times also in readable form. */
function fieldsText(row: object): string {
  const rows = Object.entries(row).map(([field, value]) => {
    const text = typeof value === 'object' ? stringifyJson(value) : String(value);
    return [
      `  ${field}`,
      /_ms$/.test(field) && !/interval/.test(field) ? `${text} (${timeText(Number(value))})` : text,
    ];
  });
  return plainTable(rows);
}

function feedText(item: FeedItem): string {
  const { entry, pending } = item;
  const sequenceText = (sequence?: number) => String(sequence).padStart(15, '0');
  const what = entry.kind === 'merge' ? 'merge' : `undo of ${sequenceText(entry.undone_sequence)}`;
  return [
    line`  ${sequenceText(entry.sequence)}  ${timeText(entry.at_ms)}  ${what} by ${entry.by}${pending ? '  (pending)' : ''}`,
    ...effectsOf(item).map(({ text, incident }) => line`    ${incident ? `${text} ${incident}` : text}`),
  ].join('\n');
}

interface FleetCounts {
  hosts: number;
  statuses: Record<FleetStatus, number>;
  /** By name. A map, since a name may be any text. */
  edge_clusters: Map<string, Record<FleetStatus, number>>;
}

async function countFleet(table: Session['target']['table'], account: Int64, io: Io): Promise<FleetCounts> {
  const none = () => Object.fromEntries(FLEET_STATUSES.map((status) => [status, 0])) as Record<FleetStatus, number>;
  const counts: FleetCounts = { hosts: 0, statuses: none(), edge_clusters: new Map() };
  for await (const { hosts } of readOverview({ table, account, now: io.now, signal: io.signal }))
    for (const { edge_cluster, status } of hosts) {
      counts.hosts += 1;
      counts.statuses[status] += 1;
      const cluster = counts.edge_clusters.get(edge_cluster) ?? none();
      cluster[status] += 1;
      counts.edge_clusters.set(edge_cluster, cluster);
    }
  return counts;
}

const STYLES: Readonly<Record<FleetStatus, Style>> = {
  active: 'green',
  degraded: 'yellow',
  stale: 'red',
  initializing: 'cyan',
  disabled: 'gray',
  unsupported: 'gray',
  no_data: 'magenta',
};
/** A letter for each status, so that a bar can be read without colours. */
const LETTERS: Readonly<Record<FleetStatus, string>> = {
  active: 'a',
  degraded: 'd',
  stale: 's',
  initializing: 'i',
  disabled: 'x',
  unsupported: 'u',
  no_data: 'n',
};
const BAR_WIDTH = 40;

function fleetText({ hosts, statuses, edge_clusters }: FleetCounts, io: Io): string {
  const paint = painter(io.stdout, io.env);
  const bar = (of: Record<FleetStatus, number>): Painted => {
    const total = FLEET_STATUSES.reduce((sum, status) => sum + of[status], 0);
    let reached = 0;
    let drawn = 0;
    const pieces = FLEET_STATUSES.map((status) => {
      reached += of[status];
      const until = total === 0 ? 0 : Math.round((reached / total) * BAR_WIDTH);
      const piece = LETTERS[status].repeat(until - drawn);
      drawn = until;
      return piece === ''
        ? ''
        : paint(STYLES[status], io.stdout.isTTY && !io.env.NO_COLOR ? '█'.repeat(piece.length) : piece);
    });
    return { painted: pieces.join('') };
  };
  const row = (name: string, of: Record<FleetStatus, number>) => [
    name,
    ...FLEET_STATUSES.map((status) => String(of[status])),
    bar(of),
  ];
  const head = ['edge cluster', ...FLEET_STATUSES.map((status) => ({ painted: paint(STYLES[status], status) })), ''];
  const clusters = [...edge_clusters].sort(([one], [other]) => one.localeCompare(other));
  return [
    plainTable([...clusters.map(([name, of]) => row(name, of)), row('all', statuses)], head),
    '',
    `${hosts} hosts. Bars: ${FLEET_STATUSES.map((status) => `${LETTERS[status]} ${status}`).join(', ')}.`,
  ].join('\n');
}
