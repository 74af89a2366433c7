import { ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, type BatchGetCommandInput, type BatchGetCommandOutput } from '@aws-sdk/lib-dynamodb';
import { chunksOf } from '../shared/chunks.ts';
import { backoff, THROTTLING } from './backoff.ts';
import { optionsOf, type Table } from './client.ts';
import { expressionsOf, projection } from './expression.ts';
import { isThrottled } from './failures.ts';
import type { AttributeOf, Key, KeyOf, ReadRow, RowKind } from './keys.ts';
import { forEach } from './pool.ts';

/** Maximum keys of one call. */
export const MAX_BATCH = 100;
/** Maximum attempts of a batch without a signal: about ten seconds. */
const MAX_ATTEMPTS = 50;

/** Name of a row in a {@link RowMap}. */
export const rowName = ({ pk, sk }: Key) => `${pk}\n${sk}`;

/** Rows by {@link rowName}. */
export class RowMap<Kind extends RowKind, Name extends AttributeOf<Kind> = AttributeOf<Kind>> extends Map<
  string,
  Key & ReadRow<Kind, Name>
> {
  /** The row with this key, typed by the kind of the key; undefined if it does not exist. */
  of<Wanted extends Kind>(key: KeyOf<Wanted>): (Key & ReadRow<Wanted, Name & AttributeOf<Wanted>>) | undefined {
    return this.get(rowName(key)) as (Key & ReadRow<Wanted, Name & AttributeOf<Wanted>>) | undefined;
  }
}

/** The keys of one call, and what reading them returned and cost. */
export interface ReadBatch<Kind extends RowKind> {
  keys: readonly KeyOf<Kind>[];
  /** How many of the rows exist. */
  found: number;
  /** Read units used: one per row for each started 4 KB, half of that if not consistent. */
  units: number;
}

/**
 * Reads rows by their keys, a hundred per call, with concurrent calls. Retries throttled and unprocessed keys until the table's signal
 * aborts.
 * @param options `consistent`: whether reads are strongly consistent; `attributes`: those to read besides the key, by default all
 * @returns the rows that exist
 */
export async function batchGet<Kind extends RowKind, Name extends AttributeOf<Kind>>(
  { client, name: tableName, signal }: Table,
  keys: readonly KeyOf<Kind>[],
  { consistent = true, attributes }: { consistent?: boolean; attributes?: readonly Name[] } = {},
): Promise<{ rows: RowMap<Kind, Name>; batches: ReadBatch<Kind>[] }> {
  const rows = new RowMap<Kind, Name>();
  const batches: ReadBatch<Kind>[] = chunksOf(keys, MAX_BATCH).map((keys) => ({ keys, found: 0, units: 0 }));
  const projected = attributes && expressionsOf({ ProjectionExpression: projection(['pk', 'sk', ...attributes]) });

  async function readBatch(batch: ReadBatch<Kind>, batchSignal: AbortSignal): Promise<void> {
    let request: BatchGetCommandInput['RequestItems'] = {
      [tableName]: { Keys: batch.keys.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: consistent, ...projected },
    };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer: BatchGetCommandOutput = await client.send(
          new BatchGetCommand({ RequestItems: request, ReturnConsumedCapacity: 'TOTAL' }),
          optionsOf(batchSignal),
        );
        const items = (answer.Responses?.[tableName] ?? []) as (Key & ReadRow<Kind, Name>)[];
        for (const item of items) rows.set(rowName(item), item);
        batch.found += items.length;
        for (const { CapacityUnits = 0 } of answer.ConsumedCapacity ?? []) batch.units += CapacityUnits;
        request = answer.UnprocessedKeys;
        if (!request?.[tableName]) return;
        if (!signal && attempt === MAX_ATTEMPTS) {
          const { $metadata } = answer;
          throw new ProvisionedThroughputExceededException({ $metadata, message: 'some keys stay unprocessed' });
        }
      } catch (error) {
        if (!isThrottled(error) || (!signal && attempt === MAX_ATTEMPTS)) throw error;
      }
      await backoff(attempt, THROTTLING, batchSignal);
    }
  }

  await forEach(batches, readBatch, { signal });
  return { rows, batches };
}
