import { expect, it } from 'vitest';
import { isAsRead, isBelow, set } from '../../../lib/table/expression.ts';
import { updateRow } from '../../../lib/table/write.ts';
import { newDouble, put, stored } from '../../support/service.ts';

const key = { pk: 'p', sk: 's' };

it('a row counts as it was read if it exists, with the attributes that it had and without those that it lacked', async () => {
  const table = newDouble();
  const update = async (read: { title?: string; owner?: number }) =>
    (await updateRow(table, key, set({ done: 1 }), isAsRead(read, ['title', 'owner']))).done;
  expect(await update({})).toBe(false);
  await put(table, key, { title: 't' });
  expect([await update({ title: 'x' }), await update({ title: 't', owner: 1 })]).toEqual([false, false]);
  expect(await update({ title: 't' })).toBe(true);
});

it('an update sets attributes, removes undefined ones, and sets initial values only where there is none', async () => {
  const table = newDouble();
  await put(table, key, { a: 1, b: 1, c: 1 });
  const update = set({ a: 2, b: undefined }, { c: 5, d: 6, e: undefined });
  const isDone = async (bound: number) => (await updateRow(table, key, update, isBelow('a', bound))).done;
  expect([await isDone(1), await isDone(2)]).toEqual([false, true]);
  expect(await stored(table, key)).toEqual({ ...key, a: 2, c: 1, d: 6 });
});
