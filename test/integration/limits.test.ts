/** Compares the limits of the proxy with the rules that AWS documents. The clock of its buckets stands still unless a test moves it. */
import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  BatchWriteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { connectTable } from '../../lib/table/client.ts';
import { AWS_LIMITS, createPartitions, type Limits } from '../limits-proxy/capacity.ts';
import { itemBytes } from '../limits-proxy/item-size.ts';
import { startLimitsProxy } from '../limits-proxy/limits-proxy.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { newTable, PATIENCE, put, stored } from '../support/service.ts';

const KB = 1024;
const table = await newTable();
const { name: TableName } = table;
let rows = 0;

/** A row of exactly this many bytes, its key included. Without `pk` it has a partition key of its own, with all its units. */
function rowOf(bytes: number, givenPk?: string) {
  rows += 1;
  const pk = givenPk ?? `p${rows}`;
  const empty = { pk, sk: `row ${rows}`, text: '' };
  return { ...empty, text: 'x'.repeat(bytes - itemBytes(marshall(empty))) };
}
type Row = ReturnType<typeof rowOf>;
const keyOf = ({ pk, sk }: Row) => ({ pk, sk });
/** Puts a row without going through the proxy. */
async function storedRow(bytes: number, pk?: string): Promise<Row> {
  const row = rowOf(bytes, pk);
  await put(table, keyOf(row), row);
  return row;
}

/** A client that makes one attempt, through a proxy. */
async function connect(limits: Partial<Limits> = {}) {
  const clock = { now: 0 };
  const proxy = await startLimitsProxy(dynamodbEndpoint(), limits, () => clock.now);
  const { client } = connectTable({ name: TableName, endpoint: proxy.endpoint, maxAttempts: 1, timeouts: PATIENCE });
  onTestFinished(async () => {
    client.destroy();
    await proxy.close();
  });
  const setText = (row: Row, text: string) => ({
    ...{ TableName, Key: keyOf(row), UpdateExpression: 'SET #text = :text' },
    ...{ ExpressionAttributeNames: { '#text': 'text' }, ExpressionAttributeValues: { ':text': text } },
  });
  const transact = (TransactItems: TransactWriteCommand['input']['TransactItems']) =>
    client.send(new TransactWriteCommand({ TransactItems }));
  return {
    ...{ clock, client },
    usageOf: ({ pk }: Row) => proxy.usages().get(`${TableName} ${pk}`) ?? { read: 0, write: 0, throttled: 0 },
    put: (Item: Row) => client.send(new PutCommand({ TableName, Item })),
    get: (row: Row, ConsistentRead = true) =>
      client.send(new GetCommand({ TableName, Key: keyOf(row), ConsistentRead })),
    getAll(all: Row[]): Promise<BatchGetCommandOutput> {
      const RequestItems = { [TableName]: { Keys: all.map(keyOf), ConsistentRead: true } };
      return client.send(new BatchGetCommand({ RequestItems }));
    },
    putAll: (all: Row[]) =>
      client.send(
        new BatchWriteCommand({ RequestItems: { [TableName]: all.map((Item) => ({ PutRequest: { Item } })) } }),
      ),
    update: (row: Row, text: string, condition?: string) =>
      client.send(new UpdateCommand({ ...setText(row, text), ...(condition && { ConditionExpression: condition }) })),
    transactPuts: (all: Row[]) => transact(all.map((Item) => ({ Put: { TableName, Item } }))),
    transactUpdates: (all: Row[], text: string) => transact(all.map((row) => ({ Update: setText(row, text) }))),
  };
}
type Proxied = Awaited<ReturnType<typeof connect>>;

it('a partition key gets 1,000 write units and 3,000 read units a second, after one second of burst', () => {
  let nowMs = 0;
  const { take } = createPartitions(AWS_LIMITS, () => nowMs);
  const takeAll = (side: 'read' | 'write', pk = 'one') => {
    let units = 0;
    while (take(pk, side, 1)) units += 1;
    return units;
  };
  expect([takeAll('write'), takeAll('read'), takeAll('write', 'other')]).toEqual([1_000, 3_000, 1_000]);
  nowMs += 500;
  expect([takeAll('write'), takeAll('read')]).toEqual([500, 1_500]);
  nowMs += 60_000;
  expect([takeAll('write'), takeAll('read')]).toEqual([1_000, 3_000]);
});

const ALL_OF_ONE = { KeyConditionExpression: 'pk = :pk', FilterExpression: 'attribute_exists(nothing)' };
it.each<[what: string, bytes: number, units: number, action: (to: Proxied, row: Row) => Promise<unknown>]>([
  ['a put takes the KB of its row, rounded up', 100, 2, (to, { pk }) => to.put(rowOf(KB + 1, pk))],
  ['an update takes the KB of the row afterwards', 100, 4, (to, row) => to.update(row, 'x'.repeat(3 * KB))],
  ['an update takes the KB of the row beforehand, if larger', 3 * KB, 3, (to, row) => to.update(row, 'short')],
  ['a consistent read takes a unit for each 4 KB', 4 * KB + 1, 2, (to, row) => to.get(row)],
  ['an eventually consistent read takes half of that', 4 * KB + 1, 1, (to, row) => to.get(row, false)],
  ['a transaction takes twice the units of its rows', 100, 4, (to, { pk }) => to.transactPuts([rowOf(1_500, pk)])],
  ['so does an update in one', 1_000, 6, (to, row) => to.transactUpdates([row], 'x'.repeat(2_400))],
  [
    'a query takes the units of all rows that it reads, including those that its filter removes',
    ...([5 * KB, 2] as const),
    ({ client }, { pk }) =>
      client.send(
        new QueryCommand({ TableName, ...ALL_OF_ONE, ExpressionAttributeValues: { ':pk': pk }, ConsistentRead: true }),
      ),
  ],
  [
    'a write whose condition fails takes the units of the stored row',
    ...([3 * KB, 3] as const),
    (to, row) =>
      expect(to.update(row, '', 'attribute_not_exists(pk)')).rejects.toThrow(
        expect.objectContaining({ name: 'ConditionalCheckFailedException' }),
      ),
  ],
  [
    'a batch of reads takes a unit for a missing row, and reports its units',
    ...([5 * KB, 3] as const),
    async (to, row) =>
      expect((await to.getAll([row, rowOf(100, row.pk)])).ConsumedCapacity).toMatchObject([{ CapacityUnits: 3 }]),
  ],
])('%s', async (_what, bytes, units, action) => {
  const [to, row] = [await connect(), await storedRow(bytes)];
  await action(to, row);
  const { read, write } = to.usageOf(row);
  expect(read + write).toBe(units);
});

it('a row has at most 400 KB, a transaction 4 MB together with the stored rows, and a batch 1 MB of one partition', async () => {
  const to = await connect();
  const invalid = { name: 'ValidationException' };
  await expect(to.put(rowOf(400 * KB + 1))).rejects.toMatchObject(invalid);
  const large = await Promise.all(Array.from({ length: 11 }, () => storedRow(395 * KB)));
  await expect(to.update(await storedRow(399 * KB), 'x'.repeat(400 * KB))).rejects.toMatchObject(invalid);
  await expect(to.transactUpdates(large, '')).rejects.toMatchObject(invalid);
  await to.transactUpdates(large.slice(0, 10), '');
  const ofOne = await Promise.all(Array.from({ length: 4 }, () => storedRow(300 * KB, 'one')));
  const { Responses, UnprocessedKeys } = await to.getAll(ofOne);
  expect([Responses?.[TableName]?.length, UnprocessedKeys?.[TableName]?.Keys?.length]).toEqual([3, 1]);
});

it('a partition key whose units are used up is throttled until units are granted again, while another has its own', async () => {
  // A hundredth of AWS's units, so that a few calls use them up.
  const to = await connect({ writeUnits: 10, readUnits: 30 });
  const [hot, cool, other] = [rowOf(100), rowOf(100), rowOf(100)];
  await to.put(rowOf(10 * KB, hot.pk));
  await to.get(await storedRow(30 * 4 * KB, hot.pk));
  const throttled = { name: 'ThrottlingException' };
  const ThrottlingReasons = [{ reason: 'TableWriteKeyRangeThroughputExceeded' }];
  await expect(to.put(hot)).rejects.toMatchObject({ ...throttled, ThrottlingReasons });
  await expect(to.get(hot)).rejects.toMatchObject(throttled);
  await to.put(cool);
  // It cancels a transaction, which writes nothing and is charged nothing.
  await expect(to.transactPuts([other, hot])).rejects.toMatchObject({
    ...{ name: 'TransactionCanceledException', CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }] },
  });
  expect([await stored(table, keyOf(other)), to.usageOf(other).write]).toEqual([undefined, 0]);
  // Its rows of a batch are left unprocessed; a batch that has no other rows is throttled.
  const UnprocessedItems = { [TableName]: [{ PutRequest: { Item: hot } }] };
  expect(await to.putAll([hot, cool])).toMatchObject({ UnprocessedItems });
  const UnprocessedKeys = { [TableName]: { Keys: [keyOf(hot)] } };
  expect(await to.getAll([hot, cool])).toMatchObject({ Responses: { [TableName]: [cool] }, UnprocessedKeys });
  for (const send of [to.putAll, to.getAll]) await expect(send([hot])).rejects.toMatchObject(throttled);
  const { throttled: times } = to.usageOf(hot);
  to.clock.now += 100;
  await to.put(hot);
  await expect(to.put(hot)).rejects.toMatchObject(throttled);
  expect(to.usageOf(hot)).toMatchObject({ write: 11, throttled: times + 1 });
});

it('a transaction or a write fails while another transaction writes its row', async () => {
  const to = await connect({ transactionMs: 2_000 });
  const [row, other] = [rowOf(100), rowOf(100)];
  const running = to.transactPuts([row]);
  const outcome = () =>
    to.put(row).then(
      () => 'written',
      ({ name }: Error) => name,
    );
  await expect.poll(outcome).toBe('TransactionConflictException');
  await expect(to.transactPuts([other, row])).rejects.toMatchObject({
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  });
  const UnprocessedItems = { [TableName]: [{ PutRequest: { Item: row } }] };
  expect(await to.putAll([other, row])).toMatchObject({ UnprocessedItems });
  await running;
  expect(await outcome()).toBe('written');
});
