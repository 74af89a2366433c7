import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startFunctionProcess } from '../../function-process.ts';
import { type FunctionSource, startFunction } from '../../local-functions.ts';

/** A function with this source; `write` changes a file of it. */
function written(source: string): FunctionSource & { write(source: string, file?: string): void } {
  const folder = mkdtempSync(join(tmpdir(), 'function-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (text: string, file = 'function.mjs') => writeFileSync(join(folder, file), text);
  write(source);
  return { entry: pathToFileURL(join(folder, 'function.mjs')), env: {}, timeoutMs: 1_000, write };
}
const handler = (body: string) => `export const handler = ${body};`;

describe.each([
  ['in this process', startFunction],
  ['in a process of its own', (source: FunctionSource) => startFunctionProcess(source, 1)],
])('a local function %s', (_where, startAnywhere) => {
  const start = (source: FunctionSource) => {
    const running = startAnywhere(source);
    onTestFinished(() => running.stop());
    return running;
  };

  it('gets its event and returns its result as JSON, and has time left', async () => {
    const body =
      'async (e, context) => (e.seen = true, { ...e, none: undefined, left: context.getRemainingTimeInMillis() > 0 })';
    const event = { date: new Date(0) };
    expect(await start(written(handler(body))).invoke(event)).toEqual({
      date: '1970-01-01T00:00:00.000Z',
      seen: true,
      left: true,
    });
    expect(event).toEqual({ date: new Date(0) });
  });

  it('fails with the error of its handler, and with the reason that it cannot be loaded', async () => {
    const throwing = start(written(handler("async () => { throw new Error('x') }")));
    await expect(throwing.invoke({})).rejects.toThrow('x');
    const broken = start(written("throw new Error('no such table')"));
    await expect(broken.invoke({})).rejects.toThrow('no such table');
  });

  it('is loaded by the next call when it could not be loaded before', async () => {
    const source = written(handler(''));
    const running = start(source);
    await expect(running.invoke({})).rejects.toThrow();
    source.write(handler('async () => 1'));
    expect(await running.invoke({})).toBe(1);
  });

  it('answers as before until it is loaded again, and if that fails', async () => {
    const source = written(handler('async () => 1'));
    const running = start(source);
    const values = [await running.invoke({})];
    source.write(handler('async () => 2'));
    values.push(await running.invoke({}));
    await running.load();
    values.push(await running.invoke({}));
    source.write(handler(''));
    await expect(running.load()).rejects.toThrow('Unexpected token');
    values.push(await running.invoke({}));
    expect(values).toEqual([1, 1, 2, 2]);
  });

  it('reads its own environment when it is imported', async () => {
    const source = written(`const read = [process.env.A, process.env.B]; ${handler('async () => read')}`);
    const first = start({ ...source, env: { A: 'a' } });
    const second = start({ ...source, env: { B: 'b' } });
    const values = await Promise.all([first.invoke({}), second.invoke({})]);
    expect(values).toEqual([
      ['a', null],
      [null, 'b'],
    ]);
    expect([process.env.A, process.env.B]).toEqual([undefined, undefined]);
  });
});

it('a function is loaded again with what it imports', async () => {
  const source = written(`import { value } from './value.mjs'; ${handler('async () => value')}`);
  source.write('export const value = 1;', 'value.mjs');
  // In a process of its own modules are imported by Node, not by the test runner.
  const running = startFunctionProcess(source, 1);
  onTestFinished(() => running.stop());
  expect(await running.invoke({})).toBe(1);
  source.write('export const value = 2;', 'value.mjs');
  await running.load();
  expect(await running.invoke({})).toBe(2);
});

it('a function whose process ends gets another for the next call', async () => {
  const running = startFunctionProcess(written(handler('async (event) => event.die ? process.exit(1) : event')), 1);
  onTestFinished(() => running.stop());
  await expect(running.invoke({ die: true })).rejects.toThrow('ended');
  expect(await running.invoke({ n: 1 })).toEqual({ n: 1 });
});
