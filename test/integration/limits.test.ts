/** Compares the limits of the proxy with the rules that AWS documents. The clock of its buckets stands still unless a test moves it. */
import * as commands from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { clientConfig, type Table } from '../../lib/table/client.ts';
import { AWS_LIMITS, createPartitions, type Limits } from '../limits-proxy/capacity.ts';
import { itemBytes } from '../limits-proxy/item-size.ts';
import { type LimitsProxy, startLimitsProxy } from '../limits-proxy/limits-proxy.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { newTable, stored } from '../support/service.ts';

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
async function startProxy(limits: Partial<Limits> = {}): Promise<void> {
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

/** A partition key that has all its units. */
const newPartition = () => `p${Math.random()}`;
/** A row of exactly this many bytes, its key included. */
function rowOf(pk: string, bytes: number) {
  rows += 1;
  const empty = { pk: { S: pk }, sk: { S: `row ${rows}` }, text: { S: '' } };
  return { ...empty, text: { S: 'x'.repeat(bytes - itemBytes(empty)) } };
}
type Item = ReturnType<typeof rowOf>;
const keyOf = ({ pk, sk }: Item) => ({ pk, sk });

const TableName = () => table.name;
const put = (Item: Item, sender = client) => sender.send(new commands.PutItemCommand({ TableName: TableName(), Item }));
const get = (row: Item, ConsistentRead = true) =>
  client.send(new commands.GetItemCommand({ TableName: TableName(), Key: keyOf(row), ConsistentRead }));
const getAll = (items: Item[]) =>
  client.send(
    new commands.BatchGetItemCommand({
      RequestItems: { [TableName()]: { Keys: items.map(keyOf), ConsistentRead: true } },
    }),
  );
const putAll = (items: Item[]) =>
  client.send(
    new commands.BatchWriteItemCommand({
      RequestItems: { [TableName()]: items.map((Item) => ({ PutRequest: { Item } })) },
    }),
  );
const transactPuts = (items: Item[]) =>
  client.send(
    new commands.TransactWriteItemsCommand({
      TransactItems: items.map((Item) => ({ Put: { TableName: TableName(), Item } })),
    }),
  );
const setText = (row: Item, text: string) => ({
  TableName: TableName(),
  Key: keyOf(row),
  UpdateExpression: 'SET #text = :text',
  ExpressionAttributeNames: { '#text': 'text' },
  ExpressionAttributeValues: { ':text': { S: text } },
});
const update = (row: Item, text: string, options = {}) =>
  client.send(new commands.UpdateItemCommand({ ...setText(row, text), ...options }));

/** Puts a row without going through the proxy. */
async function putDirectly(row: Item): Promise<Item> {
  const direct = connect(dynamodbEndpoint());
  await put(row, direct);
  direct.destroy();
  return row;
}

it('grants 1,000 write units and 3,000 read units a second to a partition key, after one second of burst', () => {
  let nowMs = 0;
  const partitions = createPartitions(AWS_LIMITS, () => nowMs);
  const takeAll = (side: 'read' | 'write', pk = 'one') => {
    let units = 0;
    while (partitions.take(pk, side, 1)) units += 1;
    return units;
  };
  expect([takeAll('write'), takeAll('read'), takeAll('write', 'other')]).toEqual([1_000, 3_000, 1_000]);
  nowMs += 500;
  expect([takeAll('write'), takeAll('read')]).toEqual([500, 1_500]);
  nowMs += 60_000;
  expect([takeAll('write'), takeAll('read')]).toEqual([1_000, 3_000]);
});

it.each<[what: string, bytes: number, units: number, action: (row: Item) => Promise<unknown>]>([
  ['a put takes the KB of its row, rounded up', 100, 2, ({ pk }) => put(rowOf(pk.S, KB + 1))],
  ['an update takes the KB of the row afterwards', 100, 4, (row) => update(row, 'x'.repeat(3 * KB))],
  ['an update takes the KB of the row beforehand, if that is larger', 3 * KB, 3, (row) => update(row, 'short')],
  ['a consistent read takes a unit for each 4 KB', 4 * KB + 1, 2, (row) => get(row)],
  ['an eventually consistent read takes half of that', 4 * KB + 1, 1, (row) => get(row, false)],
  ['a transaction takes twice the units of its rows', 100, 4, ({ pk }) => transactPuts([rowOf(pk.S, 1_500)])],
  [
    'an update in a transaction takes twice the units of the row afterwards',
    1_000,
    6,
    (row) => {
      const TransactItems = [{ Update: setText(row, 'x'.repeat(2_400)) }];
      return client.send(new commands.TransactWriteItemsCommand({ TransactItems }));
    },
  ],
  [
    'a query takes the units of all rows that it reads, including those that its filter removes',
    5 * KB,
    2,
    ({ pk }) => {
      const Query = {
        TableName: TableName(),
        KeyConditionExpression: 'pk = :pk',
        FilterExpression: 'attribute_exists(nothing)',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead: true,
      };
      return client.send(new commands.QueryCommand(Query));
    },
  ],
  [
    'a write whose condition fails takes the units of the stored row',
    3 * KB,
    3,
    async (row) => {
      const refused = update(row, '', { ConditionExpression: 'attribute_not_exists(pk)' });
      await expect(refused).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    },
  ],
  [
    'a batch of reads takes a unit for a missing row, and reports its units',
    5 * KB,
    3,
    async (row) => {
      const { ConsumedCapacity } = await getAll([row, rowOf(row.pk.S, 100)]);
      expect(ConsumedCapacity).toMatchObject([{ TableName: TableName(), CapacityUnits: 3 }]);
    },
  ],
])('counts units: %s', async (_what, bytes, units, action) => {
  await startProxy();
  const row = await putDirectly(rowOf(newPartition(), bytes));
  await action(row);
  const { read = 0, write = 0 } = proxy.usages().get(`${table.name} ${row.pk.S}`) ?? {};
  expect(read + write).toBe(units);
});

it('a put or an update is refused if its row is more than 400 KB', async () => {
  await startProxy();
  const refused = { name: 'ValidationException' };
  await expect(put(rowOf(newPartition(), 400 * KB + 1))).rejects.toMatchObject(refused);
  const row = await putDirectly(rowOf(newPartition(), 399 * KB));
  await expect(update(row, 'x'.repeat(400 * KB))).rejects.toMatchObject(refused);
});

it('a transaction has at most 4 MB together with the stored rows, even if its request is small', async () => {
  await startProxy();
  const large = await Promise.all(Array.from({ length: 11 }, () => putDirectly(rowOf(newPartition(), 395 * KB))));
  const write = (count: number) => {
    const TransactItems = large.slice(0, count).map((row) => ({ Update: setText(row, '') }));
    return client.send(new commands.TransactWriteItemsCommand({ TransactItems }));
  };
  await expect(write(11)).rejects.toMatchObject({ name: 'ValidationException' });
  await write(10);
});

it('a batch of reads ends at 1 MB of one partition key, and leaves the rest unprocessed', async () => {
  await startProxy();
  const pk = newPartition();
  const large = await Promise.all(Array.from({ length: 4 }, () => putDirectly(rowOf(pk, 300 * KB))));
  const { Responses, UnprocessedKeys } = await getAll(large);
  expect([Responses?.[table.name]?.length, UnprocessedKeys?.[table.name]?.Keys?.length]).toEqual([3, 1]);
});

describe('a partition key whose units are used up', () => {
  let [hot, cool]: [hot: Item, cool: Item] = [rowOf('hot', 100), rowOf('cool', 100)];
  async function exhaust(): Promise<void> {
    // A hundredth of AWS's units, so that a few calls use them up.
    await startProxy({ writeUnits: 10, readUnits: 30 });
    [hot, cool] = [rowOf(newPartition(), 100), rowOf(newPartition(), 100)];
    const large = await putDirectly(rowOf(hot.pk.S, 30 * 4 * KB));
    await put(rowOf(hot.pk.S, 10 * KB));
    await get(large);
  }
  const throttled = { name: 'ThrottlingException' };

  it('is throttled until units are granted again, while another has its own units', async () => {
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

  it('cancels a transaction, which writes nothing and is charged nothing', async () => {
    await exhaust();
    await expect(transactPuts([cool, hot])).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
    });
    expect(await stored(table, { pk: cool.pk.S, sk: cool.sk.S })).toBeUndefined();
    expect(proxy.usages().get(`${table.name} ${cool.pk.S}`)?.write).toBe(0);
  });

  it('leaves its rows of a batch unprocessed, and throttles a batch that has no other rows', async () => {
    await exhaust();
    expect(await putAll([hot, cool])).toMatchObject({
      UnprocessedItems: { [table.name]: [{ PutRequest: { Item: hot } }] },
    });
    expect(await getAll([hot, cool])).toMatchObject({
      Responses: { [table.name]: [cool] },
      UnprocessedKeys: { [table.name]: { Keys: [keyOf(hot)] } },
    });
    for (const send of [putAll, getAll]) await expect(send([hot])).rejects.toMatchObject(throttled);
  });
});

it('a transaction or a write fails while another transaction writes its row', async () => {
  await startProxy({ transactionMs: 2_000 });
  const [row, otherRow] = [rowOf(newPartition(), 100), rowOf(newPartition(), 100)];
  const running = transactPuts([row]);
  const outcome = () =>
    put(row).then(
      () => 'written',
      ({ name }: Error) => name,
    );
  await expect.poll(outcome).toBe('TransactionConflictException');
  await expect(transactPuts([otherRow, row])).rejects.toMatchObject({
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  });
  expect(await putAll([otherRow, row])).toMatchObject({
    UnprocessedItems: { [table.name]: [{ PutRequest: { Item: row } }] },
  });
  await running;
  expect(await outcome()).toBe('written');
});
