/** The table's stream, and the event source mapping that passes its records to a function. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBStreams, type GetRecordsOutput } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { Endpoint } from '../../lib/aws/endpoint.ts';
import { streamRecord } from '../admin/relay/stream-record.ts';
import type { Invoke } from './local-functions.ts';
import { resourcesOf, type Template } from './template.ts';

const POLL_MS = 500;
const SHARDS_POLL_MS = 5_000;
const RETRY_MS = 1_000;

/** An event source mapping from a stream to a function. */
export interface StreamSettings {
  readonly functionName: string;
  /** Event patterns: a record is passed on if it matches one of them. */
  readonly patterns: readonly object[];
  readonly batchSize: number;
  /** A disabled one passes nothing on. */
  readonly enabled: boolean;
}

/** Reads the event source mapping of the table's stream. @param functionName gives the name for a function's logical id */
export function streamOf(template: Template, functionName: (id: string) => string): StreamSettings {
  const mapping = Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping'))
    .map(({ Properties }) => Properties)
    .find((properties) => 'StartingPosition' in properties);
  return {
    functionName: functionName(mapping.FunctionName.Ref),
    patterns: mapping.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern)),
    batchSize: mapping.BatchSize,
    enabled: mapping.Enabled !== false,
  };
}

/**
 * The part of Lambda's event filters that the stack uses: for each array in the pattern, the record must have one of its values, or any value
 * for `exists: true`.
 */
export function matches(pattern: unknown, record: unknown): boolean {
  if (Array.isArray(pattern))
    return pattern.some((allowed) =>
      typeof allowed === 'object' ? allowed.exists === (record !== undefined) : allowed === record,
    );
  return Object.entries(pattern as object).every(([name, inner]) =>
    matches(inner, (record as Record<string, unknown> | undefined)?.[name]),
  );
}

/** Passes records to a function in batches. As Lambda does, it continues at the first record that failed, after a second. */
export async function deliver(
  records: readonly DynamoDBRecord[],
  batchSize: number,
  invoke: Invoke,
  signal: AbortSignal,
): Promise<void> {
  for (let position = 0; position < records.length; ) {
    const batch = records.slice(position, position + batchSize);
    const handled = await invoke({ Records: batch }).then(
      (result) => handledOf(batch, result as DynamoDBBatchResponse | undefined),
      () => 0,
    );
    position += handled;
    if (handled < batch.length) await sleep(RETRY_MS, undefined, { signal });
  }
}

/** Number of records before the first failed one. */
function handledOf(batch: readonly DynamoDBRecord[], result: DynamoDBBatchResponse | undefined): number {
  const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
  return first === -1 ? batch.length : first;
}

/** Opens a table's stream. @throws when the endpoint has no stream for the table */
export async function openStream(endpoint: string, tableName: string) {
  const { url, credentials } = new Endpoint(endpoint);
  const client = new DynamoDBStreams({ endpoint: url, region: 'local', credentials });
  const { Streams } = await client.listStreams({ TableName: tableName });
  const StreamArn = Streams?.[0]?.StreamArn;
  if (StreamArn === undefined) throw new Error('the table has no stream');
  return {
    async shardIds(): Promise<string[]> {
      const { StreamDescription } = await client.describeStream({ StreamArn });
      return (StreamDescription?.Shards ?? []).map(({ ShardId = '' }) => ShardId);
    },
    /**
     * The records of a shard in pages, from the oldest on, as Lambda passes them on. A page is empty if no record has been added since the page
     * before.
     */
    async *pagesOf(ShardId: string): AsyncGenerator<DynamoDBRecord[]> {
      const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
      let { ShardIterator } = await client.getShardIterator(from);
      while (ShardIterator) {
        const page: GetRecordsOutput = await client.getRecords({ ShardIterator });
        yield (page.Records ?? []).map(streamRecord);
        ShardIterator = page.NextShardIterator;
      }
    },
    close: () => client.destroy(),
  };
}

/**
 * Passes the records of the table's stream that match a pattern to a function, in order and from the beginning.
 * @returns a function that stops it
 * @throws when the endpoint has no stream for the table
 */
export async function followStream(
  endpoint: string,
  tableName: string,
  settings: StreamSettings,
  target: Invoke,
): Promise<() => Promise<void>> {
  const stream = await openStream(endpoint, tableName);
  const ending = new AbortController();
  const { signal } = ending;
  const followed = new Map<string, Promise<void>>();

  async function followShard(shardId: string): Promise<void> {
    for await (const records of stream.pagesOf(shardId)) {
      signal.throwIfAborted();
      const matching = records.filter((record) => settings.patterns.some((pattern) => matches(pattern, record)));
      await deliver(matching, settings.batchSize, target, signal);
      if (records.length === 0) await sleep(POLL_MS, undefined, { signal });
    }
  }

  /** Polls for new shards. A poll or shard that failed is retried by the next poll. */
  async function followAll(): Promise<void> {
    while (!signal.aborted) {
      for (const shardId of await stream.shardIds().catch(() => []))
        if (!followed.has(shardId))
          followed.set(
            shardId,
            followShard(shardId).catch(() => void followed.delete(shardId)),
          );
      await sleep(SHARDS_POLL_MS, undefined, { signal });
    }
  }

  const following = followAll().catch(() => undefined); // the abort that ends it
  return async () => {
    ending.abort();
    await following;
    await Promise.all(followed.values());
    stream.close();
  };
}
