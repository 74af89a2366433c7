import { expect, it } from 'vitest';
import { createFunction } from '../../local-functions.ts';

const functionFrom = (source: string, env: Record<string, string> = {}) =>
  createFunction({ entry: new URL(`data:text/javascript,${encodeURIComponent(source)}`), env, timeoutMs: 1_000 });

it('a local function gets its event and returns its result as JSON, and is told the remaining time', async () => {
  const handle =
    'async (e, { getRemainingTimeInMillis: ms }) => (e.seen = true, { ...e, none: undefined, hasTime: ms() > 0 && ms() <= 1000 })';
  const event = { date: new Date(0) };
  const result = { date: '1970-01-01T00:00:00.000Z', seen: true, hasTime: true };
  expect(await functionFrom(`export const handler = ${handle};`)(event)).toEqual(result);
  expect(event).toEqual({ date: new Date(0) });
});

it.each(["export const handler = async () => { throw new Error('why') };", "throw new Error('why')"])(
  'a local function fails with the error of its handler, or the reason why it cannot be loaded: %s',
  async (source) => {
    await expect(functionFrom(source)({})).rejects.toThrow('why');
  },
);

it('local functions read their own environment when they are imported', async () => {
  const source = 'const read = [process.env.A, process.env.B]; export const handler = async () => read;';
  const functions = [functionFrom(source, { A: 'a' }), functionFrom(source, { B: 'b' })];
  expect(await Promise.all(functions.map((invoke) => invoke({})))).toEqual([
    ['a', null],
    [null, 'b'],
  ]);
  expect([process.env.A, process.env.B]).toEqual([undefined, undefined]);
});
