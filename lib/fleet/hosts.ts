import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Int64 } from '../json.ts';
import type { Table } from '../table/client.ts';
import { collections } from '../table/keys.ts';
import { type HostRow, type HostStatusRow, type LiveStatus, UNREADABLE } from './status.ts';

/** Rows of one account in ascending order of `host_id`, as far as one answer of DynamoDB reaches. */
interface Page<Row> {
  rows: Row[];
  /** No row is left after these. */
  complete: boolean;
}

/** The part of an account's hosts to read. */
interface Range {
  /** Exclusive; absent: from the first. */
  after?: string | undefined;
  /** Inclusive; in place of `after`. */
  from?: string;
  /** Inclusive, with `from`. */
  to?: string;
  limit: number;
}

const HOST_ATTRIBUTES = [
  'agent_version',
  'edge_cluster',
  'enabled',
  'capability_status',
  'capture_mode',
  'report_interval_ms',
  'snapshot_ready',
  'reason_codes',
];
const STATUS_ATTRIBUTES = [
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

async function readRange<Row extends { host_id: string }>(
  table: Table,
  partition: string,
  attributes: readonly string[],
  { after, from, to, limit }: Range,
  signal: AbortSignal,
): Promise<Page<Row>> {
  const between = from !== undefined && to !== undefined;
  const { Items = [], LastEvaluatedKey } = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: between
        ? 'pk = :pk AND sk BETWEEN :from AND :to'
        : `pk = :pk${after === undefined ? '' : ' AND sk > :after'}`,
      ExpressionAttributeValues: {
        ':pk': partition,
        ...(between ? { ':from': from, ':to': to } : after !== undefined && { ':after': after }),
      },
      // By alias: several of the names are reserved words.
      ProjectionExpression: ['sk', ...attributes.map((_name, at) => `#${at}`)].join(', '),
      ExpressionAttributeNames: Object.fromEntries(attributes.map((name, at) => [`#${at}`, name])),
      Limit: limit,
    }),
    { abortSignal: signal },
  );
  return {
    rows: Items.map(({ sk, ...row }) => ({ host_id: sk, ...row }) as Row),
    complete: LastEvaluatedKey === undefined,
  };
}

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
  let position = after;
  let liveReadable = true;

  /** Up to `limit` hosts after the position; fewer only when no more are left, however DynamoDB cuts its pages. */
  async function readHosts(limit: number): Promise<HostRow[]> {
    const rows: HostRow[] = [];
    for (let complete = false; rows.length < limit && !complete; ) {
      const range = { after: rows.at(-1)?.host_id ?? position, limit: limit - rows.length };
      const partition = collections.hosts(account);
      const page = await readRange<HostRow>(table, partition, HOST_ATTRIBUTES, range, inventorySignal);
      rows.push(...page.rows);
      complete = page.complete;
    }
    return rows;
  }

  /** Undefined when live status cannot be read. */
  async function readStatuses(range: Range): Promise<Page<HostStatusRow> | undefined> {
    if (!liveReadable) return undefined;
    try {
      return await readRange(table, collections.hostStatuses(account), STATUS_ATTRIBUTES, range, liveSignal);
    } catch (error) {
      if (liveReadable) onUnreadable(error);
      liveReadable = false;
      return undefined;
    }
  }

  /** The live status of every one of `hosts`; `first` is what was read beside them. */
  async function join(hosts: HostRow[], first: Page<HostStatusRow> | undefined): Promise<Chunk['candidates']> {
    const statuses = new Map(first?.rows.map((row) => [row.host_id, row]));
    let page = first;
    let waiting = page ? hosts : [];
    // Statuses of hosts that are in no inventory can fill the page before the last host is reached.
    while (page && !page.complete) {
      const reached = page.rows.at(-1)?.host_id;
      waiting = waiting.filter(({ host_id }) => reached === undefined || compareHostIds(host_id, reached) > 0);
      const [from, to] = [waiting[0]?.host_id, waiting.at(-1)?.host_id];
      if (from === undefined || to === undefined) break;
      page = await readStatuses({ from, to, limit: waiting.length + 1 });
      for (const row of page?.rows ?? []) statuses.set(row.host_id, row);
    }
    const unread = new Set((page ? [] : first ? waiting : hosts).map(({ host_id }) => host_id));
    return hosts.map((host) => ({
      host,
      live: statuses.get(host.host_id) ?? (unread.has(host.host_id) ? UNREADABLE : undefined),
    }));
  }

  return {
    async next(size) {
      // One more than asked for tells whether a candidate is left.
      const limit = size + 1;
      const statusesRead = readStatuses({ after: position, limit });
      const rows = await readHosts(limit);
      const hosts = rows.slice(0, size);
      const candidates = await join(hosts, await statusesRead);
      position = hosts.at(-1)?.host_id ?? position;
      return { candidates, more: rows.length > size };
    },
  };
}
