/**
 * Two replicas of a table, and what replicates them, as DynamoDB's global tables do: each row's versions in order, but those of different rows in
 * any order, some versions left out, the later of two regions' writes of a row winning. Sources: docs/internals/aws-behaviour.md.
 */
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { type _Record, DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams';
import { clientConfig, connectTable } from '../../../../lib/table/client.ts';
import { PATIENCE } from '../../../../test/support/service.ts';
import { createTable } from '../../local-service/local-table.ts';

/** Creates the table in a region, to which the environment leads. */
export async function createReplica(name: string, region: string) {
  await createTable(undefined, name, { region });
  return { region, table: connectTable({ name, region, timeouts: PATIENCE }) };
}
export type Replica = Awaited<ReturnType<typeof createReplica>>;

/** The records of a replica's stream. */
export async function streamOfReplica({ region, table }: Replica): Promise<_Record[]> {
  const client = new DynamoDBStreams(clientConfig({ region }));
  const { Streams = [] } = await client.listStreams({ TableName: table.name });
  const StreamArn = Streams[0]?.StreamArn;
  const { StreamDescription } = await client.describeStream({ StreamArn });
  const all: _Record[] = [];
  for (const { ShardId } of StreamDescription?.Shards ?? []) {
    const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
    let { ShardIterator } = await client.getShardIterator(from);
    while (ShardIterator) {
      const page = await client.getRecords({ ShardIterator });
      all.push(...(page.Records ?? []));
      ShardIterator = page.Records?.length ? page.NextShardIterator : undefined;
    }
  }
  client.destroy();
  return all;
}

interface Version {
  key: string;
  record: NonNullable<_Record['dynamodb']>;
  /** Its place among the writes of all regions. */
  at: number;
}

/** Replicates rows while it is asked to. A write counts as made when it is read from the stream: read both before another region writes. */
export function createReplication(replicas: readonly [Replica, Replica], random: () => number) {
  let clock = 0;
  const sides = replicas.map((replica) => ({
    replica,
    read: 0,
    /** Versions of its own that are to be sent. */
    outbox: [] as Version[],
    /** When it wrote a row itself. */
    wrote: new Map<string, number>(),
    /** Versions that came from the other region, and are in its stream once more. */
    received: [] as string[],
  }));
  const imageOf = ({ Keys, NewImage }: Version['record']) => JSON.stringify([Keys, NewImage]);

  async function readStreams(): Promise<void> {
    for (const side of sides) {
      const records = await streamOfReplica(side.replica);
      for (const { dynamodb: record } of records.slice(side.read)) {
        if (!record) continue;
        const echo = side.received.indexOf(imageOf(record));
        if (echo !== -1) {
          side.received.splice(echo, 1);
          continue;
        }
        clock += 1;
        const key = JSON.stringify(record.Keys);
        side.wrote.set(key, clock);
        side.outbox.push({ key, record, at: clock });
      }
      side.read = records.length;
    }
  }

  async function receive(side: (typeof sides)[number], { key, record, at }: Version): Promise<void> {
    if ((side.wrote.get(key) ?? 0) > at) return;
    const { client, name: TableName } = side.replica.table;
    const { Keys: Key, NewImage } = record;
    if (!NewImage) await client.send(new DeleteItemCommand({ TableName, Key }));
    else {
      // DynamoDB Local's stream has an empty map as a value without a type.
      const values = Object.entries(NewImage).map(([name, value]) => [
        name,
        Object.keys(value).length ? value : { M: {} },
      ]);
      await client.send(new PutItemCommand({ TableName, Item: Object.fromEntries(values) }));
    }
    side.received.push(imageOf(record));
  }

  return {
    readStreams,
    /** Sends a part of what waits, in any order. @param part from 0 to 1. What is left waits on, as when a region fails. */
    async replicate(part = 1): Promise<void> {
      await readStreams();
      for (const [index, { outbox }] of sides.entries()) {
        const other = sides[1 - index];
        let count = Math.round(outbox.length * part);
        while (other && count > 0 && outbox.length > 0) {
          const { key } = outbox[Math.floor(random() * outbox.length)] as Version;
          const versions = outbox.filter((version) => version.key === key);
          const skipped = random() < 0.5 ? versions.length : 1;
          for (const version of versions.slice(0, skipped)) outbox.splice(outbox.indexOf(version), 1);
          await receive(other, versions[skipped - 1] as Version);
          count -= skipped;
        }
      }
    },
  };
}
