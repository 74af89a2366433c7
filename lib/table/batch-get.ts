import { BatchGetCommand, type BatchGetCommandInput, type BatchGetCommandOutput } from '@aws-sdk/lib-dynamodb';
import { backoff, THROTTLED } from './backoff.ts';
import type { Table } from './client.ts';
import { isThrottled } from './failures.ts';
import type { Key } from './keys.ts';
import { forEach } from './pool.ts';

const LARGEST_BATCH = 100;
/** Without a signal: some ten seconds. */
const MOST_ATTEMPTS = 50;

export type Row = Record<string, unknown>;

/** Identifies a row among those read together. */
export const rowName = ({ pk, sk }: Key) => `${pk}\n${sk}`;

export interface BatchGetOptions {
  signal?: AbortSignal | undefined;
  consistent?: boolean;
  /** Beside the key; absent: all. */
  attributes?: readonly string[];
}

/** Keys that were read in one call. */
export interface ReadBatch {
  keys: readonly Key[];
  /** How many of the rows exist. */
  found: number;
  /** Read units used: one per row for each started 4 KB. */
  units: number;
}

/** Reads rows by their keys: see {@link readBatches}. @returns the rows that exist, by {@link rowName} */
export async function batchGet(
  table: Table,
  keys: readonly Key[],
  signal?: AbortSignal,
  consistent = true,
): Promise<Map<string, Row>> {
  return (await readBatches(table, keys, { signal, consistent })).rows;
}

/**
 * Reads rows by their keys, strongly consistent unless said otherwise, a hundred per call and a few calls in parallel. Throttled
 * and unprocessed keys are retried until the signal aborts.
 */
export async function readBatches(
  table: Table,
  keys: readonly Key[],
  { signal, consistent = true, attributes }: BatchGetOptions = {},
): Promise<{ rows: Map<string, Row>; batches: ReadBatch[] }> {
  const rows = new Map<string, Row>();
  const batches: ReadBatch[] = [];
  for (let index = 0; index < keys.length; index += LARGEST_BATCH)
    batches.push({ keys: keys.slice(index, index + LARGEST_BATCH), found: 0, units: 0 });
  const names = attributes && ['pk', 'sk', ...attributes];
  const projection = names && {
    ProjectionExpression: names.map((_name, index) => `#${index}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#${index}`, name])),
  };

  async function readBatch(batch: ReadBatch, ending: AbortSignal): Promise<void> {
    let request: BatchGetCommandInput['RequestItems'] = {
      [table.name]: {
        Keys: batch.keys.map(({ pk, sk }) => ({ pk, sk })),
        ConsistentRead: consistent,
        ...projection,
      },
    };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer: BatchGetCommandOutput = await table.client.send(
          new BatchGetCommand({ RequestItems: request, ReturnConsumedCapacity: 'TOTAL' }),
          { abortSignal: ending },
        );
        const items = answer.Responses?.[table.name] ?? [];
        for (const item of items) rows.set(rowName(item as unknown as Key), item);
        batch.found += items.length;
        for (const { CapacityUnits = 0 } of answer.ConsumedCapacity ?? []) batch.units += CapacityUnits;
        request = answer.UnprocessedKeys;
        if (!request?.[table.name]) return;
      } catch (error) {
        if (!isThrottled(error) || (!signal && attempt === MOST_ATTEMPTS)) throw error;
      }
      await backoff(attempt, THROTTLED, ending);
    }
  }

  await forEach(batches, readBatch, { signal });
  return { rows, batches };
}
