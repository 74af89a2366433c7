import { batchGet } from '../../dynamodb/batch-get.ts';
import { type Table, withSignal } from '../../dynamodb/client.ts';
import { collections, keys } from '../../dynamodb/keys.ts';
import { queryRange, type Range } from '../../dynamodb/query.ts';
import type { Int64 } from '../../shared/json.ts';
import {
  decodeHost,
  decodeStatus,
  HOST_ATTRIBUTES,
  type HostRow,
  type LiveStatus,
  type RawRow,
  STATUS_ATTRIBUTES,
  UNREADABLE,
} from './fleet-rows.ts';
import {
  nextRead,
  type ReadResult,
  type ReadStep,
  type StatusRead,
  startAfter,
  uncovered,
  withHosts,
  withStatuses,
} from './read-plan.ts';

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
  /** The time for the inventory ended before `size` candidates, and the one that shows that more follow, were read. */
  outOfTime: boolean;
}

export type HostReader = ReturnType<typeof createHostReader>;

export interface HostReaderOptions {
  table: Table;
  account: Int64;
  /** The first host is the one after this; undefined: the account's first. */
  after?: string | undefined;
  /** When it aborts, reading fails. */
  signal: AbortSignal;
  /** Milliseconds from now. Later, only a host to return, and one that shows that more are left, are still read; undefined: no limit. */
  inventoryMs?: number | undefined;
  /** Time in milliseconds for all reads of live status. What is not read by then counts as unreadable; undefined: no limit. */
  liveMs?: number | undefined;
  /** Called at most once, when live status cannot be read. */
  onUnreadable(error: unknown): void;
}

/** Reads an account's hosts in chunks, inventory joined with live status, by the steps of {@link nextRead}. */
export function createHostReader(options: HostReaderOptions) {
  const { table, account, signal, inventoryMs = Number.POSITIVE_INFINITY, onUnreadable } = options;
  const began = performance.now();
  const liveTime = createTimeBudget(options.liveMs, signal);
  const statuses = new Map<string, RawRow>();
  let progress = startAfter(options.after);

  const readHosts = (range: Omit<Range, 'partition'>): Promise<ReadResult> => {
    const hosts = { partition: collections.hosts(account), ...range };
    return queryRange<RawRow>(withSignal(table, signal), hosts, 'host_id', HOST_ATTRIBUTES);
  };

  function readStatuses(read: StatusRead): Promise<ReadResult> {
    if ('hostIds' in read) return readEach(read.hostIds);
    const range = { partition: collections.hostStatuses(account), ...read };
    return queryRange(withSignal(table, liveTime.signal), range, 'host_id', STATUS_ATTRIBUTES);
  }

  async function readEach(hostIds: readonly string[]): Promise<ReadResult> {
    const wanted = hostIds.map((hostId) => keys.hostStatus(account, hostId));
    const { rows } = await batchGet(withSignal(table, liveTime.signal), wanted, { consistent: false });
    return { rows: [...rows.values()].map((row) => ({ ...row, host_id: row.sk })), reached: undefined };
  }

  async function perform({ hosts: range, statuses: read }: ReadStep): Promise<void> {
    const [hosts, live] = await Promise.all([
      range && readHosts(range),
      // Without live status, the page is built from the inventory.
      read && liveTime.spend(() => readStatuses(read)).catch((error: unknown) => void onUnreadable(error)),
    ]);
    if (hosts) progress = withHosts(progress, hosts);
    if (read) progress = live ? withStatuses(progress, read, live) : { ...progress, unreadable: true };
    for (const row of live?.rows ?? []) statuses.set(row.host_id, row);
  }

  return {
    /** Reads up to `size` candidates: fewer at the end or when the time is over, but at least one while any is left. */
    async next(size: number): Promise<Chunk> {
      const plan = () => nextRead(progress, size, performance.now() - began >= inventoryMs);
      for (let step = plan(); step; step = plan()) await perform(step);
      const { hosts, complete } = progress;
      const outOfTime = hosts.length <= size && !complete;
      const rows = hosts.slice(0, outOfTime ? -1 : size);
      const knownStatuses = rows.length - uncovered(progress, rows).length;
      progress = { ...progress, hosts: hosts.slice(rows.length) };
      const candidates = rows.map((row, index) =>
        candidateOf(row, statuses.get(row.host_id) ?? (index < knownStatuses ? undefined : UNREADABLE)),
      );
      return { candidates, more: progress.hosts.length > 0, outOfTime };
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
