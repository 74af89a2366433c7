/** The limits of the double against the rules that AWS documents. The clock of its buckets stands still unless a test moves it. */
import * as commands from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { clientConfig, type Table } from '../../../../lib/dynamodb/client.ts';
import { itemBytes } from '../../../../lib/dynamodb/item-size.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newTable, stored } from '../../../../test/support/service.ts';
import { AWS_LIMITS, createPartitions, type Limits } from '../../limits/capacity.ts';
import type { Engine, Row } from '../../limits/engine.ts';
import { type LimitsProxy, startLimitsProxy } from '../../limits/limits-proxy.ts';
import { createRowsInUse } from '../../limits/rows-in-use.ts';
import { transact } from '../../limits/transactions.ts';

const KB = 1024;
let table: Table;
let proxy: LimitsProxy;
let client: commands.DynamoDBClient;
let clock: number;
let rows = 0;

const connect = (endpoint: string) =>
  new commands.DynamoDBClient(
    clientConfig({ endpoint, maxAttempts: 1, timeouts: { connectionTimeout: 2_500, requestTimeout: 10_000 } }),
  );
async function open(limits: Partial<Limits> = {}): Promise<void> {
  clock = 0;
  proxy = await startLimitsProxy(dynamodbEndpoint(), limits, () => clock);
  client = connect(proxy.endpoint);
}
beforeAll(async () => {
  table = await newTable();
});
afterEach(async () => {
  client?.destroy();
  await proxy?.close();
});
afterAll(() => table.client.destroy());

/** A partition key that nothing was charged to. */
const newPartition = () => `p${Math.random()}`;
/** A row of exactly so many bytes, its key included. */
function rowOf(pk: string, bytes: number) {
  rows += 1;
  const bare = { pk: { S: pk }, sk: { S: `row ${rows}` }, text: { S: '' } };
  return { ...bare, text: { S: 'x'.repeat(bytes - itemBytes(bare)) } };
}
type Item = ReturnType<typeof rowOf>;
const keyOf = ({ pk, sk }: Item) => ({ pk, sk });

const asked = { ReturnConsumedCapacity: 'TOTAL' } as const;
const TableName = () => table.name;
const put = (Item: Item, by = client) =>
  by.send(new commands.PutItemCommand({ TableName: TableName(), Item, ...asked }));
const get = (row: Item, ConsistentRead = true) =>
  client.send(new commands.GetItemCommand({ TableName: TableName(), Key: keyOf(row), ConsistentRead, ...asked }));
const getAll = (all: Item[]) =>
  client.send(new commands.BatchGetItemCommand({ RequestItems: { [TableName()]: { Keys: all.map(keyOf) } } }));
const putAll = (all: Item[]) =>
  client.send(
    new commands.BatchWriteItemCommand({
      RequestItems: { [TableName()]: all.map((Item) => ({ PutRequest: { Item } })) },
    }),
  );
const transactPuts = (all: Item[]) =>
  client.send(
    new commands.TransactWriteItemsCommand({
      TransactItems: all.map((Item) => ({ Put: { TableName: TableName(), Item } })),
      ...asked,
    }),
  );
const setText = (row: Item, text: string) => ({
  TableName: TableName(),
  Key: keyOf(row),
  UpdateExpression: 'SET #text = :text',
  ExpressionAttributeNames: { '#text': 'text' },
  ExpressionAttributeValues: { ':text': { S: text } },
});
const update = (row: Item, text: string, more = {}) =>
  client.send(new commands.UpdateItemCommand({ ...setText(row, text), ...asked, ...more }));

/** Puts a row past the proxy. */
async function putDirectly(row: Item): Promise<Item> {
  const direct = connect(dynamodbEndpoint());
  await put(row, direct);
  direct.destroy();
  return row;
}

it('grants 1,000 write units and 3,000 read units a second to a partition key, after one second of burst', () => {
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

const units = (reply: { ConsumedCapacity?: commands.ConsumedCapacity | commands.ConsumedCapacity[] | undefined }) =>
  [reply.ConsumedCapacity ?? []].flat()[0]?.CapacityUnits;

it.each<[what: string, bytes: number, used: number, act: (row: Item) => Promise<number | undefined>]>([
  ['a put takes the KB of its row, rounded up', 100, 2, async ({ pk }) => units(await put(rowOf(pk.S, KB + 1)))],
  ['an update, those after it', 100, 4, async (row) => units(await update(row, 'x'.repeat(3 * KB)))],
  ['or those before it', 3 * KB, 3, async (row) => units(await update(row, 'short'))],
  ['a consistent read, 4 KB each', 4 * KB + 1, 2, async (row) => units(await get(row))],
  ['an eventually consistent one, half of that', 4 * KB + 1, 1, async (row) => units(await get(row, false))],
  ['a transaction, twice its rows', 100, 4, async ({ pk }) => units(await transactPuts([rowOf(pk.S, 1_500)]))],
  [
    'an update in a transaction, twice the row that it makes',
    1_000,
    6,
    async (row) => {
      const TransactItems = [{ Update: setText(row, 'x'.repeat(2_400)) }];
      return units(await client.send(new commands.TransactWriteItemsCommand({ TransactItems, ...asked })));
    },
  ],
  [
    'a query, all that it reads, also what its filter leaves out',
    5 * KB,
    2,
    async ({ pk }) => {
      const Query = {
        TableName: TableName(),
        KeyConditionExpression: 'pk = :pk',
        FilterExpression: 'attribute_exists(nothing)',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead: true,
      };
      return units(await client.send(new commands.QueryCommand({ ...Query, ...asked })));
    },
  ],
  [
    'a write whose condition fails, the row that is there',
    3 * KB,
    3,
    async (row) => {
      const refused = update(row, '', { ConditionExpression: 'attribute_not_exists(pk)' });
      await expect(refused).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
      return 3;
    },
  ],
])('counts units: %s', async (_what, bytes, expected, act) => {
  await open();
  const row = await putDirectly(rowOf(newPartition(), bytes));
  expect(await act(row)).toBe(expected);
  const { read = 0, write = 0 } = proxy.usages().get(`${table.name} ${row.pk.S}`) ?? {};
  expect(read + write).toBe(expected);
});

it('a row is at most 400 KB, put or grown', async () => {
  await open();
  const refused = { name: 'ValidationException' };
  await expect(put(rowOf(newPartition(), 400 * KB + 1))).rejects.toMatchObject(refused);
  const row = await putDirectly(rowOf(newPartition(), 399 * KB));
  await expect(update(row, 'x'.repeat(400 * KB))).rejects.toMatchObject(refused);
});

it('a transaction has at most 4 MB with the rows that exist, though its request is small', async () => {
  await open();
  const large = await Promise.all(Array.from({ length: 11 }, () => putDirectly(rowOf(newPartition(), 395 * KB))));
  const write = (count: number) => {
    const TransactItems = large.slice(0, count).map((row) => ({ Update: setText(row, '') }));
    return client.send(new commands.TransactWriteItemsCommand({ TransactItems }));
  };
  await expect(write(11)).rejects.toMatchObject({ name: 'ValidationException' });
  await write(10);
});

it('a batch of reads ends at 1 MB of one partition key; the rest is unprocessed', async () => {
  await open();
  const pk = newPartition();
  const large = await Promise.all(Array.from({ length: 4 }, () => putDirectly(rowOf(pk, 300 * KB))));
  const { Responses, UnprocessedKeys } = await getAll(large);
  expect([Responses?.[table.name]?.length, UnprocessedKeys?.[table.name]?.Keys?.length]).toEqual([3, 1]);
});

describe('a partition key whose units are used', () => {
  let [hot, cool]: [hot: Item, cool: Item] = [rowOf('hot', 100), rowOf('cool', 100)];
  async function exhaust(): Promise<void> {
    // A hundredth of AWS's, so that a few calls use them.
    await open({ writeUnits: 10, readUnits: 30 });
    [hot, cool] = [rowOf(newPartition(), 100), rowOf(newPartition(), 100)];
    const large = await putDirectly(rowOf(hot.pk.S, 30 * 4 * KB));
    await put(rowOf(hot.pk.S, 10 * KB));
    await get(large);
  }
  const throttled = { name: 'ThrottlingException' };

  it('is throttled, while another has its own, until they are granted again', async () => {
    await exhaust();
    await expect(put(hot)).rejects.toMatchObject({
      ...throttled,
      ThrottlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded' }],
    });
    await expect(get(hot)).rejects.toMatchObject(throttled);
    await put(cool);
    clock += 100;
    await put(hot);
    await expect(put(hot)).rejects.toMatchObject(throttled);
    expect(proxy.usages().get(`${table.name} ${hot.pk.S}`)).toMatchObject({ write: 11, throttled: 3 });
  });

  it('cancels a transaction, of which nothing is written or charged', async () => {
    await exhaust();
    await expect(transactPuts([cool, hot])).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
    });
    expect(await stored(table, { pk: cool.pk.S, sk: cool.sk.S })).toBeUndefined();
    expect(proxy.usages().get(`${table.name} ${cool.pk.S}`)?.write).toBe(0);
  });

  it('leaves its rows of a batch unprocessed; all of them: an exception', async () => {
    await exhaust();
    expect(await putAll([hot, cool])).toMatchObject({
      UnprocessedItems: { [table.name]: [{ PutRequest: { Item: hot } }] },
    });
    expect(await getAll([hot, cool])).toMatchObject({
      Responses: { [table.name]: [cool] },
      UnprocessedKeys: { [table.name]: { Keys: [keyOf(hot)] } },
    });
    for (const all of [putAll, getAll]) await expect(all([hot])).rejects.toMatchObject(throttled);
  });
});

it('transactions that meet fail with a conflict, and so does a write on the row of one, until it is done', async () => {
  const row = { table: 't', key: {}, name: 'one', partition: 'p' };
  const other = { ...row, name: 'other' };
  const inUse = createRowsInUse();
  const partitions = createPartitions(AWS_LIMITS, () => 0);
  const call = { request: {}, engine: {} as Engine, partitions, inUse, limits: AWS_LIMITS };
  const run = (of: Row[], act: () => Promise<object> = async () => ({})) =>
    transact(
      call,
      of.map((each) => ({ row: each, units: 2 })),
      act,
    );
  const ended = Promise.withResolvers<object>();
  const first = run([row], () => ended.promise);
  await new Promise((resolve) => setImmediate(resolve));
  await expect(run([other, row])).rejects.toMatchObject({
    more: { CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] },
  });
  expect(inUse.write([other, row]).conflicts).toEqual([false, true]);
  ended.resolve({});
  await first;
  const write = inUse.write([row]);
  expect(write.conflicts).toEqual([false]);
  await expect(run([row])).rejects.toThrow();
  write.end();
  await run([row]);
});
