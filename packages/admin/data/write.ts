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
import { writeError } from './check-lines.ts';

const MAX_BATCH = 25;
const CONCURRENCY = 8;

/** The field whose presence in a row marks its entity as deleted. */
const DELETED: Readonly<Partial<Record<Kind, string>>> = { work_item: 'deleted_at_ms', rum_resource: 'deleted' };

/** Whether an entity must not be written over a deleted one. */
const isAlive = (entity: Entity) => {
  const field = DELETED[entity.kind];
  return field !== undefined && (entity[field] ?? false) === false;
};

/** Whether merges also write its row. */
export const isMerged = ({ kind }: Entity) => kind === 'alert' || kind === 'incident';

/** A line with the time of its change is written as a feed record: unless the stored row is later. */
const isTimed = (entity: Entity): entity is Entity<FeedKind> => entity.at_ms !== undefined && !isMerged(entity);

export interface Writing {
  onWritten: (count: number) => void;
  onKeptDeleted: () => void;
  /** Sequence of each account's latest merge, by account id. */
  latest: ReadonlyMap<string, number>;
}

/** Replaces whole rows. */
export async function writeRows(
  table: Table,
  entities: readonly Entity[],
  { onWritten, onKeptDeleted, latest }: Writing,
): Promise<void> {
  const writeOne = async (entity: Entity) => {
    if (isTimed(entity)) {
      for (const { write } of rowsOf([recordOfEntity(entity)]))
        await untilNotThrottled(() => write(table), table.signal);
      return;
    }
    if (!isMerged(entity)) {
      if (!(await putUnlessDeleted(table, entity))) onKeptDeleted();
      return;
    }
    const order = entity.at_ms === undefined ? {} : { feed_order: recordOfEntity(entity).order };
    await putMerged(table, { ...rowOf(entity), ...order }, latest.get(String(entity.account_id)) ?? 0);
  };
  // Running writes end with their batch when another fails.
  const writeSome = async (batch: readonly Entity[]) => {
    const single = batch.filter((entity) => isAlive(entity) || isMerged(entity) || isTimed(entity));
    const others = batch.filter((entity) => !single.includes(entity));
    await writeBatch(table, others.map(rowOf)).catch((error) => findRefused(table, others, error));
    await keepReports(table, others);
    const ended = await Promise.allSettled(single.map(writeOne));
    for (const [index, result] of ended.entries()) {
      const entity = single[index];
      if (result.status === 'rejected' && entity)
        throw isRefusal(result.reason) ? writeError(entity, result.reason) : result.reason;
    }
    onWritten(batch.length);
  };
  await forEach(chunksOf(entities, MAX_BATCH), writeSome, { concurrency: CONCURRENCY, signal: table.signal });
}

/** A retired host that is written again is active again: its reports are no longer removed. */
async function keepReports(table: Table, entities: readonly Entity[]): Promise<void> {
  const statuses = entities
    .filter(({ kind }) => kind === 'host')
    .map((host) => keys.hostStatus(host.account_id, String(host.host_id)));
  const { rows } = await batchGet(table, statuses, { attributes: ['ttl'] });
  for (const status of statuses) {
    const ttl = rows.of(status)?.ttl;
    const kept = set({ ttl: undefined, feed_order: undefined });
    if (ttl !== undefined) await untilNotThrottled(() => updateRow(table, status, kept, is('ttl', ttl)), table.signal);
  }
}

/** Whether DynamoDB or its client rejected the data, as opposed to other failures. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && !isUnavailable(error) && !isThrottled(error) && error.name !== 'AbortError';

/** Writes the rows of a refused batch one by one. @throws DataError of the row that DynamoDB refuses */
async function findRefused(table: Table, entities: readonly Entity[], error: unknown): Promise<void> {
  if (!isRefusal(error)) throw error;
  for (const entity of entities)
    await writeBatch(table, [rowOf(entity)]).catch((refusal) => {
      throw isRefusal(refusal) ? writeError(entity, refusal) : refusal;
    });
}

/** Writes the row of an entity, unless the table holds it as deleted. @returns whether it was written */
async function putUnlessDeleted(table: Table, entity: Entity): Promise<boolean> {
  const deleted = attribute(DELETED[entity.kind] ?? '');
  const condition = expression`attribute_not_exists(${deleted}) OR ${deleted} = ${false}`;
  return (await untilNotThrottled(() => putRow(table, rowOf(entity), condition), table.signal)).done;
}

/** Fields that merges and imports record in a row. */
const NOTES = ['moved_sequence', 'stayed_sequence', 'loaded_after', 'last_change'] as const;
type Notes = Pick<AlertRow & IncidentRow, (typeof NOTES)[number]>;

/** The latest entry recorded in a row. */
const latestIn = ({ moved_sequence = 0, stayed_sequence = 0, loaded_after = 0, last_change }: Notes) =>
  Math.max(moved_sequence, stayed_sequence, loaded_after, last_change?.sequence ?? 0);

/**
 * Replaces a stored row that merges write, too, unless one changes it meanwhile. It records the latest entry that it replaces: it
 * overwrites the effects of entries up to that one, and later entries apply to it.
 * @param latest sequence of the account's latest entry when the import began; 0: there was none
 */
async function putMerged(table: Table, row: StoredRow, latest: number): Promise<void> {
  // Most rows are new: the stored one is read only if the write finds one.
  let stored: Notes | undefined;
  for (;;) {
    const after = stored ? Math.max(latest, latestIn(stored)) : latest;
    const noted = { ...row, ...(after > 0 && { loaded_after: after }) };
    const condition = stored ? isAsRead(stored, NOTES) : IS_NEW;
    const put = () => putRow(table, noted, condition, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
    const { done, row: found } = await untilNotThrottled(put, table.signal);
    if (done) return;
    stored = found as Notes | undefined;
  }
}

/** Writes up to 25 rows; throttled and unprocessed rows are sent again. */
export async function writeBatch(table: Table, rows: readonly Record<string, unknown>[]): Promise<void> {
  let left: BatchWriteCommandInput['RequestItems'] = { [table.name]: rows.map((Item) => ({ PutRequest: { Item } })) };
  if (rows.length > 0)
    await untilNotThrottled(async () => {
      const command = new BatchWriteCommand({ RequestItems: left });
      const answer = await table.client.send(command, optionsOf(table.signal));
      left = answer.UnprocessedItems ?? {};
      return left[table.name]?.length ? undefined : 'written';
    }, table.signal);
}

/** An import is not urgent, and leaves the table's units to calls. */
const UNHURRIED = { baseMs: 50, maxMs: 5_000 };

/** Repeats an act while DynamoDB throttles it, or it has no result. */
async function untilNotThrottled<Result>(
  act: () => Promise<Result | undefined>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      const result = await act();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isThrottled(error)) throw error;
    }
    await backoff(attempt, UNHURRIED, signal);
  }
}
