import type { Int64 } from '../json.ts';
import { batchGet, rowName } from '../table/batch-get.ts';
import type { Table } from '../table/client.ts';
import { collections, keys } from '../table/keys.ts';
import { queryRange } from '../table/query-range.ts';
import { type HostRow, type HostStatusRow, type LiveStatus, UNREADABLE } from './status.ts';

/** What a page needs of a host's rows. */
export const HOST_ATTRIBUTES = [
  'agent_version',
  'edge_cluster',
  'enabled',
  'capability_status',
  'capture_mode',
  'report_interval_ms',
  'snapshot_ready',
  'reason_codes',
];
export const STATUS_ATTRIBUTES = [
  'received_at_ms',
  'observed_at_ms',
  'node_count',
  'edge_count',
  'authoritative',
  'graph_available',
  'snapshot_truncated',
  'snapshot_degraded',
  'health_at_ms',
  'reason_codes',
];

/** Rows read for each host whose status is known by them, up to which nothing speaks for rows without a host. */
const DENSE = 1.1;

/** Status rows that may be read for `examined` hosts, those of hosts that are in no inventory included. */
const mostStatusRows = (examined: number) => 1.5 * examined + 100;

/** Orders host ids as DynamoDB does: by the bytes of their UTF-8. */
const compareHostIds = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Candidates with their live status, in order, and whether any is left after them. */
export interface Chunk {
  candidates: { host: HostRow; live: LiveStatus }[];
  more: boolean;
}

/** Reads an account's hosts chunk by chunk: inventory and live status side by side, as ranges, joined by `host_id`. */
export interface HostReader {
  /** The next `size` candidates, or as many as there are. */
  next(size: number): Promise<Chunk>;
}

/**
 * @param after host after which to begin; undefined: the first
 * @param inventorySignal ends the reading of the inventory, and with it the request
 * @param liveSignal ends the reading of live status: from there on it is unreadable
 * @param onUnreadable told once why live status could not be read
 */
export function createHostReader(
  table: Table,
  account: Int64,
  after: string | undefined,
  inventorySignal: AbortSignal,
  liveSignal: AbortSignal,
  onUnreadable: (error: unknown) => void,
): HostReader {
  const hosts = createHostSide(table, account, after, inventorySignal);
  const statuses = createStatusSide(table, account, after, liveSignal);
  let examined = 0;
  let readable = true;

  /** Does its part of the reading, unless live status has been found unreadable. */
  async function whileReadable(read: () => Promise<void>): Promise<void> {
    if (!readable) return;
    try {
      await read();
    } catch (error) {
      if (readable) onUnreadable(error);
      readable = false;
    }
  }

  return {
    async next(size) {
      // Side by side, unless more rows could turn out useless than may: then status is read when its hosts are known.
      const ahead = whileReadable(() => statuses.readAhead(size + 1, mostStatusRows(examined + 1)));
      const [{ rows, more }] = await Promise.all([hosts.take(size), ahead]);
      examined += rows.length;
      await whileReadable(() => statuses.cover(rows, mostStatusRows(examined)));
      return { candidates: rows.map((host) => ({ host, live: statuses.of(host.host_id) })), more };
    },
  };
}

/** The inventory. What was read beyond a chunk is kept for the next. */
function createHostSide(table: Table, account: Int64, after: string | undefined, signal: AbortSignal) {
  const partition = collections.hosts(account);
  let kept: HostRow[] = [];
  let position = after;
  let complete = false;

  return {
    /** The next `size` hosts, read with one more, which tells whether any is left; fewer only when no more are left, however DynamoDB cuts its pages. */
    async take(size: number): Promise<{ rows: HostRow[]; more: boolean }> {
      while (kept.length <= size && !complete) {
        const range = { partition, after: position, limit: size + 1 - kept.length };
        const { rows, reached } = await queryRange<HostRow>(table, range, 'host_id', HOST_ATTRIBUTES, signal);
        kept = kept.concat(rows);
        position = reached;
        complete = reached === undefined;
      }
      const rows = kept.slice(0, size);
      kept = kept.slice(size);
      return { rows, more: kept.length > 0 };
    },
  };
}

/** Live status. Rows of hosts that are in no inventory may lie between those that are wanted, in any number. */
function createStatusSide(table: Table, account: Int64, after: string | undefined, signal: AbortSignal) {
  const partition = collections.hostStatuses(account);
  const statuses = new Map<string, HostStatusRow>();
  /** Of the rows that were read ahead those beyond the hosts of the chunks so far, in order. */
  let ahead: HostStatusRow[] = [];
  let rowsRead = 0;
  /** Hosts whose status is known. */
  let known = 0;
  /** The statuses of all hosts up to here are known. */
  let reached = after;
  let complete = false;
  const isKnown = (hostId: string) => complete || (reached !== undefined && compareHostIds(hostId, reached) <= 0);

  async function read(range: { after?: string | undefined; between?: readonly [string, string]; limit: number }) {
    const page = await queryRange<HostStatusRow>(table, { partition, ...range }, 'host_id', STATUS_ATTRIBUTES, signal);
    for (const row of page.rows) statuses.set(row.host_id, row);
    rowsRead += page.rows.length;
    return page;
  }

  /** The hosts whose status is not known yet: the last ones, for all is known up to `reached`. */
  function waitingOf(hosts: readonly HostRow[]): HostRow[] {
    let first = hosts.length;
    while (first > 0 && !isKnown((hosts[first - 1] as HostRow).host_id)) first -= 1;
    return hosts.slice(first);
  }

  return {
    /** Reads `size` rows beside the inventory, before its hosts are known, if so many may be read. */
    async readAhead(size: number, mostRows: number): Promise<void> {
      const limit = size - ahead.length;
      if (complete || limit <= 0 || rowsRead + limit > mostRows) return;
      const page = await read({ after: reached, limit });
      ahead = ahead.concat(page.rows);
      reached = page.reached ?? reached;
      complete = page.reached === undefined;
    },

    /** Sees to it that the status of every one of `hosts` is known. */
    async cover(hosts: readonly HostRow[], mostRows: number): Promise<void> {
      const last = hosts.at(-1)?.host_id;
      if (last !== undefined) ahead = rowsBeyond(ahead, last);
      let waiting = waitingOf(hosts);
      known += hosts.length - waiting.length;
      while (waiting.length > 0) {
        const [from, to] = [waiting[0]?.host_id as string, waiting.at(-1)?.host_id as string];
        const left = mostRows - rowsRead;
        // Where hosts are without gaps so far a range will do. Elsewhere what it leaves must still be readable by key.
        const limit = rowsRead <= DENSE * known ? waiting.length : Math.floor(left - waiting.length);
        if (limit < waiting.length || left < waiting.length) {
          await readEach(waiting);
          reached = to;
        } else {
          const page = await read({ between: [from, to], limit });
          reached = page.reached ?? to;
        }
        const still = waitingOf(waiting);
        known += waiting.length - still.length;
        waiting = still;
      }
    },

    /** Undefined for a host that never reported. */
    of: (hostId: string): LiveStatus => statuses.get(hostId) ?? (isKnown(hostId) ? undefined : UNREADABLE),
  };

  /** Where most rows of a range are of no use, rows by their keys cost less. */
  async function readEach(hosts: readonly HostRow[]): Promise<void> {
    const wanted = hosts.map(({ host_id }) => keys.hostStatus(account, host_id));
    const found = await batchGet(table, wanted, signal, false);
    rowsRead += found.size;
    for (const { host_id } of hosts) {
      const row = found.get(rowName(keys.hostStatus(account, host_id)));
      if (row) statuses.set(host_id, { ...(row as object), host_id } as HostStatusRow);
    }
  }
}

/** Of rows in order, those after a host. */
function rowsBeyond(rows: HostStatusRow[], hostId: string): HostStatusRow[] {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareHostIds((rows[middle] as HostStatusRow).host_id, hostId) > 0) to = middle;
    else from = middle + 1;
  }
  return rows.slice(from);
}
