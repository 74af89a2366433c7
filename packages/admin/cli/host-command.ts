import { Option } from 'commander';
import { FLEET_STATUSES } from '../../../lib/http/operations.ts';
import { messagesOf } from '../feed/messages.ts';
import { findHosts, type HostFilter, type ShownHost } from '../fleet/hosts.ts';
import { countText, line, timeText } from '../text/printable.ts';
import { duration } from './arguments.ts';
import type { AccountOptions, AdminCommand, Session, WriteResult, WritingSession } from './command.ts';
import { print, printJson, say } from './io.ts';
import { recordsTable, startProgress } from './output.ts';
import { recordSenderOf } from './target.ts';

type ListOptions = AccountOptions & HostFilter & { json?: boolean; csv?: boolean };
type RetireOptions = AccountOptions & HostFilter & { staleFor: number };

const COLUMNS = ['host_id', 'status', 'edge_cluster', 'agent_version', 'reported_at', 'why'] as const;

export function addHostCommands(program: AdminCommand): void {
  const host = program
    .command('host')
    .explain(
      'List and retire hosts',
      'host list --account 42 --status stale',
      'host retire --account 42 --stale-for 30d --dry-run',
    );
  withFilterOptions(host.command('list'))
    .explain(
      'List hosts with their status, the reason for it, and their last report',
      'host list --account 42 --status stale',
      'host list --account 42 --cluster fra-1 --csv',
    )
    .option('--stale-for <duration>', 'only hosts whose last report is at least this old', duration)
    .option('--json', 'print JSON')
    .option('--csv', 'print CSV with a heading')
    .reads(list);
  withFilterOptions(host.command('retire'))
    .explain(
      'Remove from the fleet the hosts that have stopped reporting; one that reports its inventory again comes back. Hosts that never reported, or are not expected to, stay.',
      'host retire --account 42 --stale-for 30d --dry-run',
    )
    .requiredOption('--stale-for <duration>', 'hosts whose last report is at least this old', duration)
    .writes(retire);
}

const withFilterOptions = (command: AdminCommand) =>
  command
    .ofAccount()
    .addOption(new Option('--status <status>', 'only hosts of this status').choices(FLEET_STATUSES))
    .option('--cluster <name>', 'only hosts of this edge cluster')
    .option('--agent-version <version>', 'only hosts with this agent version');

const findMatching = ({ io, table, options }: Session<AccountOptions & HostFilter>) =>
  findHosts({ table, account: options.account, now: io.now, signal: io.signal }, options);

async function list(session: Session<ListOptions>): Promise<void> {
  const { io, options } = session;
  const hosts = (await findMatching(session)).map(({ host }) => host);
  if (options.json) return printJson(io, hosts.map(jsonOf));
  const records = hosts.map((host) => ({
    ...host,
    reported_at: host.reportedAtMs === undefined ? '' : timeText(host.reportedAtMs),
  }));
  if (options.csv)
    return print(
      io,
      [COLUMNS, ...records.map((record) => COLUMNS.map((name) => record[name]))].map(csvLine).join('\n'),
    );
  if (hosts.length === 0) return say(io, `Account ${options.account} has no such hosts.`);
  print(io, recordsTable(records, COLUMNS));
  say(io, `${countText(hosts.length, 'host')}.`);
}

const jsonOf = ({ host_id, status, edge_cluster, agent_version, reportedAtMs, why }: ShownHost) => ({
  host_id,
  status,
  edge_cluster,
  agent_version,
  ...(reportedAtMs !== undefined && { reported_at_ms: reportedAtMs }),
  why,
});

/** A line of CSV by RFC 4180. A text that a spreadsheet would evaluate gets an apostrophe in front. */
const csvLine = (cells: readonly string[]) =>
  cells
    .map((cell) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell))
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',');

/** Retires hosts as of the time at which they were read, so that a later report brings a host back. */
async function retire(session: WritingSession<RetireOptions>): Promise<WriteResult> {
  const { io, target, options, dryRun, audit } = session;
  const { account } = options;
  const stale = await findMatching(session);
  const text = countText(stale.length, 'host');
  const json = { hosts: stale.map(({ host }) => host.host_id) };
  if (stale.length === 0) return { text: 'There are no such hosts.', json };
  if (dryRun) {
    const lines = stale.map(({ host }) => line`${host.host_id} last reported ${timeText(host.reportedAtMs ?? 0)}`);
    return { text: `${text} would be retired.`, lines, json };
  }
  const feed = recordSenderOf(target, io);
  const progress = startProgress(io, 'retire', stale.length);
  const records = stale.map(({ host: { host_id }, readAtMs }) => {
    return { kind: 'host', account_id: account, host_id, retired: true, at_ms: readAtMs };
  });
  await audit
    .around([account], text, async () => {
      for (const message of messagesOf(String(account), records)) {
        io.signal.throwIfAborted();
        await feed.send([message]);
        progress.add(message.body.split('\n').length);
      }
    })
    .finally(progress.end);
  await target.feed?.waitUntilEmpty(io.signal);
  return { text: `${text} retired.`, json };
}
