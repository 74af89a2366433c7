import { isOpenAlert } from '../../../lib/model/alert.ts';
import { FLEET_STATUSES } from '../../../lib/operations/browse-fleet/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { getRow } from '../../../lib/table/read.ts';
import { explainHost, readFleet, readHost } from '../fleet/hosts.ts';
import { ALERTS_READ, alertsOfIncident, listHistory, listIncidents, readIncident } from '../incidents/list.ts';
import { readWorkItem } from '../incidents/restore-work-item.ts';
import { CLUSTERS, hostFields, type StatusCounts } from '../tables/hosts.ts';
import { INCIDENTS, MERGE_FIELDS } from '../tables/merges.ts';
import { countText, shownFields } from '../text/printable.ts';
import { columnsOf, fieldsOf, tableOf } from '../text/table.ts';
import { hostText, objectId, workItemText } from './arguments.ts';
import type { AccountOptions, AdminCommand, ReadResult, Session } from './command.ts';
import { CliError } from './io.ts';

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
    .argument('<work-item-id>', 'its id', workItemText)
    .ofAccount()
    .shows(showWorkItem);
  show
    .command('host')
    .explain(
      'Show the stored rows of a host, its status and the reason for it',
      'show host fra-1-web-0001 --account 42',
    )
    .argument('<host-id>', 'its id', hostText)
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
  const { title, owner_id } = incident;
  const [member, alerts, history] = await Promise.all([
    owner_id === undefined ? undefined : getRow(table, keys.member(account, owner_id)),
    alertsOfIncident(table, account, id, ALERTS_READ),
    listHistory(table, account, id),
  ]);
  const stored = shownFields(incident);
  const open = alerts?.filter(isOpenAlert).length;
  const facts = {
    title,
    owner: owner_id === undefined ? 'none' : `${owner_id} ${member?.name ?? ''}`.trimEnd(),
    alerts: alerts ? `${alerts.length}, of which ${open} are open` : NOT_COUNTED,
    merges: history.filter(({ entry }) => entry.kind === 'merge').length,
  };
  return {
    json: {
      ...stored,
      owner: member?.name,
      alerts: alerts?.length,
      open_alerts: open,
      history: history.map(({ entry, moves, stayed, pending, expired }) => ({
        ...entry,
        pending,
        moves: moves.map(({ alertId, from, to }) => ({ alert_id: alertId, from, to })),
        stayed,
        expired,
      })),
    },
    show: [
      { fields: Object.entries(facts) },
      ...(history.length > 0 ? ['History, oldest first:'] : []),
      ...history.map((merge) => fieldsOf(MERGE_FIELDS, merge)),
      { title: 'Stored', ...fieldsOf(columnsOf(stored), stored) },
    ],
  };
}

const NOT_COUNTED = `not counted: the account has more than ${countText(ALERTS_READ, 'alert')}`;

async function showIncidents({ table, options: { account } }: ShowSession): Promise<ReadResult> {
  const incidents = await listIncidents(table, account);
  const rows = incidents.map(({ owner_id: owner = 'none', ...incident }) => ({ ...incident, owner }));
  return { json: incidents, show: tableOf(INCIDENTS, rows) };
}

async function showWorkItem({ table, options: { account } }: ShowSession, id: string): Promise<ReadResult> {
  const stored = await readWorkItem(table, account, id);
  if (!stored) throw new CliError(`Account ${account} has no work item ${id}.`);
  const shown = { state: stored.deleted_at_ms === undefined ? 'active' : 'deleted', ...shownFields(stored) };
  return { json: shown, show: fieldsOf(columnsOf(shown), shown) };
}

async function showHost({ io, table, options: { account } }: ShowSession, id: string): Promise<ReadResult> {
  const { host, live } = await readHost(table, account, id);
  if (!host && !live) throw new CliError(`Account ${account} has no host ${id}.`);
  const shown = host && explainHost(host, live, io.now());
  const why = shown?.why ?? 'It is not in the inventory, so the API does not list it.';
  const status = shown ? `${id} is ${shown.status} (rule ${shown.rule})` : `${id} has no status`;
  return {
    json: {
      host_id: id,
      ...shown,
      why,
      inventory: host ? shownFields(host) : null,
      live_status: live ? shownFields(live) : null,
    },
    show: [`${status}. ${why}`, hostFields('Inventory', host), hostFields('Live status', live)],
  };
}

async function showFleet({ io, table, options: { account } }: ShowSession): Promise<ReadResult> {
  const zeroCounts = () => Object.fromEntries(FLEET_STATUSES.map((status) => [status, 0])) as StatusCounts;
  let hosts = 0;
  const statuses = zeroCounts();
  /** A map, since the name of a cluster may be any text, such as `__proto__`. */
  const clusters = new Map<string, StatusCounts>();
  for await (const page of readFleet({ table, account, now: io.now, signal: io.signal }))
    for (const { edge_cluster, status } of page.hosts) {
      const cluster = clusters.get(edge_cluster) ?? zeroCounts();
      clusters.set(edge_cluster, cluster);
      hosts += 1;
      statuses[status] += 1;
      cluster[status] += 1;
    }
  const rows = [...clusters].map(([name, counts]) => ({ name, counts })).sort((a, b) => a.name.localeCompare(b.name));
  return {
    json: { account_id: account, hosts, statuses, edge_clusters: Object.fromEntries(clusters) },
    show: [tableOf(CLUSTERS, [...rows, { name: 'all', counts: statuses }]), `${countText(hosts, 'host')}.`],
  };
}
