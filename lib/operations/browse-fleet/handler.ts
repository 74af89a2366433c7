import type { Deps } from '../../deps.ts';
import { callerOf } from '../../http/app-keys.ts';
import type { CrossCheck } from '../../http/body.ts';
import { createOperationHandler } from '../../http/call.ts';
import { openCursor, sealCursor } from '../../http/cursors.ts';
import { type FieldError, refusal } from '../../http/errors.ts';
import type { Call, Caller, Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import type { HostRow } from '../../model/host.ts';
import { type FleetHost, type FleetStatus, fleetHost, UNREADABLE } from './host.ts';
import { HostReader } from './read-hosts.ts';
import { browseFleet, FLEET_STATUSES } from './schema.ts';
import validate from './validate-browse-fleet.ts';

type BrowseRequest = RequestOf<typeof browseFleet>;
type BrowseResponse = ResponseOf<typeof browseFleet>;

/** What the cursors are for. The position is a host id. */
const CURSORS = 'fleet-cursor-1';
/** Maximum malformed hosts that a log line names. */
const NAMED_MALFORMED = 10;
/** `Retry-After` in seconds of a deployment whose service map is switched off. */
const RETRY_DISABLED_SECONDS = '60';

/** How many candidates to read next, by how many were examined so far and how many of these matched. */
export type ChunkSize = (request: BrowseRequest, examined: number, matched: number) => number;

/**
 * Without filters, the first chunk fills the page. With filters, it shows which share of the hosts matches, and the second chunk is as
 * large as is likely to fill the page. If it does not, the third is the rest. So a page takes at most three chunks.
 */
const chunkSize: ChunkSize = (request, examined, matched) => {
  if (filtersOf(request).length === 0) return request.limit - matched;
  const firstSize = Math.max(request.limit, MIN_FIRST_FILTERED);
  if (examined === 0) return firstSize;
  const likely = matched === 0 ? Number.POSITIVE_INFINITY : (MARGIN * (request.limit - matched) * examined) / matched;
  return examined > firstSize ? request.scan_limit : Math.ceil(likely);
};
/** Minimum size of the first chunk of a request with filters. */
const MIN_FIRST_FILTERED = 100;
/** The second chunk has this many times the hosts that fill the page on average. */
const MARGIN = 1.5;

/** The names of a request's filters. An empty list is no filter. */
const filtersOf = (body: BrowseRequest) => FILTERED.filter((name) => (body[name]?.length ?? 0) > 0);

export interface BrowseOptions {
  size?: ChunkSize;
}

/** The host after which the page begins; undefined for the first page, or for a cursor that was not issued to the account. */
const hostBefore = ({ cursor }: BrowseRequest, caller: Pick<Caller, 'cursorSecret'>): string | undefined =>
  cursor ? openCursor(caller, CURSORS, cursor) : undefined;

/** Rejects a cursor that was not issued to the account, and a `scan_limit` below `limit`. */
const crossCheck: CrossCheck<BrowseRequest> = (body, offending, event) => {
  const fieldErrors = checkScanLimit(body, offending);
  if (body.cursor && !offending.has('cursor') && hostBefore(body, callerOf(event)) === undefined)
    fieldErrors.push({ field: 'cursor', schema: { ...browseFleet.request.properties.cursor, format: 'cursor' } });
  return fieldErrors;
};

/** Lists one page of the caller's hosts that match the filters, each with its current status. */
export function createHandler(deps: Deps, { size = chunkSize }: BrowseOptions = {}): Handler {
  const { table, now, log, settings, timeLimits } = deps;

  function checkAvailable(): void {
    if (!settings.serviceMapEnabled)
      throw refusal('serviceMapDisabled', undefined, { 'Retry-After': RETRY_DISABLED_SECONDS });
  }

  async function operate({ body, caller, requestId, signal, admitted }: Call<BrowseRequest>) {
    const after = hostBefore(body, caller);
    const generatedAtMs = now();
    const reader = new HostReader({
      table,
      account: caller.accountId,
      after,
      signal,
      admitted,
      inventoryMs: timeLimits.inventoryMs,
      liveMs: timeLimits.liveStatusMs,
      onUnreadable: (error) =>
        log.warn('live status unreadable', { request_id: requestId, error_name: (error as Error).name }),
    });
    const scan = await scanHosts(reader, body, generatedAtMs, size);
    const { malformed } = scan;
    if (malformed.length > 0)
      log.warn('host rows malformed', {
        request_id: requestId,
        hosts: malformed.length,
        host_ids: malformed.slice(0, NAMED_MALFORMED),
      });

    const truncated = scan.items.length < body.limit && scan.more;
    const data: BrowseResponse = {
      items: scan.items,
      coverage: {
        scanned: scan.scanned,
        matched: scan.items.length,
        returned: scan.items.length,
        failed: scan.failed,
        states: countStates(scan.items),
      },
      partial: scan.failed > 0 || truncated,
      truncated,
      ...(truncated && { truncation_reasons: [scan.outOfTime ? 'page_size_reached' : 'scan_limit_reached'] }),
      ...(scan.more && scan.last !== undefined && { next_cursor: sealCursor(caller, CURSORS, scan.last) }),
      generated_at_ms: generatedAtMs,
    };
    return { data };
  }

  return createOperationHandler(browseFleet, { validate, crossCheck, checkAvailable, operate }, deps);
}

/** Examines candidates in order until the page is full, the scan limit is reached, no candidate is left, or the time is over. */
async function scanHosts(reader: HostReader, body: BrowseRequest, nowMs: number, size: ChunkSize) {
  const matches = hostFilter(body);
  const scan = {
    items: [] as FleetHost[],
    scanned: 0,
    failed: 0,
    malformed: [] as string[],
    last: undefined as string | undefined,
    /** At least one candidate follows `last`. */
    more: true,
    /** Reading took too long, as with very large rows, so the page ends before either limit. */
    outOfTime: false,
  };
  while (scan.more && !scan.outOfTime && scan.items.length < body.limit && scan.scanned < body.scan_limit) {
    const wanted = size(body, scan.scanned, scan.items.length);
    const chunk = await reader.next(Math.min(wanted, body.scan_limit - scan.scanned));
    let examined = 0;
    for (const { host, live, malformed } of chunk.candidates) {
      if (scan.items.length === body.limit) break;
      examined += 1;
      scan.last = host.host_id;
      if (live === UNREADABLE) scan.failed += 1;
      if (malformed) scan.malformed.push(host.host_id);
      const item = fleetHost(host, live, nowMs);
      if (matches(host, item)) scan.items.push(item);
    }
    scan.scanned += examined;
    scan.more = chunk.more || examined < chunk.candidates.length;
    scan.outOfTime = chunk.outOfTime;
  }
  return scan;
}

/** The name of a filter. Every field of a request but these three is one: a list of accepted values. */
type Filter = Exclude<keyof typeof browseFleet.request.properties, 'cursor' | 'limit' | 'scan_limit'>;

/** The value of a host that each filter compares. */
const FILTERS: { readonly [Name in Filter]: (host: HostRow, item: FleetHost) => string } = {
  statuses: (_host, { servicemap }) => servicemap.status,
  agent_versions: ({ agent_version }) => agent_version,
  edge_clusters: ({ edge_cluster }) => edge_cluster,
  capture_modes: ({ capture_mode }) => capture_mode ?? 'unknown',
};
const FILTERED = Object.keys(FILTERS) as Filter[];

/** A host matches if its value for each filter is one that the filter accepts. */
function hostFilter(body: BrowseRequest): (host: HostRow, item: FleetHost) => boolean {
  const filters = filtersOf(body).map((name) => ({ valueFor: FILTERS[name], wanted: new Set<string>(body[name]) }));
  return (host, item) => filters.every(({ valueFor, wanted }) => wanted.has(valueFor(host, item)));
}

function countStates(items: readonly FleetHost[]): BrowseResponse['coverage']['states'] {
  const countOf = (status: FleetStatus) => items.filter(({ servicemap }) => servicemap.status === status).length;
  const counts = FLEET_STATUSES.map((status) => [status, countOf(status)]);
  return Object.fromEntries(counts) as Record<FleetStatus, number>;
}

/**
 * Checks that `scan_limit` is at least `limit`, given or default.
 * @param offending fields that failed the schema: if either is among them, the two are not compared
 */
export function checkScanLimit({ limit, scan_limit }: BrowseRequest, offending: ReadonlySet<string>): FieldError[] {
  if (offending.has('limit') || offending.has('scan_limit')) return [];
  const schema = { ...browseFleet.request.properties.scan_limit, minimum: limit, 'x-minimum-field': 'limit' };
  return scan_limit < limit ? [{ field: 'scan_limit', schema }] : [];
}
