import type { Int64 } from '../json.ts';
import { batchGet } from '../table/batch-get.ts';
import { type Table, withSignal } from '../table/client.ts';
import { collections, keys } from '../table/keys.ts';
import { queryRange } from '../table/query-range.ts';
import {
  decodeHost,
  decodeStatus,
  HOST_ATTRIBUTES,
  type HostRow,
  type LiveStatus,
  type RawRow,
  STATUS_ATTRIBUTES,
  UNREADABLE,
} from './rows.ts';
import { createTimeBudget } from './time-budget.ts';

/** Rows read per host, up to which rows without a host are considered absent. */
const DENSE = 1.1;

/** Status rows that may be read for `examined` hosts, those of hosts that are in no inventory included. */
const mostStatusRows = (examined: number) => 1.5 * examined + 100;

/** Orders host ids as DynamoDB does: by the bytes of their UTF-8. */
const compareHostIds = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

export interface Candidate {
  host: HostRow;
  live: LiveStatus;
  /** One of its rows is malformed: `live` is unreadable then. */
  malformed: boolean;
}

/** Candidates with their live status, in order. */
export interface Chunk {
  candidates: Candidate[];
  /** A candidate is left after them. */
  more: boolean;
  /** The inventory's time was over before `size` candidates were read. */
  outOfTime: boolean;
}

/** Reads an account's hosts chunk by chunk: inventory and live status side by side, as ranges, joined by `host_id`. */
export interface HostReader {
  /** The next `size` candidates, or as many as there are, or as many as there was time for: one at least, if one is left. */
  next(size: number): Promise<Chunk>;
}

export interface HostReaderOptions {
  /** Host after which to begin; undefined: the first. */
  after?: string | undefined;
  /** Ends the reading of the inventory, and with it the request. */
  signal: AbortSignal;
  /** Milliseconds from now after which no further page of the inventory is begun; undefined: no limit. */
  inventoryMs?: number | undefined;
  /** Milliseconds of reading after which live status counts as unreadable; undefined: no limit. */
  liveMs?: number | undefined;
  /** Told once why live status could not be read. */
  onUnreadable(error: unknown): void;
}

export function createHostReader(
  table: Table,
  account: Int64,
  { after, signal, inventoryMs, liveMs, onUnreadable }: HostReaderOptions,
): HostReader {
  const liveTime = createTimeBudget(liveMs, signal);
  const hosts = createHostSide(table, account, after, signal, inventoryMs);
  const statuses = createStatusSide(table, account, after, liveTime.signal);
  let examined = 0;
  let readable = true;

  /** Does its part of the reading, unless live status has been found unreadable. */
  async function whileReadable(read: () => Promise<void>): Promise<void> {
    if (!readable) return;
    try {
      await liveTime.spend(read);
    } catch (error) {
      if (readable) onUnreadable(error);
      readable = false;
    }
  }

  function candidate(row: RawRow): Candidate {
    const { host, malformed } = decodeHost(row);
    const raw = statuses.of(row.host_id);
    const live = raw === undefined || raw === UNREADABLE ? raw : decodeStatus(raw);
    if (malformed) return { host, live: UNREADABLE, malformed };
    return { host, live, malformed: live === UNREADABLE && raw !== UNREADABLE };
  }

  return {
    async next(size) {
      // Side by side, unless more rows could turn out useless than may: then status is read when its hosts are known.
      const ahead = whileReadable(() => statuses.readAhead(size + 1, mostStatusRows(examined + 1)));
      const [{ rows, more, outOfTime }] = await Promise.all([hosts.take(size), ahead]);
      examined += rows.length;
      await whileReadable(() => statuses.cover(rows, mostStatusRows(examined)));
      return { candidates: rows.map(candidate), more, outOfTime };
    },
  };
}

/** The inventory. What was read beyond a chunk is kept for the next. */
function createHostSide(
  table: Table,
  account: Int64,
  after: string | undefined,
  signal: AbortSignal,
  inventoryMs = Number.POSITIVE_INFINITY,
) {
  const partition = collections.hosts(account);
  const began = performance.now();
  let kept: RawRow[] = [];
  let position = after;
  let complete = false;

  return {
    /**
     * The next `size` hosts, however DynamoDB cuts its pages; fewer when no more are left, or the time is over. One more
     * is read than is returned: it tells whether any is left.
     */
    async take(size: number): Promise<{ rows: RawRow[]; more: boolean; outOfTime: boolean }> {
      const outOfTime = () => kept.length > 1 && performance.now() - began >= inventoryMs;
      while (kept.length <= size && !complete && !outOfTime()) {
        const range = { partition, after: position, limit: size + 1 - kept.length };
        const { rows, reached } = await queryRange<RawRow>(table, range, 'host_id', HOST_ATTRIBUTES, signal);
        kept = kept.concat(rows);
        position = reached;
        complete = reached === undefined;
      }
      const cutShort = kept.length <= size && !complete;
      const rows = kept.slice(0, cutShort ? -1 : size);
      kept = kept.slice(rows.length);
      return { rows, more: kept.length > 0, outOfTime: cutShort };
    },
  };
}

/** Live status. Rows of hosts that are in no inventory may lie between those that are wanted, in any number. */
function createStatusSide(table: Table, account: Int64, after: string | undefined, signal: AbortSignal) {
  const partition = collections.hostStatuses(account);
  const statuses = new Map<string, RawRow>();
  /** Of the rows that were read ahead those beyond the hosts of the chunks so far, in order. */
  let ahead: RawRow[] = [];
  let rowsRead = 0;
  /** Hosts whose status is known. */
  let known = 0;
  /** The statuses of all hosts up to here are known. */
  let reached = after;
  let complete = false;
  const isKnown = (hostId: string) => complete || (reached !== undefined && compareHostIds(hostId, reached) <= 0);

  async function read(range: { after?: string | undefined; between?: readonly [string, string]; limit: number }) {
    const page = await queryRange<RawRow>(table, { partition, ...range }, 'host_id', STATUS_ATTRIBUTES, signal);
    for (const row of page.rows) statuses.set(row.host_id, row);
    rowsRead += page.rows.length;
    return page;
  }

  /** The hosts whose status is not known yet: the last ones, for all is known up to `reached`. */
  function waitingOf(hosts: readonly RawRow[]): RawRow[] {
    let first = hosts.length;
    while (first > 0 && !isKnown((hosts[first - 1] as RawRow).host_id)) first -= 1;
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
    async cover(hosts: readonly RawRow[], mostRows: number): Promise<void> {
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
    of: (hostId: string): RawRow | typeof UNREADABLE | undefined =>
      statuses.get(hostId) ?? (isKnown(hostId) ? undefined : UNREADABLE),
  };

  /** Where most rows of a range are of no use, rows by their keys cost less. */
  async function readEach(hosts: readonly RawRow[]): Promise<void> {
    const wanted = hosts.map(({ host_id }) => keys.hostStatus(account, host_id));
    const { rows } = await batchGet(withSignal(table, signal), wanted, { consistent: false });
    rowsRead += rows.size;
    for (const { host_id } of hosts) {
      const row = rows.of(keys.hostStatus(account, host_id));
      if (row) statuses.set(host_id, { ...row, host_id });
    }
  }
}

/** Of rows in order, those after a host. */
function rowsBeyond(rows: RawRow[], hostId: string): RawRow[] {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareHostIds((rows[middle] as RawRow).host_id, hostId) > 0) to = middle;
    else from = middle + 1;
  }
  return rows.slice(from);
}
