/** Why a host has its status, for operators. */

import {
  decodeHost,
  decodeStatus,
  type HostRow,
  type HostStatusRow,
  type LiveStatus,
  type RawRow,
  UNREADABLE,
} from '../../../lib/operations/browse-fleet/fleet-rows.ts';
import { DEFAULT_INTERVAL_MS, type Derived, deriveStatus } from '../../../lib/operations/browse-fleet/host-status.ts';
import type { Candidate } from '../../../lib/operations/browse-fleet/read-hosts.ts';

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;

export interface Explained extends Derived {
  readonly why: string;
}

/** The status that the API shows for a host with these rows, and why. */
export function explainHost(rawHost: RawRow, rawLive: RawRow | undefined, nowMs: number): Explained {
  const { host, malformed } = decodeHost(rawHost);
  const live = rawLive && decodeStatus(rawLive);
  const why = `Its ${malformed ? 'inventory' : 'live status'} row is malformed, so its live status is ignored.`;
  return explain(host, malformed ? UNREADABLE : live, nowMs, why);
}

/** The same of a candidate. */
export const explainCandidate = ({ host, live, malformed }: Candidate, nowMs: number): Explained =>
  explain(host, live, nowMs, `Its live status ${malformed ? 'is ignored: a row is malformed.' : 'could not be read.'}`);

function explain(host: HostRow, live: LiveStatus, nowMs: number, ifUnreadable: string): Explained {
  const report = live === UNREADABLE ? undefined : live;
  const derived = deriveStatus(host, report, nowMs);
  const why = reasonOf(host, report, derived, nowMs);
  return { ...derived, why: live === UNREADABLE ? `${ifUnreadable} ${why}` : why };
}

/** The rule that decided, with the values it used. */
function reasonOf(host: HostRow, live: HostStatusRow | undefined, { rule, reasons }: Derived, nowMs: number): string {
  const age = seconds(Math.max(0, nowMs - Number(live?.received_at_ms)));
  const interval = seconds(Number(host.report_interval_ms ?? DEFAULT_INTERVAL_MS));
  const byDefault = host.report_interval_ms === undefined ? ' (the default)' : '';
  const sentences: Record<Derived['rule'], string> = {
    1: 'Its capability_status is unsupported.',
    2: host.enabled ? 'Its capability_status is disabled.' : 'Collection is not enabled.',
    3: 'Its capability_status is failed.',
    4: 'No snapshot has been received and snapshot_ready is false, but the host has a capability_status or has reported health.',
    5: 'It has reported health, but no snapshot has been received.',
    6: 'Neither a snapshot nor a health report has been received.',
    7: `The latest snapshot is ${age} old: more than twice the report interval of ${interval}${byDefault}.`,
    8: `The latest snapshot is ${age} old, but: ${reasons.join(', ')}.`,
    9: `The latest snapshot is ${age} old, within twice the report interval of ${interval}, and not degraded.`,
  };
  return sentences[rule];
}
