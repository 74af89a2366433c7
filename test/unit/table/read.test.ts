import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { type Key, keys } from '../../../lib/table/keys.ts';
import { batchGet, rowName } from '../../../lib/table/read.ts';
import { connectDouble, type KeysAndAttributes } from '../../table-double/client.ts';

const alertKeys = (count: number) =>
  Array.from({ length: count }, (_, index) => keys.alert(1, String(index).padStart(24, '0')));
const throttled = () => Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });

/** A table in which every row exists. @param process returns how many of a call's keys are processed, or throws */
function tableThat(process: (keys: readonly Key[], call: number) => number | Promise<number>): Table {
  let calls = 0;
  return connectDouble(async ({ input }) => {
    calls += 1;
    const [[name, { Keys, ...rest }]] = Object.entries(input.RequestItems) as [[string, KeysAndAttributes]];
    const count = await process(Keys, calls);
    const left = count < Keys.length ? { [name]: { ...rest, Keys: Keys.slice(count) } } : {};
    const Responses = { [name]: Keys.slice(0, count).map((key) => ({ ...key, title: 't' })) };
    return { Responses, UnprocessedKeys: left, ConsumedCapacity: [{ CapacityUnits: count }] };
  });
}

function waitNever() {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
}

it('1,701 keys are read a hundred a call, 16 calls at once', async () => {
  let [underWay, mostAtOnce] = [0, 0];
  const table = tableThat(async ({ length }) => {
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    await turn();
    underWay -= 1;
    return length;
  });
  const wanted = alertKeys(1_701);
  const { rows, units } = await batchGet(table, wanted);
  expect(new Set(rows.keys())).toEqual(new Set(wanted.map(rowName)));
  expect(units).toBe(1_701);
  expect(mostAtOnce).toBe(16);
});

it('a batch asks again while DynamoDB throttles, and for the keys that it leaves unprocessed', async () => {
  waitNever();
  const table = tableThat(({ length }, call) => {
    if (call <= 5) throw throttled();
    return Math.ceil(length * 0.4);
  });
  const wanted = alertKeys(100);
  const { rows, units } = await batchGet(table, wanted, { attributes: ['title'] });
  expect(wanted.map((key) => rows.of(key)?.title)).toEqual(Array(100).fill('t'));
  expect(units).toBe(100);
});

it.each<[what: string, process: () => number]>([
  ['keys stay unprocessed', () => 0],
  [
    'it is throttled',
    () => {
      throw throttled();
    },
  ],
])(
  'a batch gives up if %s: without a signal after many attempts, otherwise when that aborts',
  async (_what, process) => {
    waitNever();
    const name = 'ProvisionedThroughputExceededException';
    await expect(batchGet(tableThat(process), alertKeys(1))).rejects.toMatchObject({ name });
    const aborted = withSignal(tableThat(process), AbortSignal.timeout(100));
    await expect(batchGet(aborted, alertKeys(1))).rejects.toThrow(/abort/);
  },
);
