import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { clientConfig, splitEndpoint } from '../../lib/dynamodb/client.ts';
import { streamRecord } from '../admin/relay/stream-record.ts';
import type { LocalFunction } from './local-functions.ts';
import { queueName } from './queues.ts';
import type { Resource } from './template.ts';

const POLL_MS = 500;
const RETRY_MS = 1_000;

/** An event source mapping from a stream to a function. */
export interface StreamSettings {
  readonly functionName: string;
  /** Event patterns: a record is passed on if one of them matches; not empty. */
  readonly patterns: readonly object[];
  readonly batchSize: number;
  /** Whether a failed batch is split in half. */
  readonly bisects: boolean;
  /** A failing record is given up when it is older than this, or after so many more attempts. */
  readonly longestAgeMs: number;
  readonly mostRetries: number;
  /** The queue that receives the positions of records that were given up. */
  readonly deadLetters: string | undefined;
}

/** The message that Lambda sends for records that were given up: their positions. */
export interface StreamLetter {
  readonly DDBStreamBatchInfo: {
    readonly streamArn: string;
    readonly shardId: string;
    readonly startSequenceNumber: string;
    readonly endSequenceNumber: string;
    readonly batchSize: number;
  };
}

/** @throws when the mapping uses a feature that is not implemented here */
export function streamOf(mapping: Resource['Properties'], functionName: string): StreamSettings {
  const { StartingPosition, FunctionResponseTypes = [], FilterCriteria, BatchSize = 100 } = mapping;
  if (StartingPosition !== 'TRIM_HORIZON' || !FunctionResponseTypes.includes('ReportBatchItemFailures'))
    throw new Error('the stream must be read from its oldest record on, by a function that reports failed records');
  const patterns = FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern));
  const { BisectBatchOnFunctionError: bisects = false, MaximumRecordAgeInSeconds, MaximumRetryAttempts } = mapping;
  const letters = mapping.DestinationConfig?.OnFailure?.Destination['Fn::GetAtt'][0];
  return {
    ...{ functionName, patterns, batchSize: BatchSize, bisects },
    longestAgeMs: unlessInfinite(MaximumRecordAgeInSeconds) * 1_000,
    mostRetries: unlessInfinite(MaximumRetryAttempts),
    deadLetters: letters && queueName(letters),
  };
}

const unlessInfinite = (most = -1) => (most === -1 ? Number.POSITIVE_INFINITY : most);

/**
 * The part of Lambda's event filters that is used here: for each array in the pattern, the record must have one of its values, or any value
 * for `exists`.
 */
export function matches(pattern: unknown, record: unknown): boolean {
  if (Array.isArray(pattern))
    return pattern.some((one) => (typeof one === 'object' ? one.exists === (record !== undefined) : one === record));
  return Object.entries(pattern as object).every(([name, inner]) =>
    matches(inner, (record as Record<string, unknown> | undefined)?.[name]),
  );
}

/**
 * Passes records to a function in batches. As Lambda does, it repeats a batch from the first failed record on, until it gives up.
 * @param giveUp called with the records that are given up
 */
export async function handOver(
  records: readonly DynamoDBRecord[],
  { batchSize, bisects, longestAgeMs, mostRetries }: Omit<StreamSettings, 'functionName' | 'patterns' | 'deadLetters'>,
  { invoke }: Pick<LocalFunction, 'invoke'>,
  giveUp: (batch: readonly DynamoDBRecord[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let [taken, size, retries] = [0, batchSize, 0];
  while (taken < records.length) {
    const batch = records.slice(taken, taken + size);
    const done = await invoke({ Records: batch }).then(
      (result) => doneOf(batch, result as DynamoDBBatchResponse | undefined),
      () => 0,
    );
    taken += done;
    if (done > 0) [size, retries] = [batchSize, 0];
    if (done === batch.length) continue;
    if (done === 0 && bisects && batch.length > 1) {
      size = Math.ceil(batch.length / 2);
      continue;
    }
    if (done === 0 && (retries >= mostRetries || ageOf(batch[0]) > longestAgeMs)) {
      giveUp(batch);
      taken += batch.length;
      [size, retries] = [batchSize, 0];
      continue;
    }
    if (done === 0) retries += 1;
    await sleep(RETRY_MS, undefined, { signal });
  }
}

const ageOf = (record: DynamoDBRecord | undefined) =>
  Date.now() - (record?.dynamodb?.ApproximateCreationDateTime ?? Number.POSITIVE_INFINITY) * 1_000;

/** Number of records before the first failed one. */
function doneOf(batch: readonly DynamoDBRecord[], result: DynamoDBBatchResponse | undefined): number {
  const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
  return first === -1 ? batch.length : first;
}

/**
 * Passes the records of the table's stream that match a pattern to a function, in order and from the beginning.
 * @param onGivenUp called with the records that were given up
 * @returns stops it
 * @throws when the endpoint has no stream for the table
 */
export async function followStream(
  endpoint: string,
  tableName: string,
  settings: StreamSettings,
  target: Pick<LocalFunction, 'invoke'>,
  onGivenUp: (letter: StreamLetter) => void,
): Promise<() => Promise<void>> {
  const { url, credentials } = splitEndpoint(endpoint);
  const client = new DynamoDBStreamsClient({ endpoint: url, region: 'local', credentials });
  const tables = new DynamoDBClient(clientConfig({ endpoint }));
  const { Table } = await tables.send(new DescribeTableCommand({ TableName: tableName }));
  tables.destroy();
  const StreamArn = Table?.LatestStreamArn;
  if (!StreamArn) throw new Error('the table has no stream');
  const ending = new AbortController();
  const followed = new Map<string, Promise<void>>();

  async function followShard(ShardId: string): Promise<void> {
    const start = new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    const giveUp = (batch: readonly DynamoDBRecord[]) => {
      const [startSequenceNumber = '', endSequenceNumber = ''] = [batch[0], batch.at(-1)].map(
        (record) => record?.dynamodb?.SequenceNumber,
      );
      const range = { startSequenceNumber, endSequenceNumber, batchSize: batch.length };
      onGivenUp({ DDBStreamBatchInfo: { streamArn: String(StreamArn), shardId: ShardId, ...range } });
    };
    let { ShardIterator } = await client.send(start);
    while (ShardIterator && !ending.signal.aborted) {
      const page: GetRecordsCommandOutput = await client.send(new GetRecordsCommand({ ShardIterator }));
      const records = (page.Records ?? []).map(streamRecord);
      const wanted = records.filter((record) => settings.patterns.some((pattern) => matches(pattern, record)));
      await handOver(wanted, settings, target, giveUp, ending.signal);
      ShardIterator = page.NextShardIterator;
      if (!page.Records?.length) await sleep(POLL_MS, undefined, { signal: ending.signal });
    }
  }

  /** Polling finds new shards; a failed poll or shard is retried at the next poll. */
  async function followAll(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
        for (const { ShardId = '' } of StreamDescription?.Shards ?? [])
          if (!followed.has(ShardId))
            followed.set(
              ShardId,
              followShard(ShardId).catch(() => void followed.delete(ShardId)),
            );
      } catch {
        // at the next poll
      }
      await sleep(10 * POLL_MS, undefined, { signal: ending.signal });
    }
  }

  await client.send(new DescribeStreamCommand({ StreamArn }));
  const following = followAll().catch(() => undefined); // the abort that ends it
  return async () => {
    ending.abort();
    await following;
    await Promise.all(followed.values());
    client.destroy();
  };
}
