import { BatchWriteCommand, type BatchWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { backoff } from '../../../lib/dynamodb/backoff.ts';
import { batchGet } from '../../../lib/dynamodb/batch-get.ts';
import { optionsOf, type Table } from '../../../lib/dynamodb/client.ts';
import { attribute, expression, IS_NEW, is, isAsRead, set } from '../../../lib/dynamodb/expression.ts';
import { isThrottled, isUnavailable } from '../../../lib/dynamodb/failures.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { forEach } from '../../../lib/dynamodb/pool.ts';
import { putRow, updateRow } from '../../../lib/dynamodb/row.ts';
import type { AlertRow, IncidentRow } from '../../../lib/dynamodb/rows.ts';
import { rowOf, type StoredRow } from '../../../lib/ingest/entity-rows.ts';
import type { Entity, FeedKind, Kind } from '../../../lib/ingest/kinds.ts';
import { recordOfEntity } from '../../../lib/ingest/records.ts';
import { rowsOf } from '../../../lib/ingest/write-records.ts';
import { chunksOf } from '../../../lib/shared/chunks.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { writeError } from './check-lines.ts';

const MAX_BATCH = 25;
const CONCURRENCY = 8;

/** The field that marks a row as deleted. */
const DELETED: Readonly<Partial<Record<Kind, string>>> = { work_item: 'deleted_at_ms', rum_resource: 'deleted' };

/** Whether an entity can be deleted, and is not: then it must not overwrite a deleted row. */
const isActive = (entity: Entity) => {
  const field = DELETED[entity.kind];
  return field !== undefined && (entity[field] ?? false) === false;
};

/** Whether merges, too, write rows of this kind. */
export const isWrittenByMerges = ({ kind }: Entity) => kind === 'alert' || kind === 'incident';

/** Whether a line has the time of its change, and so is written like a record of the feed: not over newer data. */
const isTimed = (entity: Entity): entity is Entity<FeedKind> =>
  entity.at_ms !== undefined && !isWrittenByMerges(entity);

export interface WriteOptions {
  onWritten: (count: number) => void;
  onKeptDeleted: () => void;
  /** The sequence of the latest merge of each account. */
  latest: ReadonlyMap<Int64, number>;
}

/**
 * Writes the rows of entities other than accounts and app keys. A line without a time replaces the stored row as a whole;
 * one with a time is written like a record of the feed.
 */
export async function writeRows(
  table: Table,
  entities: readonly Entity[],
  { onWritten, onKeptDeleted, latest }: WriteOptions,
): Promise<void> {
  const writeOne = async (entity: Entity) => {
    if (isTimed(entity)) {
      for (const { write } of rowsOf([recordOfEntity(entity)]))
        await untilNotThrottled(() => write(table), table.signal);
      return;
    }
    if (!isWrittenByMerges(entity)) {
      if (!(await putUnlessDeleted(table, entity))) onKeptDeleted();
      return;
    }
    const order = entity.at_ms === undefined ? {} : { feed_order: recordOfEntity(entity).order };
    await putMerged(table, { ...rowOf(entity), ...order }, latest.get(entity.account_id) ?? 0);
  };
  // After a failure, the writes of other chunks that have begun are completed.
  const writeChunk = async (chunk: readonly Entity[]) => {
    const conditional = chunk.filter((entity) => isActive(entity) || isWrittenByMerges(entity) || isTimed(entity));
    const unconditional = chunk.filter((entity) => !conditional.includes(entity));
    await writeBatch(table, unconditional.map(rowOf)).catch((error) => findRefused(table, unconditional, error));
    await reactivateReports(table, unconditional);
    const results = await Promise.allSettled(conditional.map(writeOne));
    for (const [index, result] of results.entries()) {
      const entity = conditional[index];
      if (result.status === 'rejected' && entity)
        throw isRefusal(result.reason) ? writeError(entity, result.reason) : result.reason;
    }
    onWritten(chunk.length);
  };
  await forEach(chunksOf(entities, MAX_BATCH), writeChunk, { concurrency: CONCURRENCY, signal: table.signal });
}

/** Removes the TTL from the reports of retired hosts that are imported again, so that DynamoDB keeps them. */
async function reactivateReports(table: Table, entities: readonly Entity[]): Promise<void> {
  const statuses = entities
    .filter(({ kind }) => kind === 'host')
    .map((host) => keys.hostStatus(host.account_id, String(host.host_id)));
  const { rows } = await batchGet(table, statuses, { attributes: ['ttl'] });
  for (const status of statuses) {
    const ttl = rows.of(status)?.ttl;
    const withoutTtl = set({ ttl: undefined, feed_order: undefined });
    if (ttl !== undefined)
      await untilNotThrottled(() => updateRow(table, status, withoutTtl, is('ttl', ttl)), table.signal);
  }
}

/** Whether DynamoDB, or its client, refuses the data itself. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && !isUnavailable(error) && !isThrottled(error) && error.name !== 'AbortError';

/** Writes the rows of a refused batch one by one. @throws DataError naming the row that DynamoDB refuses */
async function findRefused(table: Table, entities: readonly Entity[], error: unknown): Promise<void> {
  if (!isRefusal(error)) throw error;
  for (const entity of entities)
    await writeBatch(table, [rowOf(entity)]).catch((refusal) => {
      throw isRefusal(refusal) ? writeError(entity, refusal) : refusal;
    });
}

/** Writes the row of an entity, unless the stored row is deleted. @returns whether it was written */
async function putUnlessDeleted(table: Table, entity: Entity): Promise<boolean> {
  const deleted = attribute(DELETED[entity.kind] ?? '');
  const condition = expression`attribute_not_exists(${deleted}) OR ${deleted} = ${false}`;
  return (await untilNotThrottled(() => putRow(table, rowOf(entity), condition), table.signal)).done;
}

/** Fields in which a row records the merges and imports that wrote it. */
const SEQUENCE_FIELDS = ['moved_sequence', 'loaded_after', 'last_change'] as const;
type SequenceFields = Pick<AlertRow & IncidentRow, (typeof SEQUENCE_FIELDS)[number]>;

/** The sequence of the latest entry that a row records. */
const latestIn = ({ moved_sequence = 0, loaded_after = 0, last_change }: SequenceFields) =>
  Math.max(moved_sequence, loaded_after, last_change?.sequence ?? 0);

/**
 * Writes a row that merges write, too. The row records the latest entry before the import: the effects of entries up
 * to that one are overwritten, and later entries apply to the row. If a merge changes the row meanwhile, the write
 * starts again.
 * @param latest sequence of the account's latest entry when the import began; 0: there was none
 */
async function putMerged(table: Table, row: StoredRow, latest: number): Promise<void> {
  // Most rows are new: the stored one is read only if the write finds one.
  let stored: SequenceFields | undefined;
  for (;;) {
    const after = stored ? Math.max(latest, latestIn(stored)) : latest;
    const written = { ...row, ...(after > 0 && { loaded_after: after }) };
    const condition = stored ? isAsRead(stored, SEQUENCE_FIELDS) : IS_NEW;
    const put = () => putRow(table, written, condition, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
    const { done, row: found } = await untilNotThrottled(put, table.signal);
    if (done) return;
    stored = found as SequenceFields | undefined;
  }
}

/** Writes up to 25 rows, and retries throttled and unprocessed ones. */
export async function writeBatch(table: Table, rows: readonly Record<string, unknown>[]): Promise<void> {
  let unwritten: BatchWriteCommandInput['RequestItems'] = {
    [table.name]: rows.map((Item) => ({ PutRequest: { Item } })),
  };
  if (rows.length > 0)
    await untilNotThrottled(async () => {
      const command = new BatchWriteCommand({ RequestItems: unwritten });
      const answer = await table.client.send(command, optionsOf(table.signal));
      unwritten = answer.UnprocessedItems ?? {};
      return unwritten[table.name]?.length ? undefined : 'written';
    }, table.signal);
}

/** Long waits, since an import is not urgent: callers need the table's capacity first. */
const IMPORT_BACKOFF = { baseMs: 50, maxMs: 5_000 };

/** Repeats a write while DynamoDB throttles it, or it returns undefined. */
async function untilNotThrottled<Result>(
  write: () => Promise<Result | undefined>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      const result = await write();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isThrottled(error)) throw error;
    }
    await backoff(attempt, IMPORT_BACKOFF, signal);
  }
}
