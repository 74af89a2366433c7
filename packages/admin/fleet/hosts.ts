/** A filter for the hosts of an account to list or retire. */
import type { FleetStatus } from '../../../lib/operations/browse-fleet/host-status.ts';
import { readOverview, type ShownHost } from './fleet-overview.ts';

export interface HostFilter {
  readonly status?: FleetStatus;
  readonly cluster?: string;
  readonly agentVersion?: string;
  /** Milliseconds since the last report, at least. */
  readonly staleFor?: number;
}

/** Statuses of hosts that are not expected to report. */
const SILENT: readonly FleetStatus[] = ['disabled', 'unsupported'];

/** The hosts that match a filter, with the time at which their rows were read. */
export async function findHosts(options: Parameters<typeof readOverview>[0], filter: HostFilter) {
  const { now } = options;
  const found: { host: ShownHost; readAtMs: number }[] = [];
  let readAtMs = now();
  for await (const { hosts } of readOverview(options)) {
    for (const host of hosts) if (passes(host, filter, readAtMs)) found.push({ host, readAtMs });
    readAtMs = now();
  }
  return found;
}

function passes(host: ShownHost, { status, cluster, agentVersion, staleFor }: HostFilter, nowMs: number): boolean {
  return (
    (status === undefined || host.status === status) &&
    (cluster === undefined || host.edge_cluster === cluster) &&
    (agentVersion === undefined || host.agent_version === agentVersion) &&
    (staleFor === undefined || isStale(host, nowMs - staleFor))
  );
}

/** A host that never reported, or is not expected to, has no age, so it does not match. */
const isStale = ({ status, reportedAtMs }: ShownHost, beforeMs: number) =>
  reportedAtMs !== undefined && reportedAtMs <= beforeMs && !SILENT.includes(status);
