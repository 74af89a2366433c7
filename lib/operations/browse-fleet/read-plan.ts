/**
 * Plans the next reads of a fleet. Inventory and live status are both sorted by host id. Live status may have any number of hosts that
 * the inventory lacks.
 *
 * Invariant: the status of every host up to `covered` is known: its row was read, or it has none.
 */
import type { RangePage } from '../../dynamodb/query.ts';
import type { RawRow } from './fleet-rows.ts';

/** How far a fleet is read. An empty host id means none. */
export interface Progress {
  /** Hosts that were read and not returned yet, in order. */
  readonly hosts: readonly RawRow[];
  /** The last host that was read of the inventory. */
  readonly lastHost: string;
  /** The inventory has no further host. */
  readonly complete: boolean;
  /** The status of hosts up to this one is known. */
  readonly covered: string;
  readonly allCovered: boolean;
  /** Status rows of hosts after `lastHost`, in order. */
  readonly ahead: readonly RawRow[];
  /** End of the last range that was read for live status alone; empty if none was necessary. */
  readonly searched: string;
  /** A read of live status failed. It is not read again. */
  readonly unreadable: boolean;
}

/** One or two reads to make concurrently. */
export interface ReadStep {
  readonly hosts?: { readonly after: string | undefined; readonly limit: number };
  readonly statuses?: StatusRead;
}
/** A range after a host, a range between two, or single rows by their keys. */
export type StatusRead =
  | { readonly after: string | undefined; readonly limit: number }
  | { readonly between: readonly [from: string, to: string]; readonly limit: number }
  | { readonly hostIds: readonly string[] };

/** The result of a read. `reached` is absent when the range has no further row. */
export type ReadResult = Pick<RangePage<RawRow>, 'rows' | 'reached'>;

/** Rows of a status range to read per known host. Reading one row by its key costs as much as about 15 rows of a range. */
const ROWS_PER_HOST = 2;

export const startAfter = (hostId = ''): Progress => ({
  hosts: [],
  lastHost: hostId,
  complete: false,
  covered: hostId,
  allCovered: false,
  ahead: [],
  searched: '',
  unreadable: false,
});

/**
 * The next step towards `size` hosts with their status, and one more host, which shows whether any is left.
 *
 * Inventory and live status are read concurrently until a page of status ends before the page of hosts. From then on, status is read for
 * known hosts: a range, then single rows for the hosts that it did not reach. So at most four status rows are read for a host.
 * @param isLate the time for the inventory is over: two hosts are enough, one to return and one that shows that more are left
 * @returns undefined when no read is necessary
 */
export function nextRead(progress: Progress, size: number, isLate = false): ReadStep | undefined {
  const { hosts, lastHost, complete, covered, allCovered, ahead, searched, unreadable } = progress;
  const limit = size + 1 - hosts.length;
  if (limit > 0 && !complete && !(isLate && hosts.length > 1)) {
    const statusLimit = limit - ahead.length;
    const isConcurrent =
      !unreadable && !allCovered && statusLimit > 0 && searched === '' && uncovered(progress, hosts).length === 0;
    return {
      hosts: { after: lastHost || undefined, limit },
      ...(isConcurrent && { statuses: { after: covered || undefined, limit: statusLimit } }),
    };
  }
  const missing = unreadable ? [] : uncovered(progress, hosts.slice(0, size)).map(({ host_id }) => host_id);
  const last = missing.at(-1);
  if (last === undefined) return undefined;
  if (searched === last) return { statuses: { hostIds: missing } };
  return { statuses: { between: [missing[0] ?? last, last], limit: ROWS_PER_HOST * missing.length } };
}

export function withHosts(progress: Progress, { rows, reached }: ReadResult): Progress {
  // It is undefined at the end, where no more is read.
  const lastHost = reached ?? progress.lastHost;
  const hosts = progress.hosts.concat(rows);
  return { ...progress, hosts, lastHost, complete: reached === undefined, ahead: rowsAfter(progress.ahead, lastHost) };
}

export function withStatuses(progress: Progress, read: StatusRead, { rows, reached }: ReadResult): Progress {
  if ('hostIds' in read) return { ...progress, covered: read.hostIds.at(-1) ?? progress.covered };
  if ('between' in read) return { ...progress, covered: reached ?? read.between[1], searched: read.between[1] };
  return {
    ...progress,
    covered: reached ?? progress.covered,
    allCovered: reached === undefined,
    ahead: rowsAfter(progress.ahead.concat(rows), progress.lastHost),
  };
}

/** The hosts, of a sorted list, whose status is not known. */
export const uncovered = ({ covered, allCovered }: Progress, hosts: readonly RawRow[]): readonly RawRow[] =>
  allCovered ? [] : rowsAfter(hosts, covered);

/** The rows, of a sorted list, that come after a host. DynamoDB sorts host ids by their UTF-8 bytes. */
function rowsAfter(rows: readonly RawRow[], hostId: string): readonly RawRow[] {
  const bytes = Buffer.from(hostId);
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (Buffer.compare(Buffer.from((rows[middle] as RawRow).host_id), bytes) > 0) to = middle;
    else from = middle + 1;
  }
  return rows.slice(from);
}
