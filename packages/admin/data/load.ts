import type { Kind } from '../../../lib/ingest/kinds.ts';
import { forEach } from '../../../lib/shared/concurrency.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { isThrottled, isUnavailable } from '../../../lib/table/retry.ts';
import type { AccountRow } from '../../../lib/table/rows.ts';
import { putAccount, readAccount } from '../accounts/accounts.ts';
import { putAppKey } from '../accounts/app-key-admin.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';
import { countText } from '../text/printable.ts';
import { appKeyOf, type CheckedLine, checkData, type Lines, writeError } from './check-lines.ts';
import { writeRecord } from './write.ts';

/** How many records are written concurrently. */
const CONCURRENCY = 32;

export interface LoadOptions {
  /** The time of the command, which lines without a time get. */
  nowMs: number;
  /** Makes a gateway key for each account that has none yet. */
  gatewayKeys?: GatewayKeys;
  /** Called for each line that was written. @param changed false: the table has something as new, newer or deleted */
  onWritten?: (changed: boolean) => void;
  /** Stops the writing. To complete it, the same data is written again. */
  signal?: AbortSignal;
}

/**
 * Checks data as a whole, then writes it as {@link writeData} does.
 * @param source name of the data in messages
 * @throws DataError if any line is invalid: then nothing is written
 */
export async function loadData(table: Table, source: string, lines: Lines, options: LoadOptions): Promise<void> {
  await writeData(table, source, await checkData(table, source, lines, options), options);
}

const NOUNS: Readonly<Record<Kind, string>> = {
  account: 'account',
  app_key: 'app key',
  member: 'member',
  host: 'host',
  host_status: 'host report',
  rum_resource: 'RUM resource',
  rum_usage: 'RUM usage row',
  work_item: 'work item',
  incident: 'incident',
  alert: 'alert',
};

/** Such as `2 accounts, 600 hosts`. */
export const countsText = (counts: Partial<Record<Kind, number>>) =>
  Object.entries(counts)
    .map(([kind, count]) => countText(count, NOUNS[kind as Kind]))
    .join(', ') || 'nothing';

/** How many lines there are of each kind. */
export function countKinds(lines: readonly CheckedLine[]): Partial<Record<Kind, number>> {
  const counts: Partial<Record<Kind, number>> = {};
  for (const { entity } of lines) counts[entity.kind] = (counts[entity.kind] ?? 0) + 1;
  return counts;
}

/**
 * Writes checked lines: accounts first, then app keys, then everything else as the feed writes it. Writing the same data
 * again gives the same rows, and so completes an interrupted run. Revocations, suspensions and deletions in the table are
 * kept.
 */
export async function writeData(
  table: Table,
  source: string,
  lines: readonly CheckedLine[],
  { nowMs, gatewayKeys, onWritten = () => {}, signal }: LoadOptions,
): Promise<void> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const accounts = new Map<Int64, AccountRow>();
  for (const { kind, account_id, name, permissions, suspended } of lines.map(({ entity }) => entity)) {
    if (kind !== 'account') continue;
    signal?.throwIfAborted();
    const row = await putAccount(table, {
      account_id,
      name: String(name),
      permissions: permissions as string[],
      ...(suspended === true && { suspended }),
    });
    if (gatewayKeys && row.gateway_key === undefined) row.gateway_key = await gatewayKeys.provision(account_id);
    accounts.set(account_id, row);
    onWritten(true);
  }
  for (const { entity } of lines) {
    if (entity.kind !== 'app_key') continue;
    signal?.throwIfAborted();
    const { account_id, created_at, expires_at, revoked, note } = entity;
    const account = accounts.get(account_id) ?? (await readAccount(table, account_id));
    if (!account) throw new Error(`account ${account_id} no longer exists`);
    accounts.set(account_id, account);
    await putAppKey(table, account, appKeyOf(entity), {
      created_at: created_at === undefined ? nowSeconds : Number(created_at),
      ...(expires_at !== undefined && { expires_at: Number(expires_at) }),
      ...(revoked === true && { revoked_at: nowSeconds }),
      ...(note !== undefined && { note: String(note) }),
    });
    onWritten(true);
  }
  const write = async (line: CheckedLine) => {
    if (!line.record) return;
    try {
      onWritten(await writeRecord(withSignal(table, signal), line.record));
    } catch (error) {
      throw isRefusal(error) ? writeError(source, line, error) : error;
    }
  };
  // After a failure, the writes that have begun are completed.
  await forEach(lines, write, { concurrency: CONCURRENCY, signal });
}

/** Whether DynamoDB, or its client, refuses the data itself. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && !isUnavailable(error) && !isThrottled(error) && error.name !== 'AbortError';
