/**
 * What to read next of a fleet. Inventory and live status are ranges in the order of host ids; rows of hosts that are in no
 * inventory may lie between those of live status, in any number.
 *
 * Invariant: the status of every host up to `covered` is known: its row was read, or it has none.
 */
import type { RangePage } from '../../dynamodb/query-range.ts';
import type { RawRow } from './fleet-rows.ts';

/** How far a fleet is read. A host id is empty for none. */
export interface Progress {
  /** Hosts that were read and not handed out, in order. */
  readonly hosts: readonly RawRow[];
  /** The inventory is read on after this host. */
  readonly lastHost: string;
  /** No host is left after it. */
  readonly complete: boolean;
  readonly covered: string;
  readonly allCovered: boolean;
  /** Status rows of hosts after `lastHost`, in order. */
  readonly ahead: readonly RawRow[];
  /** The last host of a range that was read for status alone, since the one beside the inventory ended before it. */
  readonly searched: string;
  /** Live status could not be read, and is not read any more. */
  readonly unreadable: boolean;
}

/** What to read, side by side. */
export interface Read {
  readonly hosts?: { readonly after: string | undefined; readonly limit: number };
  readonly statuses?: StatusRead;
}
/** A range, or the rows of these hosts by their keys. */
export type StatusRead =
  | { readonly after: string | undefined; readonly limit: number }
  | { readonly between: readonly [from: string, to: string]; readonly limit: number }
  | { readonly of: readonly string[] };

/** What a range returned: `reached` is absent when no row is left in it. */
export type Found = Pick<RangePage<RawRow>, 'rows' | 'reached'>;

/** For each host, when status is read for known hosts. By its key a row costs as much as about 15 in a range. */
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
 * The next step towards `size` hosts with their status; undefined when it is done. One host more is read, if there is one: it
 * tells whether any is left.
 *
 * Both ranges are read side by side until that of status ends before its hosts. From then on status is read once its hosts are
 * known: a range, then by their keys those that it did not reach. So a host takes four rows of status at the most.
 * @param late the time of the inventory is over: two hosts will do
 */
export function nextRead(progress: Progress, size: number, late = false): Read | undefined {
  const { hosts, lastHost, complete, covered, allCovered, ahead, searched, unreadable } = progress;
  const limit = size + 1 - hosts.length;
  if (limit > 0 && !complete && !(late && hosts.length > 1)) {
    const rows = limit - ahead.length;
    const beside = !unreadable && !allCovered && rows > 0 && searched === '' && uncovered(progress, hosts).length === 0;
    return {
      hosts: { after: lastHost || undefined, limit },
      ...(beside && { statuses: { after: covered || undefined, limit: rows } }),
    };
  }
  const waiting = unreadable ? [] : uncovered(progress, hosts.slice(0, size)).map(({ host_id }) => host_id);
  const last = waiting.at(-1);
  if (last === undefined) return undefined;
  if (searched === last) return { statuses: { of: waiting } };
  return { statuses: { between: [waiting[0] ?? last, last], limit: ROWS_PER_HOST * waiting.length } };
}

export function withHosts(progress: Progress, { rows, reached }: Found): Progress {
  // Beyond the last row, where the rows after it are of retired hosts.
  const lastHost = reached ?? rows.at(-1)?.host_id ?? progress.lastHost;
  const hosts = progress.hosts.concat(rows);
  return { ...progress, hosts, lastHost, complete: reached === undefined, ahead: rowsAfter(progress.ahead, lastHost) };
}

export function withStatuses(progress: Progress, read: StatusRead, { rows, reached }: Found): Progress {
  if ('of' in read) return { ...progress, covered: read.of.at(-1) ?? progress.covered };
  if ('between' in read) return { ...progress, covered: reached ?? read.between[1], searched: read.between[1] };
  return {
    ...progress,
    covered: reached ?? progress.covered,
    allCovered: reached === undefined,
    ahead: rowsAfter(progress.ahead.concat(rows), progress.lastHost),
  };
}

/** Of hosts in order those whose status is not known. */
export const uncovered = ({ covered, allCovered }: Progress, hosts: readonly RawRow[]): readonly RawRow[] =>
  allCovered ? [] : rowsAfter(hosts, covered);

/** Of rows in order those after a host. DynamoDB orders host ids by the bytes of their UTF-8. */
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
