import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import { clientConfig } from '../../lib/table/client.ts';
import type { LocalFunction } from './functions.ts';

const POLL_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** Whether a record has, wherever the pattern has an array, one of its values: the part of Lambda's filters that is used here. */
export function matches(pattern: unknown, record: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.includes(record);
  return Object.entries(pattern as object).every(([name, inner]) =>
    matches(inner, (record as Record<string, unknown> | undefined)?.[name]),
  );
}

/**
 * Hands the records of the table's stream that match one of the patterns to a function, as Lambda's event source does:
 * from the beginning on, in order, and a batch that fails again and again until it succeeds.
 * @returns ends it
 * @throws when the endpoint has no stream for the table
 */
export async function followStream(
  endpoint: string,
  tableName: string,
  target: LocalFunction,
  patterns: readonly object[],
): Promise<() => Promise<void>> {
  const { region = 'local', credentials } = clientConfig({ endpoint });
  const client = new DynamoDBStreamsClient({ endpoint, region, ...(credentials && { credentials }) });
  const tables = new DynamoDBClient(clientConfig({ endpoint }));
  const { Table } = await tables.send(new DescribeTableCommand({ TableName: tableName }));
  tables.destroy();
  const StreamArn = Table?.LatestStreamArn;
  if (!StreamArn) throw new Error('the table has no stream');
  const ending = new AbortController();
  const followed = new Map<string, Promise<void>>();

  async function deliver(records: StreamRecord[]): Promise<void> {
    for (let pause = POLL_MS; !ending.signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        await target.invoke({ Records: records });
        return;
      } catch {
        await sleep(pause, undefined, { signal: ending.signal });
      }
    }
  }

  async function followShard(ShardId: string): Promise<void> {
    const start = new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    let { ShardIterator } = await client.send(start);
    while (ShardIterator && !ending.signal.aborted) {
      const page: { Records?: StreamRecord[] | undefined; NextShardIterator?: string | undefined } = await client.send(
        new GetRecordsCommand({ ShardIterator }),
      );
      const records = (page.Records ?? []).filter((record) => patterns.some((pattern) => matches(pattern, record)));
      if (records.length > 0) await deliver(records);
      ShardIterator = page.NextShardIterator;
      if (!page.Records?.length) await sleep(POLL_MS, undefined, { signal: ending.signal });
    }
  }

  /** New shards are found by looking again; a look or a shard that fails is tried again at the next. */
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
        // at the next look
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
