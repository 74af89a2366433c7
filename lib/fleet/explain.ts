/** Why a host has its status, for operators. */
import type { Candidate } from './hosts.ts';
import {
  decodeHost,
  decodeStatus,
  type HostRow,
  type HostStatusRow,
  type LiveStatus,
  type RawRow,
  UNREADABLE,
} from './rows.ts';
import { type Derived, deriveStatus } from './status.ts';

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
const DEFAULT_INTERVAL_MS = 60_000;

/** A host's status, and why it is that. */
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
  const received = Number(live?.received_at_ms ?? Number.NaN);
  const interval = Number(host.report_interval_ms ?? DEFAULT_INTERVAL_MS);
  switch (rule) {
    case 1:
      return 'Its capability_status is unsupported.';
    case 2:
      return host.enabled ? 'Its capability_status is disabled.' : 'Collection is not enabled.';
    case 3:
      return 'Its capability_status is failed.';
    case 4:
      return 'No snapshot has been received and snapshot_ready is false, but the host has a capability_status or has reported health.';
    case 5:
      return 'It has reported health, but no snapshot has been received.';
    case 6:
      return 'Neither a snapshot nor a health report has been received.';
    case 7:
      return `The latest snapshot is ${seconds(nowMs - received)} old: more than twice the report interval of ${seconds(interval)}${host.report_interval_ms === undefined ? ' (the default)' : ''}.`;
    case 8:
      return `The latest snapshot is ${seconds(Math.max(0, nowMs - received))} old, but: ${reasons.join(', ')}.`;
    case 9:
      return `The latest snapshot is ${seconds(Math.max(0, nowMs - received))} old, within twice the report interval of ${seconds(interval)}, and not degraded.`;
  }
}
