import { createWriteStream, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { BODY_BOUNDS } from '../../../../lib/http/body.ts';
import { exceededBound } from '../../../../lib/shared/json.ts';
import { readSettings } from '../../../../lib/shared/settings.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { newCaller } from '../../../../test/support/accounts.ts';
import { type Answer, serve, serveAnswers } from '../../../../test/support/serve.ts';
import { newTable, stored } from '../../../../test/support/service.ts';
import { putAccount } from '../../../admin/accounts/accounts.ts';
import { serveTable } from '../../../local/test/support/start-service.ts';
import { runCommand, startCommand } from '../support/run-command.ts';

const { maxBodyBytes } = readSettings({ TABLE_NAME: 't' });
const folder = mkdtempSync(join(tmpdir(), 'records-'));
const alert = (index: number) => `{"kind":"alert","alert_key":"k${index}","title":"t","at_ms":1750000000000}`;
const alerts = (count: number) => Array.from({ length: count }, (_, index) => alert(index + 1));
const parsed = (texts: readonly string[]): unknown[] => texts.map((text) => JSON.parse(text));
const fileOf = (lines: readonly string[], name = 'records.ndjson') => {
  const file = join(folder, name);
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
};

const taken = (count: number): Answer => ({ body: { data: { accepted: count } } });
const failed = (code: string, status: number, message = 'no'): Answer => ({
  status,
  body: { error: { code, message } },
});

/** @param answerTo by default it takes all records */
async function feed(
  answerTo: (records: unknown[], call: number, body: string) => Answer | Promise<Answer> = (all) => taken(all.length),
) {
  const { url, bodies } = await serveAnswers(({ records }, call, body) => answerTo(records, call, body));
  return { url, bodies, sent: () => bodies.flatMap((body): unknown[] => JSON.parse(body).records) };
}

/** Runs the command. @returns without what it says only when a busy machine makes it wait */
async function run(...command: Parameters<typeof runCommand>) {
  const { err, ...ended } = await runCommand(...command);
  return { ...ended, err: err.replace(/^(Still waiting .*|\d+ records? sent.* After an interruption, .*)\n/gm, '') };
}

it('sends every record as it came, 1,000 in a call, and gives those without a time that of their sending', async () => {
  const { url, bodies, sent } = await feed();
  const odd =
    '{ "kind":"work_item","work_item_id":"w", "version":1.0,"x":[1e18,1e400,12345678901234567890.0],"at_ms":1e12}';
  const file = join(folder, 'odd.ndjson');
  writeFileSync(file, `\ufeff${odd}\r\n\r\n \t\n${alerts(2_300).join('\n')}\n{"kind":"member","name":"\\u2028"}`);
  const began = Date.now();
  expect(await run(['records', file], { url })).toEqual({ code: 0, out: '2302 records sent.\n', err: '' });
  expect(bodies.map((body) => JSON.parse(body).records.length).toSorted((a, b) => b - a)[0]).toBe(1_000);
  expect(bodies[0]).toContain(odd);
  expect(sent()).toHaveLength(2_302);
  const { at_ms, ...member } = sent().at(-1) as { at_ms: number };
  expect(member).toEqual({ kind: 'member', name: '\u2028' });
  expect(at_ms >= began && at_ms <= Date.now()).toBe(true);
});

it('keeps every call within the bounds of the service: bytes and values', async () => {
  const { url, bodies, sent } = await feed();
  const record = (more: object) => JSON.stringify({ kind: 'work_item', at_ms: 1_750_000_000_000, ...more });
  // 8,192 bytes, account and time not counted.
  const long = record({ account_id: 1, title: 'x'.repeat(8_192 - '{"kind":"work_item","title":""}'.length) });
  const manyValues = record({ list: Array(4_000).fill(1) });
  const file = fileOf([...Array(240).fill(long), ...Array(160).fill(manyValues)]);
  expect(await run(['records', file], { url })).toMatchObject({ code: 0, out: '400 records sent.\n' });
  expect(sent()).toHaveLength(400);
  for (const body of bodies) {
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxBodyBytes);
    expect(exceededBound(body, BODY_BOUNDS)).toBeUndefined();
  }
  expect(bodies.length).toBeLessThan(25);
});

it('sends halves to a service that takes less in a call', async () => {
  const { url, bodies } = await feed((all, _call, body) =>
    body.length > 20_000 ? failed('EntityTooLarge', 413) : taken(all.length),
  );
  const file = fileOf(alerts(700));
  expect(await run(['records', file], { url })).toMatchObject({ code: 0, out: '700 records sent.\n' });
  const accepted = bodies
    .filter((body) => body.length <= 20_000)
    .flatMap((body): unknown[] => JSON.parse(body).records);
  expect(accepted).toEqual(parsed(alerts(700)));
});

it('names each bad line with its number and the reason, and sends the others', async () => {
  const { url, sent } = await feed((all) => ({
    body: {
      data: { accepted: all.length - 12, refused: [{ index: 1, reason: 'title is required' }], refused_count: 12 },
    },
  }));
  const tooLong = `{"x":"${'é'.repeat(4_116)}"}`;
  const bad = ['{"kind":', '[1]', tooLong, `{"x":${'['.repeat(31)}${']'.repeat(31)}}`];
  const file = join(folder, 'bad.ndjson');
  const lines = [...bad, ...alerts(20)].map((line) => Buffer.from(`${line}\n`));
  writeFileSync(file, Buffer.concat([...lines, Buffer.from([0x7b, 0xff, 0x7d, 0x0a])]));
  const { code, out, err } = await run(['records', file], { url });
  expect(err.split('\n')).toEqual([
    expect.stringMatching(/bad.ndjson:1: is not JSON: /),
    expect.stringMatching(/bad.ndjson:2: is no JSON object$/),
    expect.stringMatching(/bad.ndjson:3: has more than 8192 bytes$/),
    expect.stringMatching(/bad.ndjson:4: has more than 31 levels$/),
    expect.stringMatching(/bad.ndjson:6: title is required$/),
    expect.stringMatching(/bad.ndjson:25: is not UTF-8$/),
    expect.stringMatching(/bad.ndjson: 11 more of the lines 1 to 25 were refused$/),
    '',
  ]);
  expect([code, out]).toEqual([1, '8 records sent, 17 refused.\n']);
  expect(sent()).toHaveLength(20);
});

it('prints a line of JSON for each call, and escapes what others wrote', async () => {
  const { url } = await feed(() => ({
    body: { data: { accepted: 1, refused: [{ index: 0, reason: 'a\u001b[2J\n' }], refused_count: 1 } },
  }));
  const { code, out, err } = await run(['records', fileOf(['x', ...alerts(2)]), '--json'], { url });
  expect([code, err]).toEqual([1, '']);
  expect(out).not.toMatch(/[^\P{C}\n]/u);
  expect(JSON.parse(out)).toEqual({
    ...{ first_line: 1, last_line: 3, accepted: 1, refused_count: 2 },
    refused: [
      { line: 1, reason: expect.stringContaining('is not JSON') },
      { line: 2, reason: 'a\u001b[2J\n' },
    ],
  });
});

describe('an interruption', () => {
  it('says from which line to go on, and --from-line does', async () => {
    const failing = await feed((all, call) => (call === 2 ? failed('InternalError', 500) : taken(all.length)));
    const file = fileOf(['', ...alerts(2_500)]);
    const { code, out, err } = await run(['records', file], { url: failing.url });
    expect([code, out]).toEqual([4, '']);
    const [, line] = /\n1000 records sent\. To go on, repeat the command with --from-line=(\d+)\n$/.exec(err) ?? [];
    expect(line).toBe('1002');
    const { url, sent } = await feed();
    const resumed = await run(['records', file, `--from-line=${line}`], { url });
    expect(resumed).toEqual({ code: 0, out: '1500 records sent.\n', err: '' });
    expect(sent()).toEqual(parsed(alerts(2_500).slice(1_000)));
  });

  it('by 503 is none: the same records are sent again', async () => {
    const busy = { ...failed('ServiceUnavailable', 503), headers: { 'Retry-After': '0' } };
    const { url, bodies } = await feed((all, call) => (call === 1 ? busy : taken(all.length)));
    const input = '{"kind":"member","name":"n"}\n';
    expect(await run(['records', '-'], { url, input })).toMatchObject({ code: 0, out: '1 record sent.\n' });
    expect(bodies).toEqual(Array(2).fill(bodies[0]));
  });

  it('by a refusal of the whole call ends the command', async () => {
    const { url } = await feed((all, call) => (call === 2 ? failed('Unauthorized', 401) : taken(all.length)));
    const { code, err } = await run(['records', fileOf(alerts(1_500)), '--json'], { url });
    expect([code, JSON.parse(err)]).toEqual([
      1,
      { error: expect.objectContaining({ code: 'Unauthorized', advice: expect.stringContaining('--from-line=1001') }) },
    ]);
  });

  it('by a kill leaves the line to go on with on standard error', async () => {
    const { url, sent } = await feed(async (all) => {
      await sleep(800);
      return taken(all.length);
    });
    const { child, printed, ended } = startCommand(['records', fileOf(alerts(9_000))], { url });
    await vi.waitFor(() => expect(printed.err).toMatch(/--from-line=\d+\n$/), 20_000);
    const [, line] =
      /^(?:.*\n)*\d+ records sent\. After an interruption, go on with --from-line=(\d+)\n$/.exec(printed.err) ?? [];
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({ code: null, out: '' });
    expect(parsed(alerts(Number(line) - 1))).toEqual(sent().slice(0, Number(line) - 1));
    expect(Number(line)).toBeGreaterThan(1_000);
  });

  it.each([
    ['while it waits for input', 1],
    ['during a call', 2],
  ])('by Ctrl-C %s ends the command at once', async (_when, lines) => {
    const calls: number[] = [];
    const { url } = await feed((all, call) => {
      calls.push(call);
      return call === 1 ? taken(all.length) : new Promise(() => {});
    });
    const { child, printed, ended } = startCommand(['records', '-', '--json'], { url });
    for (let line = 1; line <= lines; line += 1) {
      child.stdin?.write(`${alert(line)}\n`);
      await vi.waitFor(() => expect(calls).toHaveLength(line), 10_000);
    }
    await vi.waitFor(() => expect(printed.out).toContain('"accepted":1'), 10_000);
    child.kill('SIGINT');
    const { code, err } = await ended;
    const { code: what, advice } = JSON.parse(err).error;
    expect([code, what, advice]).toEqual([130, 'Stopped', expect.stringContaining('--from-line=2')]);
  });
});

it.each([
  [['records'], /records requires one FILE/],
  [['records', 'a', 'b'], /records requires one FILE/],
  [['records', 'no-such-file'], /no-such-file/],
  [['records', '.'], /\. is a folder/],
  [['records', '-', '--from-line', '0'], /--from-line must be at least 1/],
])('%j is wrong use', async (args, err) => {
  const { url, bodies } = await feed();
  expect(await run(args, { url })).toEqual({ code: 2, out: '', err: expect.stringMatching(err) });
  expect(bodies).toEqual([]);
});

it('needs no more memory for 180 MB, one line of which has 120 MB, than for a small file', async () => {
  const TELL = `data:text/javascript,${encodeURIComponent(`process.on('exit', () => console.error(process.resourceUsage().maxRSS))`)}`;
  // Else Node collects garbage late.
  const LIMITS = ['--max-old-space-size=40', '--max-semi-space-size=4'];
  const url = await serve(async (request, response) => {
    for await (const _chunk of request); // it keeps nothing
    response.end('{"request_id":"r","data":{"accepted":1}}');
  });
  const file = join(folder, 'large.ndjson');
  const block = Buffer.from(
    `${JSON.stringify({ kind: 'member', at_ms: 1e12, name: 'x'.repeat(20_000) })}\n`.repeat(50),
  );
  async function* blocks() {
    for (let index = 0; index < 60; index += 1) yield block;
    for (let index = 0; index < 120; index += 1) yield Buffer.alloc(1_000_000, 'y');
  }
  await pipeline(Readable.from(blocks()), createWriteStream(file));
  const kilobytesFor = async (path: string) => {
    const { err } = await run(['records', path], { url, nodeOptions: [...LIMITS, '--import', TELL] });
    return Number(/(\d+)\n$/.exec(err)?.[1]);
  };
  const [small, large] = [await kilobytesFor(fileOf(alerts(1_000))), await kilobytesFor(file)];
  expect(large - small).toBeLessThan(100_000);
});

describe('with the service itself', async () => {
  const table = await newTable();
  const service = await serveTable(table);
  afterAll(() => service.stop());
  const { account, appKey } = await newCaller(table);
  await putAccount(table, { account_id: account, name: 'Acme', permissions: ['feed'] });
  const member = (member_id: number, more: object = {}) =>
    JSON.stringify({ kind: 'member', member_id, name: 'n', ...more });

  it('writes the records, and names what the service refuses, also when it refuses all of a call', async () => {
    const bad = Array.from({ length: 12 }, () => member(1, { name: '' }));
    const mixed = await run(['records', fileOf([member(1), ...bad, member(2)])], { url: service.url, appKey });
    expect(mixed).toMatchObject({ code: 1, out: '2 records sent, 12 refused.\n' });
    expect(mixed.err).toMatch(
      /records\.ndjson:2: name .*\n(?:.*\n){8}.*records\.ndjson:11: name .*\n.*: 2 more of the lines 1 to 14 were refused\n$/,
    );
    await expect.poll(() => stored(table, keys.member(account, 2))).toMatchObject({ name: 'n' });
    const forged = 'x; records[11]: name. Nothing';
    const all = await run(['records', fileOf([member(1, { [forged]: 1 }), ...bad.slice(1)])], {
      url: service.url,
      appKey,
    });
    expect(all).toMatchObject({ code: 1, out: '0 records sent, 12 refused.\n' });
    const reason = /^records\.ndjson:2: (.*)$/m.exec(mixed.err.replaceAll(`${folder}/`, ''))?.[1];
    const unknown = `${forged} is not a field of this kind`;
    const expected = Array.from(
      { length: 10 },
      (_, index) => `records.ndjson:${index + 1}: ${index ? reason : unknown}`,
    );
    expect(all.err.replaceAll(`${folder}/`, '').split('\n')).toEqual([
      ...expected,
      'records.ndjson: 2 more of the lines 1 to 12 were refused',
      '',
    ]);
  });

  it('sent again, changes nothing', async () => {
    const file = fileOf([
      member(5, { at_ms: Date.now() - 2_000 }),
      member(5, { at_ms: Date.now() - 1_000, name: 'later' }),
    ]);
    const before = async () => stored(table, keys.member(account, 5));
    await run(['records', file], { url: service.url, appKey });
    await expect.poll(before).toMatchObject({ name: 'later' });
    await run(['records', file], { url: service.url, appKey });
    await run(['records', fileOf([member(6)])], { url: service.url, appKey });
    await expect.poll(() => stored(table, keys.member(account, 6))).toBeDefined();
    expect(await before()).toMatchObject({ name: 'later' });
  });
});
