import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { clientConfig, splitEndpoint } from '../../lib/dynamodb/client.ts';
import type { Deployment } from './deployment.ts';

const POLL_MS = 500;

/** Whether a record has, wherever the pattern has an array, one of its values: the part of a pipe's filters that is used here. */
export function matches(pattern: unknown, record: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.includes(record);
  return Object.entries(pattern as object).every(([name, inner]) =>
    matches(inner, (record as Record<string, unknown> | undefined)?.[name]),
  );
}

/** What a pipe's template makes of a record: each `<$.path>` stands for the value there, as JSON. */
export const fillTemplate = (template: string, record: unknown): string =>
  template.replace(/<\$\.([\w.]+)>/g, (_whole, path: string) => {
    const value = path
      .split('.')
      .reduce((inner: unknown, name) => (inner as Record<string, unknown> | undefined)?.[name], record);
    return JSON.stringify(value ?? null);
  });

/**
 * Sends what the pipe makes of the records of the table's stream that match one of its patterns: from the beginning on, in order.
 * @returns ends it
 * @throws when the endpoint has no stream for the table
 */
export async function followStream(
  endpoint: string,
  tableName: string,
  { patterns, inputTemplate }: Deployment['pipe'],
  send: (body: string) => void,
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
    let { ShardIterator } = await client.send(start);
    while (ShardIterator && !ending.signal.aborted) {
      const page: GetRecordsCommandOutput = await client.send(new GetRecordsCommand({ ShardIterator }));
      for (const record of page.Records ?? [])
        if (patterns.some((pattern) => matches(pattern, record))) send(fillTemplate(inputTemplate, record));
      ShardIterator = page.NextShardIterator;
      if (!page.Records?.length) await sleep(POLL_MS, undefined, { signal: ending.signal });
    }
  }

  /** New shards are found by polling; a failed poll or shard is retried at the next. */
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
