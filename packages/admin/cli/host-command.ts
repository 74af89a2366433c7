import { Option } from 'commander';
import { ingestRecord } from '../../../lib/ingest/records.ts';
import { FLEET_STATUSES } from '../../../lib/operations/browse-fleet/schema.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import { withSignal } from '../../../lib/table/client.ts';
import { createRecordWriter } from '../data/load.ts';
import { findHosts, type HostFilter, hostsInFleet, type ShownHost, serviceClock } from '../fleet/hosts.ts';
import { HOSTS } from '../tables/hosts.ts';
import { countText, line, timeText } from '../text/printable.ts';
import { tableOf } from '../text/table.ts';
import { duration } from './arguments.ts';
import type { AccountOptions, AdminCommand, ReadResult, Session, WriteResult, WritingSession } from './command.ts';
import { PartialError } from './io.ts';
import { startProgress } from './output.ts';

type RetireOptions = AccountOptions & HostFilter & { staleFor: number };

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
      'host list --account 42 --cluster fra-1 --json',
    )
    .option('--stale-for <duration>', 'only hosts whose last report is at least this old', duration)
    .shows(list);
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
    // Hosts may have empty ones.
    .option('--cluster <name>', 'only hosts of this edge cluster', String)
    .option('--agent-version <version>', 'only hosts with this agent version', String);

const findMatching = ({ io, table, options }: Session<AccountOptions & HostFilter>, now = io.now) =>
  findHosts({ table, account: options.account, now, signal: io.signal }, options);

async function list(session: Session<AccountOptions & HostFilter>): Promise<ReadResult> {
  const hosts = (await findMatching(session)).map(({ host }) => host);
  return { json: hosts.map(jsonOf), show: tableOf(HOSTS, hosts) };
}

const jsonOf = ({ host_id, status, edge_cluster, agent_version, reportedAtMs, why }: ShownHost) => ({
  host_id,
  status,
  edge_cluster,
  agent_version,
  ...(reportedAtMs !== undefined && { reported_at_ms: reportedAtMs }),
  why,
});

/**
 * Retires hosts as of the time at which they were read, so that a later record brings a host back.
 * @throws PartialError if a host is in the fleet afterwards
 */
async function retire(session: WritingSession<RetireOptions>): Promise<WriteResult> {
  const { io, table, options, dryRun, audit } = session;
  const { account } = options;
  const stale = await findMatching(session, await serviceClock(withSignal(table, io.signal), io.now));
  const text = countText(stale.length, 'host');
  const hosts = stale.map(({ host }) => host.host_id);
  if (stale.length === 0) return { text: 'There are no such hosts.', json: { hosts } };
  if (dryRun) {
    const lines = stale.map(({ host }) => line`${host.host_id} last reported ${timeText(host.reportedAtMs ?? 0)}`);
    return { text: `${text} would be retired.`, lines, json: { hosts } };
  }
  const progress = startProgress(io, 'retire', stale.length);
  const write = createRecordWriter(withSignal(table, io.signal));
  const retireHost = async ({ host: { host_id }, readAtMs }: (typeof stale)[number]) => {
    const origin = { sentMs: readAtMs, messageId: 'host retire', line: 1 };
    await write(ingestRecord({ kind: 'host', account_id: account, host_id, retired: true }, origin));
    progress.add(1);
  };
  await audit.around([account], text, async () => {
    await forEach(stale, retireHost, { signal: io.signal }).finally(progress.end);
    const not_retired = await hostsInFleet(table, account, hosts);
    if (not_retired.length === 0) return;
    const lines = not_retired.map((host) => line`${host} stays: it has a later record.`);
    throw new PartialError(`${not_retired.length} of ${text} not retired.`, { lines, json: { hosts, not_retired } });
  });
  return { text: `${text} retired.`, json: { hosts, not_retired: [] } };
}
