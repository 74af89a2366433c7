import { isDeepStrictEqual } from 'node:util';
import { appKeyIdOf } from '../../../lib/http/app-keys.ts';
import { keyOf, type WriteOptions } from '../../../lib/ingest/record-rows.ts';
import type { IngestRecord } from '../../../lib/ingest/records.ts';
import { writeRow } from '../../../lib/ingest/write-records.ts';
import { ordersOf } from '../../../lib/model/fields.ts';
import { type IngestKind, KINDS, type Kind, modelOf, type SentRecord } from '../../../lib/model/kinds.ts';
import { forEach, isThrottled, isUnavailable } from '../../../lib/shared/concurrency.ts';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { type KeyOf, keys, type RowKind, type Stored } from '../../../lib/table/keys.ts';
import { getRow, rowName } from '../../../lib/table/read.ts';
import type { Action } from '../../../lib/table/write.ts';
import { changeAccount, putAccount, readAccount } from '../accounts/accounts.ts';
import { putAppKey } from '../accounts/app-key-admin.ts';
import type { RecordChange } from '../accounts/audit-rows.ts';
import { createErasureWatch } from '../accounts/erasure-watch.ts';
import type { GatewayKeys } from '../accounts/gateway-keys.ts';
import { patiently } from '../aws/patiently.ts';
import { countText } from '../text/printable.ts';
import { accountChangesOf, accountOf, keyChangeOf } from './access-changes.ts';
import { appKeyOf, type CheckedLine, checkData, DataError, type Lines } from './check-lines.ts';
import { sharingCalls } from './shared-calls.ts';

/** How many rows are written concurrently: small ones fill the calls that they share, and large ones do not make these too large. */
const CONCURRENCY = { small: 1_000, large: 8 } as const;
/** Bytes of a large line. */
const LARGE = 8_192;

export interface LoadOptions {
  /** The time of the command, which lines without a time get. */
  nowMs: number;
  /** Makes a change of access together with the rows that record it; absent: nothing records it. */
  record?: RecordChange;
  /** Makes a gateway key for each account that has none yet. */
  gatewayKeys?: GatewayKeys;
  /** The setting of the deployment; absent: its default. */
  endedAlertDays?: number | undefined;
  /** Called for each line that was written. @param isChanged false: the table has the same, or something newer or deleted */
  onWritten?: (line: CheckedLine, isChanged: boolean) => void;
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

const NOUNS: Partial<Record<Kind, string>> = { host_status: 'host report', rum_usage: 'RUM usage row' };
const nounOf = (kind: string) => NOUNS[kind as Kind] ?? kind.replace('rum', 'RUM').replace('_', ' ');

/** Such as `2 accounts, 600 hosts`. */
export const countsText = (counts: Partial<Record<Kind, number>>) =>
  Object.entries(counts)
    .map(([kind, count]) => countText(count, nounOf(kind)))
    .join(', ') || 'nothing';

export function countKinds(lines: readonly CheckedLine[]): Partial<Record<Kind, number>> {
  const counts: Partial<Record<Kind, number>> = {};
  for (const { sent } of lines) counts[sent.kind] = (counts[sent.kind] ?? 0) + 1;
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
  { nowMs, record: recordChange = (_account, _target, change) => change([], []), ...options }: LoadOptions,
): Promise<void> {
  const { gatewayKeys, endedAlertDays, onWritten, signal } = options;
  const through = sharingCalls(withSignal(table, signal));
  const requireStillThere = createErasureWatch(table);
  async function write(line: CheckedLine): Promise<void> {
    const { sent, record } = line;
    signal?.throwIfAborted();
    if (record) await requireStillThere(sent.account_id);
    try {
      const before = await readRows(through, line);
      let isWritten = true;
      // What a read has found lets the first attempt fit the row, so that it does not fail a call that it shares.
      if (record)
        isWritten = await writeRecord(through, record, {
          endedAlertDays,
          found: { row: before[0] && { ...before[0] } },
        });
      else if (sent.kind === 'account') await writeAccount(table, sent, recordChange, gatewayKeys);
      else await writeAppKey(table, sent, recordChange, nowMs);
      onWritten?.(line, isWritten && (await isChanged(line, before)));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const problem = `${sent.kind} cannot be written: ${error.message.split('\n')[0]}`;
      throw new DataError(source, [{ line: line.number, problem }]);
    }
  }
  /** Whether the rows of a written line differ from those before. A new one does, unless the line retires a host, which has no row then. */
  async function isChanged(line: CheckedLine, before: Rows): Promise<boolean> {
    if (!before[0] && line.record && !line.record.retired) return true;
    return !isDeepStrictEqual(contentOf(before), contentOf(await readRows(through, line)));
  }
  const ofKind = (kind: Kind) => lines.filter(({ sent }) => sent.kind === kind);
  for (const line of [...ofKind('account'), ...ofKind('app_key')]) await write(line);
  // The lines of one row are written in their order. After a failure, the writes that have begun are completed.
  const { small = [], large = [] } = Object.groupBy(byRow(lines), (ofRow) =>
    ofRow.some(({ bytes }) => bytes >= LARGE) ? 'large' : 'small',
  );
  const writeInOrder = async (ofRow: readonly CheckedLine[], rowSignal: AbortSignal) => {
    for (const line of ofRow) {
      rowSignal.throwIfAborted();
      await write(line);
    }
  };
  await forEach(small, writeInOrder, { concurrency: CONCURRENCY.small, signal });
  await forEach(large, writeInOrder, { concurrency: CONCURRENCY.large, signal });
}

/** The lines of records, by the row that decides. */
const byRow = (lines: readonly CheckedLine[]): CheckedLine[][] => [
  ...Map.groupBy(
    lines.filter(({ record }) => record),
    ({ sent }) => rowName(keyOf(sent as SentRecord<IngestKind>)),
  ).values(),
];

/** Whether DynamoDB, or its client, refuses the data itself. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && !isUnavailable(error) && !isThrottled(error) && error.name !== 'AbortError';

/** Attributes that only tell when a row was written. */
const BOOKKEEPING = new Set<string>([
  ...KINDS.flatMap((kind) => ordersOf(modelOf(kind).groups)),
  'ttl',
  'revision',
  'account_revision',
]);

type Rows = (Stored<RowKind> | undefined)[];

/** The rows that a line is written to; first the one that decides. */
async function readRows(table: Table, { sent, record }: CheckedLine): Promise<Rows> {
  const { account_id, alert_id, alert_key } = sent;
  const otherKey = () => (sent.kind === 'account' ? keys.account(account_id) : keys.appKey(appKeyOf(sent).hash));
  const read = (key: KeyOf<RowKind>) => patiently(() => getRow(table, key), table.signal);
  const row = await read(record ? keyOf(record.sent) : otherKey());
  const lastId = alert_key !== undefined && (row as Partial<Stored<'alertKey'>> | undefined)?.alert_id;
  const alert = lastId ? await read(keys.alert(account_id, String(alert_id ?? lastId))) : undefined;
  return [row, alert];
}

/** Rows without what only tells when they were written. */
const contentOf = (rows: Rows): object[] =>
  rows.map((row = {} as Stored<RowKind>) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !BOOKKEEPING.has(name))),
  );

/** Writes a record as the feed does. @returns whether a row was written */
export const writeRecord = (table: Table, record: IngestRecord, options?: WriteOptions): Promise<boolean> =>
  patiently(async () => !(await isKeptDeleted(table, record)) && writeRow(table, [record], options), table.signal);

/** @returns writes a record as {@link writeRecord} does; throws AccountError if its account is erased meanwhile */
export function createRecordWriter(table: Table, options?: WriteOptions) {
  const requireStillThere = createErasureWatch(table);
  return async (record: IngestRecord): Promise<void> => {
    await requireStillThere(record.sent.account_id);
    await writeRecord(table, record, options);
  };
}

/** Whether the record is of a RUM resource that is deleted: unlike a record of the feed, an operator's does not undo that. */
async function isKeptDeleted(table: Table, { sent }: IngestRecord): Promise<boolean> {
  if (sent.kind !== 'rum_resource' || sent.deleted === true) return false;
  return (await getRow(table, keys.rumResource(sent.account_id), ['deleted']))?.deleted === true;
}

async function writeAccount(
  table: Table,
  sent: SentRecord,
  recordChange: RecordChange,
  gatewayKeys?: GatewayKeys,
): Promise<void> {
  const account = accountOf(sent);
  const { account_id, permissions, suspended } = account;
  const put = (actions: readonly Action[]) => putAccount(table, account, actions);
  const isChanged = accountChangesOf({ ...account, suspended: false }, await readAccount(table, account_id)).length > 0;
  const target = `permissions: ${permissions.join(' ') || 'none'}`;
  const row = await (isChanged ? recordChange(account_id, target, put) : put([]));
  if (suspended && (!row.suspended || row.untold))
    await recordChange(
      account_id,
      '',
      (done, started) => changeAccount(table, account_id, () => ({ suspended }), started, done),
      { event: 'AccountSuspended' },
    );
  if (gatewayKeys && row.gateway_key === undefined) await gatewayKeys.provision(account_id);
}

async function writeAppKey(table: Table, sent: SentRecord, recordChange: RecordChange, nowMs: number): Promise<void> {
  const { account_id, created_at, expires_at, revoked, note } = sent;
  const account = await readAccount(table, account_id);
  if (!account) throw new Error(`account ${account_id} no longer exists`);
  const nowSeconds = Math.floor(nowMs / 1000);
  const identity = appKeyOf(sent);
  const details = {
    created_at: created_at === undefined ? nowSeconds : Number(created_at),
    ...(expires_at !== undefined && { expires_at: Number(expires_at) }),
    ...(revoked === true && { revoked_at: nowSeconds }),
    ...(note !== undefined && { note: String(note) }),
  };
  const put = (actions: readonly Action[]) => putAppKey(table, account, identity, details, actions);
  const change = keyChangeOf(sent, await getRow(table, keys.appKey(identity.hash)));
  if (!change) return put([]);
  const app_key_id = appKeyIdOf(identity.hash);
  const event = change.event && { event: change.event, event_detail: { app_key_id } };
  await recordChange(account_id, `key ${app_key_id}`, put, event);
}
