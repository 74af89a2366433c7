/** The hosts of an account as operators see them: with their status, and the reason for it. */

import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../../../lib/aws/http-handler.ts';
import type { HostRow } from '../../../lib/model/host.ts';
import {
  type Derived,
  decodeHost,
  decodeStatus,
  deriveStatus,
  type FleetStatus,
  fleetHost,
  type LiveStatus,
  type RawRow,
  UNREADABLE,
} from '../../../lib/operations/browse-fleet/host.ts';
import { type Candidate, HostReader, type HostReaderOptions } from '../../../lib/operations/browse-fleet/read-hosts.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type KeyOf, keys } from '../../../lib/table/keys.ts';
import { batchGet } from '../../../lib/table/read.ts';
import { explainStatus } from '../../client/src/explain.ts';

const HOSTS_AT_ONCE = 1_000;

interface Explained extends Derived {
  readonly why: string;
}

export interface ShownHost extends Explained, Pick<HostRow, 'host_id' | 'edge_cluster' | 'agent_version'> {
  /** Age of the latest snapshot in milliseconds; absent: there is no readable one. */
  readonly ageMs?: number;
  /** Time of the latest snapshot or health report, in Unix milliseconds; absent: there is no readable one. */
  readonly reportedAtMs?: number;
}

type FleetOptions = Pick<HostReaderOptions, 'table' | 'account' | 'after' | 'signal'> & { now: () => number };

/** Reads the hosts of an account in the order of their ids, a thousand at a time; `more`: further hosts follow. */
export async function* readFleet({ now, ...options }: FleetOptions) {
  const onUnreadable = (error: unknown) => {
    throw error;
  };
  const reader = new HostReader({ ...options, onUnreadable });
  for (let more = true; more; ) {
    const chunk = await reader.next(HOSTS_AT_ONCE);
    more = chunk.more;
    yield { hosts: chunk.candidates.map((candidate) => shownOf(candidate, now())), more };
  }
}

function shownOf(candidate: Candidate, nowMs: number): ShownHost {
  const { host_id, edge_cluster, agent_version } = candidate.host;
  const { received_at_ms: receivedMs, health_at_ms: healthMs } =
    candidate.live === UNREADABLE || !candidate.live ? {} : candidate.live;
  const reportedAtMs = Math.max(Number(receivedMs ?? 0), Number(healthMs ?? 0));
  return {
    host_id,
    edge_cluster,
    agent_version,
    ...explain(candidate.host, candidate.live, nowMs, candidate.malformed ? 'A row is malformed. ' : ''),
    ...(receivedMs !== undefined && { ageMs: Math.max(0, nowMs - Number(receivedMs)) }),
    ...(reportedAtMs > 0 && { reportedAtMs }),
  };
}

/** The two rows of a host, as stored. */
export async function readHost(table: Table, account: Int64, hostId: string) {
  const [hostKey, statusKey] = [keys.host(account, hostId), keys.hostStatus(account, hostId)];
  const { rows } = await batchGet(table, [hostKey, statusKey]);
  const rawOf = (key: KeyOf<'host' | 'hostStatus'>): RawRow | undefined => {
    const { pk: _pk, sk: _sk, ...fields } = rows.of(key) ?? {};
    return rows.of(key) && { host_id: hostId, ...fields };
  };
  return { host: rawOf(hostKey), live: rawOf(statusKey) };
}

/** Those of the hosts that are in the fleet. */
export async function hostsInFleet(table: Table, account: Int64, hostIds: readonly string[]): Promise<string[]> {
  const keyOf = (hostId: string) => keys.host(account, hostId);
  const { rows } = await batchGet(table, hostIds.map(keyOf));
  return hostIds.filter((hostId) => rows.of(keyOf(hostId)) !== undefined);
}

/**
 * A clock that agrees with DynamoDB's to the second, by the header `Date` of an answer: an operator's machine may be wrong. It is never
 * ahead. An answer without the header changes nothing.
 */
export async function serviceClock({ name, client, signal }: Table, now: () => number): Promise<() => number> {
  let dateMs = Number.NaN;
  const command = new GetCommand({ TableName: name, Key: keys.appKey('') });
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { headers: Readonly<Record<string, string>> };
      dateMs = Date.parse(headers.date ?? '');
      return result;
    },
    { step: 'deserialize' },
  );
  await client.send(command, optionsOf(signal));
  const aheadMs = now() - dateMs;
  return aheadMs < 0 || aheadMs >= 1_000 ? () => now() - aheadMs : now;
}

/** The status that the API shows for a host with these rows, and why. */
export function explainHost(rawHost: RawRow, rawLive: RawRow | undefined, nowMs: number): Explained {
  const { host, malformed } = decodeHost(rawHost);
  const live = rawLive && decodeStatus(rawLive);
  if (malformed) return explain(host, UNREADABLE, nowMs, 'Its inventory row is malformed. ');
  return explain(host, live, nowMs, live === UNREADABLE ? 'Its live status row is malformed. ' : '');
}

function explain(host: HostRow, live: LiveStatus, nowMs: number, malformed: string): Explained {
  return { ...deriveStatus(host, live, nowMs), why: `${malformed}${explainStatus(fleetHost(host, live, nowMs))}` };
}

export interface HostFilter {
  readonly status?: string | undefined;
  readonly cluster?: string | undefined;
  readonly agentVersion?: string | undefined;
  /** Milliseconds since the last report, at least. */
  readonly staleFor?: number;
}

/** Statuses of hosts that are not expected to report. */
const NOT_REPORTING: readonly FleetStatus[] = ['disabled', 'unsupported'];

/** The hosts that match a filter, each with a time before its rows were read. */
export async function findHosts(options: Parameters<typeof readFleet>[0], filter: HostFilter) {
  const { now } = options;
  const found: { host: ShownHost; readAtMs: number }[] = [];
  let readAtMs = now();
  for await (const { hosts } of readFleet(options)) {
    for (const host of hosts) if (isMatch(host, filter, readAtMs)) found.push({ host, readAtMs });
    readAtMs = now();
  }
  return found;
}

export const isMatch = (
  host: ShownHost,
  { status, cluster, agentVersion, staleFor }: HostFilter,
  nowMs: number,
): boolean =>
  (status === undefined || host.status === status) &&
  (cluster === undefined || host.edge_cluster === cluster) &&
  (agentVersion === undefined || host.agent_version === agentVersion) &&
  (staleFor === undefined || lastReportedBefore(host, nowMs - staleFor));

/** False for a host that never reported, or is not expected to report. */
const lastReportedBefore = ({ status, reportedAtMs }: ShownHost, beforeMs: number) =>
  reportedAtMs !== undefined && reportedAtMs <= beforeMs && !NOT_REPORTING.includes(status);
