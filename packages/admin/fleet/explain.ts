/** Why a host has its status, for operators. */

import {
  decodeHost,
  decodeStatus,
  type HostRow,
  type LiveStatus,
  type RawRow,
  UNREADABLE,
} from '../../../lib/operations/browse-fleet/fleet-rows.ts';
import { type Derived, deriveStatus, fleetHost } from '../../../lib/operations/browse-fleet/host-status.ts';
import type { Candidate } from '../../../lib/operations/browse-fleet/read-hosts.ts';
import { explainStatus } from '../../client/src/explain.ts';

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
  const why = explainStatus(fleetHost(host, report, nowMs));
  if (live !== UNREADABLE) return { ...derived, why };
  return { ...derived, reasons: [...derived.reasons, 'status_unavailable'], why: `${ifUnreadable} ${why}` };
}
