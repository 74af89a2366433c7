/** An account's hosts as operators see them. */

import { batchGet } from '../../../lib/dynamodb/batch-get.ts';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { type KeyOf, keys } from '../../../lib/dynamodb/keys.ts';
import { type HostRow, type RawRow, UNREADABLE } from '../../../lib/operations/browse-fleet/fleet-rows.ts';
import {
  type Candidate,
  createHostReader,
  type HostReaderOptions,
} from '../../../lib/operations/browse-fleet/read-hosts.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { type Explained, explainCandidate } from './explain.ts';

const HOSTS_AT_ONCE = 1_000;

export interface ShownHost extends Explained, Pick<HostRow, 'host_id' | 'edge_cluster' | 'agent_version'> {
  /** Age of the latest snapshot in milliseconds; absent: there is no readable one. */
  readonly ageMs?: number;
  /** Time of the latest snapshot or health report, in Unix milliseconds; absent: as above. */
  readonly reportedAtMs?: number;
}

type OverviewOptions = Pick<HostReaderOptions, 'table' | 'account' | 'after' | 'signal'> & { now: () => number };

/** Reads the hosts in their order, a thousand at once; `more`: there are others after them. */
export async function* readOverview({ now, ...options }: OverviewOptions) {
  const onUnreadable = (error: unknown) => {
    throw error;
  };
  const reader = createHostReader({ ...options, onUnreadable });
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
    ...explainCandidate(candidate, nowMs),
    ...(receivedMs !== undefined && { ageMs: Math.max(0, nowMs - Number(receivedMs)) }),
    ...(reportedAtMs > 0 && { reportedAtMs }),
  };
}

/** Both rows of one host, as stored. */
export async function readHost(table: Table, account: Int64, hostId: string) {
  const [hostKey, statusKey] = [keys.host(account, hostId), keys.hostStatus(account, hostId)];
  const { rows } = await batchGet(table, [hostKey, statusKey]);
  const rawOf = (key: KeyOf<'host' | 'hostStatus'>): RawRow | undefined => {
    const { pk: _pk, sk: _sk, ...fields } = rows.of(key) ?? {};
    return rows.of(key) && { host_id: hostId, ...fields };
  };
  return { host: rawOf(hostKey), live: rawOf(statusKey) };
}
