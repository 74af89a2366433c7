import { describe, expect, it } from 'vitest';
import { createFunction, type FunctionSource } from '../../local-functions.ts';

/** A function whose module has this source. */
const functionFrom = (source: string): FunctionSource => ({
  entry: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
  env: {},
  timeoutMs: 1_000,
});
const handler = (body: string) => `export const handler = ${body};`;

describe('a local function', () => {
  it('gets its event and returns its result as JSON, and is told the remaining time', async () => {
    const body =
      'async (e, context) => (e.seen = true, { ...e, none: undefined, hasTime: context.getRemainingTimeInMillis() > 0 })';
    const event = { date: new Date(0) };
    expect(await createFunction(functionFrom(handler(body))).invoke(event)).toEqual({
      date: '1970-01-01T00:00:00.000Z',
      seen: true,
      hasTime: true,
    });
    expect(event).toEqual({ date: new Date(0) });
  });

  it('fails with the error of its handler, or with the reason why it cannot be loaded', async () => {
    const throwing = createFunction(functionFrom(handler("async () => { throw new Error('x') }")));
    await expect(throwing.invoke({})).rejects.toThrow('x');
    const broken = createFunction(functionFrom("throw new Error('no such table')"));
    await expect(broken.invoke({})).rejects.toThrow('no such table');
  });

  it('reads its own environment when it is imported', async () => {
    const source = functionFrom(`const read = [process.env.A, process.env.B]; ${handler('async () => read')}`);
    const first = createFunction({ ...source, env: { A: 'a' } });
    const second = createFunction({ ...source, env: { B: 'b' } });
    const values = await Promise.all([first.invoke({}), second.invoke({})]);
    expect(values).toEqual([
      ['a', null],
      [null, 'b'],
    ]);
    expect([process.env.A, process.env.B]).toEqual([undefined, undefined]);
  });
});
