import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createFunction, type FunctionSource } from '../../local-functions.ts';

/** A function with this source; `write` changes it. */
function written(source: string): FunctionSource & { write(source: string): void } {
  const folder = mkdtempSync(join(tmpdir(), 'function-'));
  const write = (text: string) => writeFileSync(join(folder, 'function.mjs'), text);
  write(source);
  return { entry: pathToFileURL(join(folder, 'function.mjs')), env: {}, timeoutMs: 1_000, write };
}
const handler = (body: string) => `export const handler = ${body};`;

describe('a local function', () => {
  it('gets its event and returns its result as JSON, and has time left', async () => {
    const body =
      'async (e, context) => (e.seen = true, { ...e, none: undefined, left: context.getRemainingTimeInMillis() > 0 })';
    const event = { date: new Date(0) };
    expect(await createFunction(written(handler(body))).invoke(event)).toEqual({
      date: '1970-01-01T00:00:00.000Z',
      seen: true,
      left: true,
    });
    expect(event).toEqual({ date: new Date(0) });
  });

  it('fails with the error of its handler, and with the reason that it cannot be loaded', async () => {
    const throwing = createFunction(written(handler("async () => { throw new Error('x') }")));
    await expect(throwing.invoke({})).rejects.toThrow('x');
    const broken = createFunction(written("throw new Error('no such table')"));
    await expect(broken.invoke({})).rejects.toThrow('no such table');
  });

  it('is loaded by the next call when it could not be loaded before', async () => {
    const source = written(handler(''));
    const running = createFunction(source);
    await expect(running.invoke({})).rejects.toThrow();
    source.write(handler('async () => 1'));
    expect(await running.invoke({})).toBe(1);
  });

  it('reads its own environment when it is imported', async () => {
    const source = written(`const read = [process.env.A, process.env.B]; ${handler('async () => read')}`);
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
