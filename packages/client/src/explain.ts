/** Why a host has its status. */
import type { ServiceMapFleetHost } from './types.ts';

type Integer = number | bigint;
type ServiceMap = Pick<ServiceMapFleetHost['servicemap'], 'enabled' | 'status'> & {
  readonly capability_status?: string;
  readonly report_interval_ms?: Integer;
  readonly freshness_status?: string;
  readonly max_age_ms?: Integer;
  readonly reason_codes?: readonly string[];
  readonly error_code?: string;
};

/** The report interval of a host that states none. */
const DEFAULT_INTERVAL_MS = 60_000;
/** The reason codes that the service adds, each in a few words; all others are the host's own. */
export const REASON_TEXTS: Readonly<Record<string, string>> = {
  capability_unsupported: 'not supported',
  collection_disabled: 'collection is off',
  collection_failed: 'collection failed',
  snapshot_pending: 'waits for its first snapshot',
  snapshot_missing: 'reports health only',
  no_reports: 'never reported',
  snapshot_stale: 'snapshot overdue',
  snapshot_truncated: 'snapshot truncated',
  snapshot_degraded: 'snapshot degraded',
  health_newer_than_snapshot: 'snapshot older than health',
  status_unavailable: 'live status unreadable',
};

/** Says in English by which rule a host has its status, with the values that the rule used. Ages are as of the answer's `generated_at_ms`. */
export function explainStatus({ servicemap }: { readonly servicemap: ServiceMap }): string {
  if (servicemap.error_code !== 'status_unavailable') return ruleText(servicemap);
  return `Its live status could not be read, so only the inventory counts. ${INVENTORY_TEXTS[servicemap.status] ?? ruleText(servicemap)}`;
}

/** Of the rules that a report may decide: what the inventory alone says. */
const INVENTORY_TEXTS: { readonly [Status in ServiceMap['status']]?: string } = {
  initializing: 'Its snapshot_ready is false, and it has a capability_status.',
  no_data: 'It does not tell whether the host has reported.',
};

function ruleText(host: ServiceMap): string {
  const { status, capability_status: capability, reason_codes: codes = [] } = host;
  const age = `The latest snapshot is ${durationText(Number(host.max_age_ms))} old`;
  const byDefault = host.report_interval_ms === undefined ? ' (the default)' : '';
  const interval = `twice the report interval of ${durationText(Number(host.report_interval_ms ?? DEFAULT_INTERVAL_MS))}${byDefault}`;
  switch (status) {
    case 'unsupported':
      return 'Its capability_status is unsupported.';
    case 'disabled':
      return host.enabled ? 'Its capability_status is disabled.' : 'Collection is not enabled.';
    case 'initializing':
      return 'No snapshot has been received and snapshot_ready is false, but the host has a capability_status or has reported health.';
    case 'no_data':
      return 'Neither a snapshot nor a health report has been received.';
    case 'stale':
      return `${age}: more than ${interval}.`;
    case 'active':
      return `${age}, within ${interval}, and not degraded.`;
    case 'degraded':
      if (capability === 'failed') return 'Its capability_status is failed.';
      if (host.max_age_ms === undefined) return 'It has reported health, but no snapshot has been received.';
      return `${age}, but: ${codes.filter((code) => Object.hasOwn(REASON_TEXTS, code)).join(', ')}.`;
    default:
      return `Its status is ${status satisfies never}, which is newer than this client.`;
  }
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** Such as `12 h`, `90 s` and `5.0 s`: in the largest unit that gives at least ten or a whole number. */
function durationText(milliseconds: number): string {
  const [unit, size] = UNITS.find(
    ([, size]) => milliseconds >= 10 * size || (milliseconds > 0 && milliseconds % size === 0),
  ) ?? ['s', 1_000];
  return `${(milliseconds / size).toFixed(milliseconds < 10_000 ? 1 : 0)} ${unit}`;
}
