import { setTimeout as sleep } from 'node:timers/promises';
import { BatchGetCommand, type BatchGetCommandInput, type BatchGetCommandOutput } from '@aws-sdk/lib-dynamodb';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';

const LARGEST_BATCH = 100;
const FIRST_PAUSE_MS = 20;

export type Row = Record<string, unknown>;

/** Names a row among those that were read together. */
export const rowName = ({ pk, sk }: Key) => `${pk}\n${sk}`;

/**
 * Reads rows by their keys, strongly consistent unless said otherwise, a hundred a call and all calls side by side. What DynamoDB leaves
 * unprocessed is asked for again until the signal ends it.
 * @returns the rows that exist, by {@link rowName}
 */
export async function batchGet(
  table: Table,
  keys: readonly Key[],
  signal?: AbortSignal,
  consistent = true,
): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  const batches: Key[][] = [];
  for (let at = 0; at < keys.length; at += LARGEST_BATCH) batches.push(keys.slice(at, at + LARGEST_BATCH));

  async function readBatch(batch: Key[]): Promise<void> {
    let request: BatchGetCommandInput['RequestItems'] = {
      [table.name]: { Keys: batch.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: consistent },
    };
    for (let pause = FIRST_PAUSE_MS; request?.[table.name]; pause *= 2) {
      const answer: BatchGetCommandOutput = await table.client.send(
        new BatchGetCommand({ RequestItems: request }),
        signal ? { abortSignal: signal } : {},
      );
      for (const item of answer.Responses?.[table.name] ?? []) rows.set(rowName(item as unknown as Key), item);
      request = answer.UnprocessedKeys;
      if (request?.[table.name]) await sleep(pause, undefined, signal ? { signal } : {});
    }
  }

  await Promise.all(batches.map(readBatch));
  return rows;
}
