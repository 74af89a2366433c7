/** Compares the limits of the proxy with the rules that AWS documents. The clock of its buckets stands still unless a test moves it. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { connectTable, type Table, withSignal } from '../../../lib/table/client.ts';
import { EXISTS, IS_NEW, set } from '../../../lib/table/expression.ts';
import { batchGet, getRow, queryRange, queryRows } from '../../../lib/table/read.ts';
import { deleteRow, putAction, putRow, transactOnce, updateAction, updateRow } from '../../../lib/table/write.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { startLimitsProxy } from '../../limits-proxy/limits-proxy.ts';
import { dynamodbEndpoint } from '../../support/dynamodb-local.ts';
import { newTable, PATIENCE, put } from '../../support/service.ts';

const KB = 1024;
const direct = await newTable();
const { name } = direct;
let rows = 0;

/** A row of exactly this many bytes, its key included; by default of a partition that has all its units. */
function rowOf(bytes: number, pk = `p${Math.random()}`) {
  rows += 1;
  const empty = { pk, sk: `row ${rows}`, text: '' };
  return { ...empty, text: 'x'.repeat(bytes - itemBytes(marshall(empty))) };
}
type Row = ReturnType<typeof rowOf>;
const keyOf = ({ pk, sk }: Row) => ({ pk, sk });
async function storedRow(bytes: number): Promise<Row> {
  const row = rowOf(bytes);
  await put(direct, row, row);
  return row;
}

/** A client of the table behind a proxy with these limits, until the test ends. */
async function limited(limits: Parameters<typeof startLimitsProxy>[1] = {}) {
  const clock = { ms: 0 };
  const { endpoint, usages, close } = await startLimitsProxy(dynamodbEndpoint(), limits, () => clock.ms);
  const table = connectTable({ name, endpoint, maxAttempts: 1, timeouts: PATIENCE });
  onTestFinished(async () => {
    table.client.destroy();
    await close();
  });
  return { table, clock, usage: ({ pk }: Row) => usages().get(`${name} ${pk}`) };
}

it.each<[what: string, bytes: number, units: number, call: (table: Table, row: Row) => Promise<unknown>]>([
  ['a put takes the KB of its row, rounded up', 100, 2, (table, { pk }) => putRow(table, rowOf(KB + 1, pk))],
  [
    'an update takes the KB of the row and of its values',
    100,
    4,
    (table, row) => updateRow(table, keyOf(row), set({ text: 'x'.repeat(3 * KB) })),
  ],
  [
    'an update whose condition fails takes the same',
    3 * KB - 100,
    3,
    (table, row) => updateRow(table, keyOf(row), set({ text: '' }), IS_NEW),
  ],
  ['a deletion takes the KB of the stored row', 3 * KB, 3, (table, row) => deleteRow(table, keyOf(row), EXISTS)],
  ['a consistent read takes a unit for each 4 KB', 4 * KB + 1, 2, (table, row) => getRow(table, keyOf(row))],
  ['a query takes the units of all that it reads', 5 * KB, 2, (table, { pk }) => queryRows(table, pk)],
  [
    'a query that may be stale takes half of that',
    5 * KB,
    1,
    (table, { pk }) => queryRange(table, pk, { after: undefined, limit: 9 }, 'sk', []),
  ],
  [
    'a batch of reads takes a unit for a missing row',
    5 * KB,
    3,
    (table, row) => batchGet(table, [keyOf(row), { ...keyOf(row), sk: 'missing' }]),
  ],
  [
    'a transaction takes twice the units of its rows',
    100,
    4,
    (table, { pk }) => transactOnce(table, [putAction(rowOf(1_500, pk))]),
  ],
])('%s', async (_what, bytes, units, call) => {
  const { table, usage } = await limited();
  const row = await storedRow(bytes);
  const result = await call(table, row);
  const { read = 0, write = 0 } = usage(row) ?? {};
  expect(read + write).toBe(units);
  // The units are reported, too.
  expect(result).toMatchObject((result as { batches?: [] }).batches ? { batches: [{ units }] } : {});
});

it('a transaction has at most 4 MB together with the stored rows, even if its request is small', async () => {
  const { table } = await limited();
  const large = await Promise.all(Array.from({ length: 11 }, () => storedRow(395 * KB)));
  const actions = large.map((row) => updateAction(keyOf(row), set({ text: '' })));
  expect(await transactOnce(table, actions)).toMatchObject({ outcome: 'refused' });
  expect(await transactOnce(table, actions.slice(1))).toMatchObject({ outcome: 'applied' });
});

it('a partition key has the units of a second; once they are used up it is throttled until new ones come', async () => {
  const { table, clock, usage } = await limited({ writeUnits: 10, readUnits: 30 });
  const [hot, cool] = [await storedRow(30 * 4 * KB), await storedRow(100)];
  await getRow(table, keyOf(hot));
  await putRow(table, rowOf(10 * KB, hot.pk));
  const [small, other] = [rowOf(100, hot.pk), rowOf(100, cool.pk)];
  const throttled = { name: 'ThrottlingException' };
  for (const call of [() => putRow(table, small), () => getRow(table, keyOf(hot))])
    await expect(call()).rejects.toMatchObject(throttled);
  // A cancelled transaction writes nothing, and is charged nothing.
  expect(await transactOnce(table, [putAction(other), putAction(small)])).toEqual({ outcome: 'throttled' });
  expect([await getRow(direct, keyOf(other)), usage(cool)?.write]).toEqual([undefined, 0]);
  await putRow(table, other);
  clock.ms += 100;
  await putRow(table, small);
  await expect(putRow(table, small)).rejects.toMatchObject(throttled);
  expect(usage(hot)).toEqual({ read: 30, write: 11, throttled: 4 });
});

it('a batch of reads leaves the rows of a throttled partition key unprocessed', async () => {
  const { table, clock, usage } = await limited({ readUnits: 30 });
  const [hot, cool] = [await storedRow(30 * 4 * KB), await storedRow(100)];
  await getRow(table, keyOf(hot));
  const found = batchGet(withSignal(table, AbortSignal.timeout(60_000)), [keyOf(hot), keyOf(cool)]);
  await expect.poll(() => [usage(hot)?.throttled !== 0, usage(cool)?.read]).toEqual([true, 1]);
  clock.ms += 1_000;
  expect((await found).rows.size).toBe(2);
});

it('a transaction or a write fails while another transaction writes its row', async () => {
  const { table } = await limited({ transactionMs: 1_000 });
  const [row, otherRow] = [rowOf(100), rowOf(100)];
  const running = transactOnce(table, [putAction(row)]);
  const outcome = () =>
    putRow(table, row).then(
      ({ done }) => done,
      (error: Error) => error.name,
    );
  await expect.poll(outcome).toBe('TransactionConflictException');
  expect(await transactOnce(table, [putAction(otherRow), putAction(row)])).toEqual({ outcome: 'conflict' });
  await running;
  expect(await outcome()).toBe(true);
});
