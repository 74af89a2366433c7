/** Each limit of the double against the rule that AWS documents. The clock of its buckets stands still unless a test moves it. */
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientConfig, type Table } from '../../../../lib/dynamodb/client.ts';
import { itemBytes } from '../../../../lib/dynamodb/item-size.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newTable, stored } from '../../../../test/support/service.ts';
import { AWS_LIMITS, createPartitions, type Limits } from '../../limits/capacity.ts';
import type { Engine, Row } from '../../limits/engine.ts';
import { type LimitsProxy, startLimitsProxy } from '../../limits/limits-proxy.ts';
import { createRowsInUse } from '../../limits/rows-in-use.ts';
import { transact } from '../../limits/transactions.ts';

let table: Table;
let proxy: LimitsProxy;
let client: DynamoDBClient;
let clock: number;
let row: number;

/** A hundredth of AWS's, so that a few calls use them. */
const FEW: Partial<Limits> = { writeUnits: 10, readUnits: 30 };
const TIMEOUTS = { connectionTimeout: 2_500, requestTimeout: 10_000 };

async function open(limits: Partial<Limits> = {}): Promise<void> {
  clock = 0;
  proxy = await startLimitsProxy(dynamodbEndpoint(), limits, () => clock);
  client = new DynamoDBClient(clientConfig({ endpoint: proxy.endpoint, maxAttempts: 1, timeouts: TIMEOUTS }));
}
async function close(): Promise<void> {
  client.destroy();
  await proxy.close();
}

beforeAll(async () => {
  table = await newTable();
  row = 0;
});
beforeEach(() => open());
afterEach(close);
afterAll(() => table.client.destroy());

/** A partition key that nothing was charged to. */
const newPartition = () => `p${Math.random()}`;
/** A row of exactly so many bytes, its key included. */
function rowOf(pk: string, bytes: number) {
  row += 1;
  const bare = { pk: { S: pk }, sk: { S: `row ${row}` }, text: { S: '' } };
  return { ...bare, text: { S: 'x'.repeat(bytes - itemBytes(bare)) } };
}
const keyOf = ({ pk, sk }: ReturnType<typeof rowOf>) => ({ pk, sk });

/** Puts rows past the proxy. */
async function putDirectly(rows: readonly ReturnType<typeof rowOf>[]): Promise<void> {
  const direct = new DynamoDBClient(clientConfig({ endpoint: dynamodbEndpoint(), timeouts: TIMEOUTS }));
  for (let index = 0; index < rows.length; index += 25) {
    const members = rows.slice(index, index + 25).map((Item) => ({ PutRequest: { Item } }));
    await direct.send(new BatchWriteItemCommand({ RequestItems: { [table.name]: members } }));
  }
  direct.destroy();
}
const put = (Item: ReturnType<typeof rowOf>) => client.send(new PutItemCommand({ TableName: table.name, Item }));
const KB = 1024;
const used = (pk: string) => proxy.usages().get(`${table.name} ${pk}`);
const asked = { ReturnConsumedCapacity: 'TOTAL' } as const;

/** Uses all write units of a partition key at once, where they are few. */
const exhaustWrites = (pk: string) => put(rowOf(pk, 10 * KB));
/** Uses all read units of a partition key at once, where they are few. */
async function exhaustReads(pk: string): Promise<void> {
  const large = rowOf(pk, 30 * 4 * KB);
  await putDirectly([large]);
  await client.send(new GetItemCommand({ TableName: table.name, Key: keyOf(large), ConsistentRead: true }));
}

describe('a partition key', () => {
  it('grants 1,000 write units and 3,000 read units a second, after one second of burst', () => {
    let index = 0;
    const partitions = createPartitions(AWS_LIMITS, () => index);
    const takeAll = (side: 'read' | 'write', pk = 'one') => {
      let units = 0;
      while (partitions.take(pk, side, 1)) units += 1;
      return units;
    };
    expect([takeAll('write'), takeAll('read'), takeAll('write', 'other')]).toEqual([1_000, 3_000, 1_000]);
    index += 500;
    expect([takeAll('write'), takeAll('read')]).toEqual([500, 1_500]);
    index += 60_000;
    expect([takeAll('write'), takeAll('read')]).toEqual([1_000, 3_000]);
  });

  it('is throttled when its units are used, while another has its own', async () => {
    await close();
    await open(FEW);
    const pk = newPartition();
    await exhaustWrites(pk);
    await expect(put(rowOf(pk, 100))).rejects.toMatchObject({
      name: 'ThrottlingException',
      ThrottlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded' }],
    });
    await put(rowOf(newPartition(), 100));
    clock += 100;
    await put(rowOf(pk, 100));
    await expect(put(rowOf(pk, 100))).rejects.toMatchObject({ name: 'ThrottlingException' });
    await exhaustReads(pk);
    const get = () =>
      client.send(new GetItemCommand({ TableName: table.name, Key: { pk: { S: pk }, sk: { S: 'none' } } }));
    await expect(get()).rejects.toMatchObject({ name: 'ThrottlingException' });
    clock += 100;
    await get();
    expect(used(pk)).toEqual({ read: 30.5, write: 11, throttled: 3 });
  });

  it('keeps a burst of as many seconds as set', async () => {
    await close();
    await open({ ...FEW, burstSeconds: 2 });
    const pk = newPartition();
    await exhaustWrites(pk);
    await exhaustWrites(pk);
    await expect(put(rowOf(pk, 100))).rejects.toThrow();
  });
});

describe('units', () => {
  it('of a write are those of the row in KB, rounded up, before or after it, whichever is larger', async () => {
    const pk = newPartition();
    const one = rowOf(pk, 1_025);
    await put(one);
    expect(used(pk)?.write).toBe(2);
    const update = (text: string) =>
      client.send(
        new UpdateItemCommand({
          TableName: table.name,
          Key: keyOf(one),
          UpdateExpression: 'SET #text = :text',
          ExpressionAttributeNames: { '#text': 'text' },
          ExpressionAttributeValues: { ':text': { S: text } },
          ...asked,
        }),
      );
    expect((await update('x'.repeat(3 * KB))).ConsumedCapacity?.CapacityUnits).toBe(4);
    expect((await update('short')).ConsumedCapacity?.CapacityUnits).toBe(4);
    expect((await update('short')).ConsumedCapacity?.CapacityUnits).toBe(1);
    expect(used(pk)?.write).toBe(2 + 4 + 4 + 1);
  });

  it('of a write whose condition fails are those of the row that is there', async () => {
    const pk = newPartition();
    const one = rowOf(pk, 3 * KB);
    await putDirectly([one]);
    const refused = client.send(
      new UpdateItemCommand({
        TableName: table.name,
        Key: keyOf(one),
        UpdateExpression: 'REMOVE nothing',
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    );
    await expect(refused).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    expect(used(pk)?.write).toBe(3);
  });

  it('of a read are those of the row in 4 KB, rounded up; half of it eventually consistent', async () => {
    const pk = newPartition();
    const one = rowOf(pk, 4 * KB + 1);
    await putDirectly([one]);
    const get = (ConsistentRead: boolean) =>
      client.send(new GetItemCommand({ TableName: table.name, Key: keyOf(one), ConsistentRead, ...asked }));
    expect((await get(true)).ConsumedCapacity?.CapacityUnits).toBe(2);
    expect((await get(false)).ConsumedCapacity?.CapacityUnits).toBe(1);
    expect(used(pk)?.read).toBe(3);
  });

  it('of a query are those of all it read together, also of what its filter leaves out', async () => {
    const pk = newPartition();
    await putDirectly([rowOf(pk, 3 * KB), rowOf(pk, 3 * KB)]);
    const { ConsumedCapacity, Items } = await client.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: '#pk = :pk',
        FilterExpression: 'attribute_exists(nothing)',
        ExpressionAttributeNames: { '#pk': 'pk' },
        ExpressionAttributeValues: { ':pk': { S: pk } },
        ConsistentRead: true,
        ...asked,
      }),
    );
    expect({ Items, units: ConsumedCapacity?.CapacityUnits }).toEqual({ Items: [], units: 2 });
    expect(used(pk)?.read).toBe(2);
  });

  it('of a transaction are twice those of its rows', async () => {
    const pk = newPartition();
    const [one, other] = [rowOf(pk, 1_500), rowOf(pk, 500)];
    await putDirectly([one]);
    const wrote = await client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          { Put: { TableName: table.name, Item: other } },
          { ConditionCheck: { TableName: table.name, Key: keyOf(one), ConditionExpression: 'attribute_exists(pk)' } },
        ],
        ...asked,
      }),
    );
    expect(wrote.ConsumedCapacity?.[0]?.CapacityUnits).toBe(2 * 1 + 2 * 2);
    expect(used(pk)).toEqual({ read: 0, write: 6, throttled: 0 });
  });

  it('of an update in a transaction are those of the row that it makes', async () => {
    const pk = newPartition();
    const one = rowOf(pk, 1_000);
    await putDirectly([one]);
    const update = async (UpdateExpression: string, more: string) => {
      const { ConsumedCapacity } = await client.send(
        new TransactWriteItemsCommand({
          TransactItems: [
            {
              Update: {
                TableName: table.name,
                Key: keyOf(one),
                UpdateExpression,
                ExpressionAttributeNames: { '#text': 'text' },
                ExpressionAttributeValues: { ':more': { S: more } },
              },
            },
          ],
          ...asked,
        }),
      );
      return ConsumedCapacity?.[0]?.CapacityUnits;
    };
    expect(await update('SET #text = #text, a = :more', '')).toBe(2 * 1);
    expect(await update('SET #text = #text, a = :more', 'x'.repeat(40))).toBe(2 * 2);
    expect(await update('SET #text = :more', 'short')).toBe(2 * 2);
    expect(await update('SET #text = :more', 'x')).toBe(2 * 1);
    expect(await update('SET #text = :more', 'x'.repeat(2_400))).toBe(2 * 3);
    expect(await update('SET twin = #text, more = :more', '')).toBe(2 * 5);
    expect(used(pk)?.write).toBe(2 + 4 + 4 + 2 + 6 + 10);
  });
});

describe('sizes', () => {
  it('a row is at most 400 KB, put or grown', async () => {
    await expect(put(rowOf(newPartition(), 400 * KB + 1))).rejects.toMatchObject({ name: 'ValidationException' });
    const largest = rowOf(newPartition(), 400 * KB);
    await put(largest);
    const grow = client.send(
      new UpdateItemCommand({
        TableName: table.name,
        Key: keyOf(largest),
        UpdateExpression: 'SET more = :more',
        ExpressionAttributeValues: { ':more': { S: 'x' } },
      }),
    );
    await expect(grow).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('a transaction has at most 4 MB with the rows that exist, though its request is small', async () => {
    const rows = Array.from({ length: 95 }, () => rowOf(newPartition(), 45 * KB));
    await putDirectly(rows);
    const write = (count: number) =>
      client.send(
        new TransactWriteItemsCommand({
          TransactItems: rows.slice(0, count).map((one) => ({
            Update: {
              TableName: table.name,
              Key: keyOf(one),
              UpdateExpression: 'SET moved = :moved',
              ExpressionAttributeValues: { ':moved': { N: '1' } },
            },
          })),
        }),
      );
    await expect(write(95)).rejects.toMatchObject({ name: 'ValidationException' });
    await write(90);
  });

  it('a transaction has at most 100 items, a batch of reads 100 keys, of writes 25', async () => {
    const rows = Array.from({ length: 101 }, () => rowOf(newPartition(), 100));
    const TransactItems = rows.map((Item) => ({ Put: { TableName: table.name, Item } }));
    const RequestItems = { [table.name]: { Keys: rows.map(keyOf) } };
    const members = rows.slice(0, 26).map((Item) => ({ PutRequest: { Item } }));
    for (const send of [
      () => client.send(new TransactWriteItemsCommand({ TransactItems })),
      () => client.send(new BatchGetItemCommand({ RequestItems })),
      () => client.send(new BatchWriteItemCommand({ RequestItems: { [table.name]: members } })),
    ])
      await expect(send()).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('a batch of reads ends at 16 MB, and at 1 MB of one partition key; the rest is unprocessed', async () => {
    const spread = Array.from({ length: 45 }, () => rowOf(newPartition(), 399 * KB));
    const pk = newPartition();
    const together = Array.from({ length: 4 }, () => rowOf(pk, 300 * KB));
    await putDirectly([...spread, ...together]);
    const read = async (rows: typeof spread) => {
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetItemCommand({ RequestItems: { [table.name]: { Keys: rows.map(keyOf), ConsistentRead: true } } }),
      );
      return [Responses?.[table.name]?.length, UnprocessedKeys?.[table.name]?.Keys?.length];
    };
    expect(await read(spread)).toEqual([41, 4]);
    expect(await read(together)).toEqual([3, 1]);
  });
});

describe('what is throttled of several', () => {
  it('in a transaction: it is cancelled, with a reason for each item in order, and nothing is written or charged', async () => {
    await close();
    await open(FEW);
    const [hot, cool] = [newPartition(), newPartition()];
    await exhaustWrites(hot);
    const [first, second] = [rowOf(cool, 100), rowOf(hot, 100)];
    const refused = client.send(
      new TransactWriteItemsCommand({
        TransactItems: [first, second].map((Item) => ({ Put: { TableName: table.name, Item } })),
      }),
    );
    await expect(refused).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
    });
    expect(await stored(table, { pk: cool, sk: first.sk.S })).toBeUndefined();
    expect(used(cool)?.write).toBe(0);
  });

  it('in a batch of reads: unprocessed keys; all of them: an exception', async () => {
    await close();
    await open(FEW);
    const [hot, cool] = [newPartition(), newPartition()];
    await exhaustReads(hot);
    const [one, other] = [rowOf(hot, 100), rowOf(cool, 100)];
    await putDirectly([one, other]);
    const get = (rows: (typeof one)[]) =>
      client.send(new BatchGetItemCommand({ RequestItems: { [table.name]: { Keys: rows.map(keyOf) } } }));
    expect(await get([one, other])).toMatchObject({
      Responses: { [table.name]: [other] },
      UnprocessedKeys: { [table.name]: { Keys: [keyOf(one)] } },
    });
    await expect(get([one])).rejects.toMatchObject({ name: 'ThrottlingException' });
  });

  it('in a batch of writes: unprocessed items; all of them: an exception', async () => {
    await close();
    await open(FEW);
    const [hot, cool] = [newPartition(), newPartition()];
    await exhaustWrites(hot);
    const [one, other] = [rowOf(hot, 100), rowOf(cool, 100)];
    const write = (rows: (typeof one)[]) =>
      client.send(
        new BatchWriteItemCommand({ RequestItems: { [table.name]: rows.map((Item) => ({ PutRequest: { Item } })) } }),
      );
    expect(await write([one, other])).toMatchObject({
      UnprocessedItems: { [table.name]: [{ PutRequest: { Item: one } }] },
    });
    expect(await stored(table, { pk: cool, sk: other.sk.S })).toBeDefined();
    await expect(write([one])).rejects.toMatchObject({ name: 'ThrottlingException' });
  });
});

describe('transactions that meet', () => {
  it('fail with a conflict, and so does a write on the row of one, until it is done', async () => {
    const row = { table: 't', key: {}, name: 'one', partition: 'p' };
    const other = { ...row, name: 'other' };
    let end = () => {};
    const inUse = createRowsInUse();
    const partitions = createPartitions(AWS_LIMITS, () => 0);
    const call = { request: {}, engine: {} as Engine, partitions, inUse, limits: AWS_LIMITS };
    const run = (rows: Row[], act: () => Promise<object> = async () => ({})) =>
      transact(
        call,
        rows.map((each) => ({ row: each, units: 2 })),
        act,
      );
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const first = run([row], () => ended.then(() => ({})));
    await new Promise((resolve) => setImmediate(resolve));
    await expect(run([other, row])).rejects.toMatchObject({
      more: { CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] },
    });
    expect(inUse.write([other, row]).conflicts).toEqual([false, true]);
    end();
    await first;
    const write = inUse.write([row]);
    expect(write.conflicts).toEqual([false]);
    await expect(run([row])).rejects.toThrow();
    write.end();
    await run([row]);
  });
});
