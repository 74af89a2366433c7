/** The table's stream, and the event source mapping that passes it to a function. */
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
import { resourcesOf, type Template } from './template.ts';

const POLL_MS = 500;
const SHARDS_POLL_MS = 5_000;
const RETRY_MS = 1_000;

/** An event source mapping from a stream to a function. */
export interface StreamSettings {
  readonly functionName: string;
  /** Event patterns: a record is passed on if one of them matches. */
  readonly patterns: readonly object[];
  readonly batchSize: number;
  /** Whether a failed batch is split in half. */
  readonly bisects: boolean;
  /** A failing record is given up when it is older than `maxAgeMs`, or after `maxRetries` more attempts. */
  readonly maxAgeMs: number;
  readonly maxRetries: number;
  /** The queue that receives the positions of records that were given up. */
  readonly deadLetters: string | undefined;
}

/**
 * @param functionName gives the name for a function's logical id
 * @throws when the template uses a feature that is not implemented here
 */
export function streamOf(template: Template, functionName: (id: string) => string): StreamSettings {
  const [mapping, ...others] = Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping'))
    .map(({ Properties }) => Properties)
    .filter((properties) => 'StartingPosition' in properties);
  if (!mapping || others.length > 0) throw new Error('the template must have one event source that is a stream');
  const { StartingPosition, FunctionResponseTypes = [], FilterCriteria, BatchSize = 100 } = mapping;
  if (StartingPosition !== 'TRIM_HORIZON' || !FunctionResponseTypes.includes('ReportBatchItemFailures'))
    throw new Error('the stream must be read from its oldest record on, by a function that reports failed records');
  const { BisectBatchOnFunctionError: bisects = false, MaximumRecordAgeInSeconds, MaximumRetryAttempts } = mapping;
  const deadLetters = mapping.DestinationConfig?.OnFailure?.Destination['Fn::GetAtt'][0];
  return {
    functionName: functionName(mapping.FunctionName.Ref),
    patterns: FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern)),
    batchSize: BatchSize,
    bisects,
    maxAgeMs: unlessInfinite(MaximumRecordAgeInSeconds) * 1_000,
    maxRetries: unlessInfinite(MaximumRetryAttempts),
    deadLetters: deadLetters && queueName(deadLetters),
  };
}

const unlessInfinite = (max = -1) => (max === -1 ? Number.POSITIVE_INFINITY : max);

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
  { batchSize, bisects, maxAgeMs, maxRetries }: Omit<StreamSettings, 'functionName' | 'patterns' | 'deadLetters'>,
  { invoke }: LocalFunction,
  giveUp: (batch: readonly DynamoDBRecord[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let [position, size, retries] = [0, batchSize, 0];
  while (position < records.length) {
    const batch = records.slice(position, position + size);
    const done = await invoke({ Records: batch }).then(
      (result) => doneOf(batch, result as DynamoDBBatchResponse | undefined),
      () => 0,
    );
    if (done === 0 && bisects && batch.length > 1) {
      size = Math.ceil(batch.length / 2);
      continue;
    }
    const isGivenUp = done === 0 && (retries >= maxRetries || ageMsOf(batch[0]) > maxAgeMs);
    if (isGivenUp) giveUp(batch);
    const passed = isGivenUp ? batch.length : done;
    position += passed;
    if (passed > 0) [size, retries] = [batchSize, 0];
    else retries += 1;
    if (passed < batch.length) await sleep(RETRY_MS, undefined, { signal });
  }
}

const ageMsOf = (record: DynamoDBRecord | undefined) =>
  Date.now() - (record?.dynamodb?.ApproximateCreationDateTime ?? Number.POSITIVE_INFINITY) * 1_000;

/** Number of records before the first failed one. */
function doneOf(batch: readonly DynamoDBRecord[], result: DynamoDBBatchResponse | undefined): number {
  const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
  return first === -1 ? batch.length : first;
}

/** The message that Lambda sends to the dead-letter queue for records that were given up: their positions. */
function letterOf(streamArn: string, shardId: string, batch: readonly DynamoDBRecord[]) {
  const [startSequenceNumber, endSequenceNumber] = [batch[0], batch.at(-1)].map((one) => one?.dynamodb?.SequenceNumber);
  return {
    DDBStreamBatchInfo: { streamArn, shardId, startSequenceNumber, endSequenceNumber, batchSize: batch.length },
  };
}

/**
 * Passes the records of the table's stream that match a pattern to a function, in order and from the beginning.
 * @param onGivenUp called with the message for the dead-letter queue
 * @returns stops it
 * @throws when the endpoint has no stream for the table
 */
export async function followStream(
  endpoint: string,
  tableName: string,
  settings: StreamSettings,
  target: LocalFunction,
  onGivenUp: (letter: ReturnType<typeof letterOf>) => void,
): Promise<() => Promise<void>> {
  const { url, credentials } = splitEndpoint(endpoint);
  const client = new DynamoDBStreamsClient({ endpoint: url, region: 'local', credentials });
  const tables = new DynamoDBClient(clientConfig({ endpoint }));
  const { Table } = await tables.send(new DescribeTableCommand({ TableName: tableName }));
  tables.destroy();
  const StreamArn = Table?.LatestStreamArn ?? '';
  if (!StreamArn) throw new Error('the table has no stream');
  await client.send(new DescribeStreamCommand({ StreamArn }));
  const ending = new AbortController();
  const { signal } = ending;
  const followed = new Map<string, Promise<void>>();

  async function followShard(ShardId: string): Promise<void> {
    const start = new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    let { ShardIterator } = await client.send(start);
    while (ShardIterator && !signal.aborted) {
      const page: GetRecordsCommandOutput = await client.send(new GetRecordsCommand({ ShardIterator }));
      const records = (page.Records ?? []).map(streamRecord);
      const wanted = records.filter((record) => settings.patterns.some((pattern) => matches(pattern, record)));
      await handOver(wanted, settings, target, (batch) => onGivenUp(letterOf(StreamArn, ShardId, batch)), signal);
      ShardIterator = page.NextShardIterator;
      if (records.length === 0) await sleep(POLL_MS, undefined, { signal });
    }
  }

  /** Polls for new shards. A poll or shard that failed is retried by the next poll. */
  async function followAll(): Promise<void> {
    while (!signal.aborted) {
      const stream = await client.send(new DescribeStreamCommand({ StreamArn })).catch(() => undefined);
      for (const { ShardId = '' } of stream?.StreamDescription?.Shards ?? [])
        if (!followed.has(ShardId))
          followed.set(
            ShardId,
            followShard(ShardId).catch(() => void followed.delete(ShardId)),
          );
      await sleep(SHARDS_POLL_MS, undefined, { signal });
    }
  }

  const following = followAll().catch(() => undefined); // the abort that ends it
  return async () => {
    ending.abort();
    await following;
    await Promise.all(followed.values());
    client.destroy();
  };
}
