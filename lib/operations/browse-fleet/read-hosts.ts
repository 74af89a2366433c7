import type { HostRow } from '../../model/host.ts';
import type { Int64 } from '../../shared/json.ts';
import { type Table, withSignal } from '../../table/client.ts';
import { keys, partitions } from '../../table/keys.ts';
import { batchGet, queryRange } from '../../table/read.ts';
import {
  decodeHost,
  decodeStatus,
  HOST_ATTRIBUTES,
  type LiveStatus,
  type RawRow,
  STATUS_ATTRIBUTES,
  UNREADABLE,
} from './host.ts';

export interface Candidate {
  host: HostRow;
  live: LiveStatus;
  /** One of its rows is malformed. Then `live` is unreadable. */
  malformed: boolean;
}

/** Candidates with their live status, in ascending order of host ids. */
export interface Chunk {
  candidates: Candidate[];
  /** Further candidates follow. */
  more: boolean;
  /** The time for the inventory was over before there were `size` candidates and one more, which shows that more follow. */
  outOfTime: boolean;
}

export type HostReader = ReturnType<typeof createHostReader>;

export interface HostReaderOptions {
  table: Table;
  account: Int64;
  /** The first host is the one after this; undefined: the account's first. */
  after?: string | undefined;
  /** When it aborts, reading hosts fails, and live status counts as unreadable. */
  signal: AbortSignal;
  /** Only the first reads are made before it resolves. */
  admitted?: Promise<void> | undefined;
  /** Milliseconds from now, without waiting to be admitted. Later, hosts are queried only while fewer than two are at hand; undefined: no limit. */
  inventoryMs?: number | undefined;
  /** Time in milliseconds for all reads of live status. What is not read by then counts as unreadable; undefined: no limit. */
  liveMs?: number | undefined;
  /** Called at most once, when live status cannot be read. */
  onUnreadable(error: unknown): void;
}

/**
 * Reads an account's hosts in chunks, inventory joined with live status. Both are sorted by host id, and are queried at once. Live status may
 * have any number of hosts that the inventory lacks: the hosts that its page does not reach are read by their keys.
 */
export function createHostReader(options: HostReaderOptions) {
  const { table, account, signal, admitted, inventoryMs = Number.POSITIVE_INFINITY, onUnreadable } = options;
  const began = performance.now();
  /** Milliseconds that the count against the rate limit took longer than the first reads. */
  let waitedMs = 0;
  const liveTime = createTimeBudget(options.liveMs, signal);
  const isLate = () => performance.now() - began - waitedMs >= inventoryMs;

  /** Hosts that were read and not returned yet, in order. */
  let hosts: readonly RawRow[] = [];
  /** The next query of the inventory begins after this host; empty: with the first. */
  let lastHost = options.after ?? '';
  let isComplete = false;

  const statuses = new Map<string, RawRow>();
  /** The status of each host up to this one is known: its row was read, or it has none; undefined: that of all hosts. */
  let covered: string | undefined = lastHost;
  let isUnreadable = false;

  async function readHosts(limit: number): Promise<void> {
    const range = { after: lastHost || undefined, limit };
    const partition = partitions.host(account);
    const found = await queryRange<RawRow>(withSignal(table, signal), partition, range, 'host_id', HOST_ATTRIBUTES);
    hosts = hosts.concat(found.rows);
    isComplete = found.reached === undefined;
    lastHost = found.reached ?? lastHost;
  }

  /** Without live status, the page is built from the inventory. */
  async function readStatuses(read: (liveTable: Table) => Promise<readonly RawRow[]>): Promise<void> {
    if (isUnreadable) return;
    try {
      const rows = await liveTime.spend(() => read(withSignal(table, liveTime.signal)));
      for (const row of rows) statuses.set(row.host_id, row);
    } catch (error) {
      isUnreadable = true;
      onUnreadable(error);
    }
  }

  async function readNextStatuses(limit: number): Promise<void> {
    if (covered === undefined) return;
    const range = { after: covered || undefined, limit };
    const partition = partitions.hostStatus(account);
    await readStatuses(async (liveTable) => {
      const { rows, reached } = await queryRange<RawRow>(liveTable, partition, range, 'host_id', STATUS_ATTRIBUTES);
      covered = reached;
      return rows;
    });
  }

  async function readStatusesOf(wanted: readonly RawRow[]): Promise<void> {
    const last = wanted.at(-1);
    if (last === undefined) return;
    const statusKeys = wanted.map(({ host_id }) => keys.hostStatus(account, host_id));
    await readStatuses(async (liveTable) => {
      const { rows } = await batchGet(liveTable, statusKeys, { consistent: false });
      covered = last.host_id;
      return [...rows.values()].map((row) => ({ ...row, host_id: row.sk }));
    });
  }

  /** Those of the sorted rows whose host's status is not known yet. DynamoDB sorts host ids by their UTF-8 bytes. */
  function uncovered(rows: readonly RawRow[]): readonly RawRow[] {
    if (covered === undefined) return [];
    const bytes = Buffer.from(covered);
    const lastCovered = rows.findLastIndex(({ host_id }) => Buffer.compare(Buffer.from(host_id), bytes) <= 0);
    return rows.slice(lastCovered + 1);
  }

  return {
    /** Reads up to `size` candidates: fewer at the end or when the time is over, but at least one while any is left. */
    async next(size: number): Promise<Chunk> {
      // One host more shows whether any is left.
      while (hosts.length <= size && !isComplete && !(hosts.length > 1 && isLate())) {
        const limit = size + 1 - hosts.length;
        await Promise.all([readHosts(limit), readNextStatuses(limit)]);
        const readAt = performance.now();
        await admitted;
        waitedMs += performance.now() - readAt;
      }
      const outOfTime = hosts.length <= size && !isComplete;
      const rows = hosts.slice(0, outOfTime ? -1 : size);
      await readStatusesOf(uncovered(rows));
      const known = rows.length - uncovered(rows).length;
      hosts = hosts.slice(rows.length);
      const candidates = rows.map((row, index) =>
        candidateOf(row, statuses.get(row.host_id) ?? (index < known ? undefined : UNREADABLE)),
      );
      return { candidates, more: hosts.length > 0, outOfTime };
    },
  };
}

function candidateOf(row: RawRow, status: RawRow | typeof UNREADABLE | undefined): Candidate {
  const { host, malformed } = decodeHost(row);
  const live = status === undefined || status === UNREADABLE ? status : decodeStatus(status);
  if (malformed) return { host, live: UNREADABLE, malformed };
  return { host, live, malformed: live === UNREADABLE && status !== UNREADABLE };
}

/**
 * Limits the total time of several pieces of work. Its signal aborts when the time is used up or the call ends.
 * @param ms milliseconds; undefined: no limit
 */
export function createTimeBudget(ms: number | undefined, callSignal: AbortSignal) {
  if (ms === undefined) return { signal: callSignal, spend: <Result>(work: () => Promise<Result>) => work() };
  const usedUp = new AbortController();
  let leftMs = ms;
  return {
    signal: AbortSignal.any([callSignal, usedUp.signal]),
    async spend<Result>(work: () => Promise<Result>): Promise<Result> {
      const began = performance.now();
      const timer = setTimeout(() => usedUp.abort(), Math.max(0, leftMs));
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        leftMs -= performance.now() - began;
      }
    },
  };
}
