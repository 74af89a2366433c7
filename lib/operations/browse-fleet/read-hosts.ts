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

export interface HostReaderOptions {
  table: Table;
  account: Int64;
  /** The first host is the one after this; undefined: the account's first. */
  after?: string | undefined;
  /** When it aborts, reading hosts fails, and live status counts as unreadable. */
  signal: AbortSignal;
  /** Only the first reads are made before it resolves. */
  admitted?: Promise<void> | undefined;
  /**
   * Time in milliseconds for reading the inventory, without the wait to be admitted; undefined: no limit. After that the inventory is
   * queried only while fewer than two hosts are read and not returned: a chunk needs one to return, and one that shows that more follow.
   */
  inventoryMs?: number | undefined;
  /** Time in milliseconds for all reads of live status. What is not read by then counts as unreadable; undefined: no limit. */
  liveMs?: number | undefined;
  /** Called at most once, when live status cannot be read. */
  onUnreadable(error: unknown): void;
}

/** Reads an account's hosts in chunks, inventory joined with live status. Both are sorted by host id, and are queried at once. */
export class HostReader {
  readonly #options: HostReaderOptions;
  readonly #statuses: StatusReader;
  /** When the time for the inventory is over, by the clock of `performance`. Each wait to be admitted puts it off. */
  #lateAtMs: number;
  /** Hosts that were read and not returned yet, in order. */
  #hosts: readonly RawRow[] = [];
  /** The next query begins after this host; undefined: with the first. */
  #last: string | undefined;
  /** The last query has reached the end of the inventory. */
  #isComplete = false;

  constructor(options: HostReaderOptions) {
    this.#options = options;
    this.#statuses = new StatusReader(options);
    this.#last = options.after;
    this.#lateAtMs = performance.now() + (options.inventoryMs ?? Number.POSITIVE_INFINITY);
  }

  /** Reads up to `size` candidates: fewer at the end or when the time is over, but at least one while any is left. */
  async next(size: number): Promise<Chunk> {
    // One host more than is wanted shows whether any is left.
    const wanted = size + 1;
    while (this.#hosts.length < wanted && !this.#isComplete) {
      if (this.#hosts.length > 1 && performance.now() >= this.#lateAtMs) break;
      await this.#readMore(wanted - this.#hosts.length);
    }
    const outOfTime = this.#hosts.length < wanted && !this.#isComplete;
    const rows = this.#hosts.slice(0, outOfTime ? -1 : size);
    this.#hosts = this.#hosts.slice(rows.length);
    const statuses = await this.#statuses.of(rows);
    const candidates = rows.map((row, index) => candidateOf(row, statuses[index]));
    return { candidates, more: this.#hosts.length > 0, outOfTime };
  }

  async #readMore(limit: number): Promise<void> {
    await Promise.all([this.#readHosts(limit), this.#statuses.readNext(limit)]);
    const readAt = performance.now();
    await this.#options.admitted;
    this.#lateAtMs += performance.now() - readAt;
  }

  async #readHosts(limit: number): Promise<void> {
    const { table, account, signal } = this.#options;
    const range = { after: this.#last, limit };
    const partition = partitions.host(account);
    const found = await queryRange<RawRow>(withSignal(table, signal), partition, range, 'host_id', HOST_ATTRIBUTES);
    this.#hosts = this.#hosts.concat(found.rows);
    this.#isComplete = found.reached === undefined;
    this.#last = found.reached;
  }
}

/**
 * Reads the live status of hosts. There may be status of any number of hosts that the inventory lacks, so a query may not reach the hosts of
 * a chunk: those are then read by their keys. Once a read fails, nothing is read any more, and what is not known counts as unreadable.
 */
class StatusReader {
  readonly #options: HostReaderOptions;
  readonly #time: ReturnType<typeof createTimeBudget>;
  readonly #rows = new Map<string, RawRow>();
  /** The status of each host up to this one is known: its row was read, or it has none; undefined: that of all hosts. */
  #knownTo: string | undefined;
  #isUnreadable = false;

  constructor(options: HostReaderOptions) {
    this.#options = options;
    this.#time = createTimeBudget(options.liveMs, options.signal);
    this.#knownTo = options.after ?? '';
  }

  /** Queries the status of the hosts after the last one that a query has reached. */
  async readNext(limit: number): Promise<void> {
    if (this.#knownTo === undefined) return;
    const range = { after: this.#knownTo || undefined, limit };
    const partition = partitions.hostStatus(this.#options.account);
    await this.#read(async (table) => {
      const found = await queryRange<RawRow>(table, partition, range, 'host_id', STATUS_ATTRIBUTES);
      this.#knownTo = found.reached;
      return found.rows;
    });
  }

  /** The status row of each of the hosts, which are sorted; undefined for a host without one. */
  async of(hosts: readonly RawRow[]): Promise<(RawRow | typeof UNREADABLE | undefined)[]> {
    const unknown = hosts.slice(this.#countKnown(hosts));
    const statusKeys = unknown.map(({ host_id }) => keys.hostStatus(this.#options.account, host_id));
    if (unknown.length > 0)
      await this.#read(async (table) => {
        const { rows } = await batchGet(table, statusKeys, { consistent: false });
        this.#knownTo = unknown.at(-1)?.host_id;
        return [...rows.values()].map((row) => ({ ...row, host_id: row.sk }));
      });
    const known = this.#countKnown(hosts);
    return hosts.map(({ host_id }, index) => this.#rows.get(host_id) ?? (index < known ? undefined : UNREADABLE));
  }

  /** A page is built from the inventory alone if this fails. */
  async #read(read: (table: Table) => Promise<readonly RawRow[]>): Promise<void> {
    if (this.#isUnreadable) return;
    const table = withSignal(this.#options.table, this.#time.signal);
    try {
      for (const row of await this.#time.spend(() => read(table))) this.#rows.set(row.host_id, row);
    } catch (error) {
      this.#isUnreadable = true;
      this.#options.onUnreadable(error);
    }
  }

  /** How many of the sorted hosts, from the first, have a status that is known. DynamoDB sorts host ids by their UTF-8 bytes. */
  #countKnown(hosts: readonly RawRow[]): number {
    if (this.#knownTo === undefined) return hosts.length;
    const bytes = Buffer.from(this.#knownTo);
    return hosts.findLastIndex(({ host_id }) => Buffer.compare(Buffer.from(host_id), bytes) <= 0) + 1;
  }
}

function candidateOf(row: RawRow, status: RawRow | typeof UNREADABLE | undefined): Candidate {
  const { host, malformed } = decodeHost(row);
  const live = status === undefined || status === UNREADABLE ? status : decodeStatus(status);
  if (malformed) return { host, live: UNREADABLE, malformed };
  return { host, live, malformed: live === UNREADABLE && status !== UNREADABLE };
}

/**
 * Limits the time that some work takes in all. Its signal aborts when the time is used up or the call ends.
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
