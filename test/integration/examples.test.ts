/** The examples for Node and for a shell, and the client's command: what they send, what they say, and their exit codes. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../lib/shared/settings.ts';
import { EXIT } from '../../packages/client/src/command/exit-codes.ts';
import { runProgram } from '../../packages/client/test/support/run-command.ts';
import { textOf } from '../support/documents.ts';
import { type Answer, serveAnswers } from '../support/serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'examples-'));
const INCIDENT = 'a'.repeat(24);
let files = 0;
function fileOf(text: string): string {
  files += 1;
  const file = join(folder, `${files}.txt`);
  writeFileSync(file, text);
  return file;
}

/** A service that gives these answers, the last one to all further calls. */
const service = (...answers: Answer[]) =>
  serveAnswers((_request, call) => answers[Math.min(call, answers.length) - 1] ?? { body: '' });
const refusal = (code: string, message: string, status: number) => ({ status, body: { error: { code, message } } });
const merged = { body: { data: null } };

const OWN_CLIENT = `import { registerHooks } from 'node:module'; registerHooks({ resolve: (name, context, next) =>
  next(name === 'incident-monitoring-rum-client' ? '${new URL('../../packages/client/src/index.ts', import.meta.url)}' : name, context) })`;
const node = (example: string) => [
  ...[process.execPath, '--import', `data:text/javascript,${encodeURIComponent(OWN_CLIENT)}`],
  `examples/node/${example}.mjs`,
];
const bash = (example: string) => ['bash', `examples/shell/${example}.sh`];
const command = (name: string) => [process.execPath, 'packages/client/src/cli.ts', name];

const run = (words: readonly string[], url: string, appKey = 'secret') => runProgram(words, { url, appKey });
/** Without a character that commands a terminal. */
const ONE_LINE = /^\P{C}+\n$/u;

/** How each program merges the alerts of a file. */
const MERGES: [name: string, words: (file: string) => string[]][] = [
  ['merge-from-file.mjs', (file) => [...node('merge-from-file'), INCIDENT, file]],
  ['merge-from-file.sh', (file) => [...bash('merge-from-file'), INCIDENT, file]],
];
const FLEETS: typeof MERGES = [
  ['stale-hosts.mjs', () => node('stale-hosts')],
  ['stale-hosts.sh', () => bash('stale-hosts')],
  ['the command fleet', () => [...command('fleet'), '--status', 'stale']],
];
const FOUND: typeof MERGES = [['merge-found.sh', () => [...bash('merge-found'), 'disk', 'Disk']]];
const WATCHES: [name: string, words: (limit: string) => string[]][] = [
  ['watch-fleet.mjs', (limit) => [...node('watch-fleet'), limit]],
  ['watch-fleet.sh', (limit) => [...bash('watch-fleet'), limit]],
];

it.each(MERGES)(
  '%s merges as many alerts as the service takes in a call, and counts an id once',
  async (_name, words) => {
    const { maxBodyBytes } = readSettings({ TABLE_NAME: 't' });
    const bytesOf = (ids: string[]) => Buffer.byteLength(JSON.stringify({ alert_ids: ids, incident_id: INCIDENT }));
    const count = 1 + Math.floor((maxBodyBytes - bytesOf(['0'.repeat(24)])) / 27);
    const ids = Array.from({ length: count }, (_, index) => (index * 7_919 + 0xabcdef).toString(16).padStart(24, '0'));
    expect([bytesOf(ids) <= maxBodyBytes, bytesOf([...ids, ids[0] ?? '']) <= maxBodyBytes]).toEqual([true, false]);
    // With CRLF, a byte order mark and blank lines.
    const file = fileOf(`\ufeff\r\n${[...ids, ...ids.map((id) => id.toUpperCase())].join('\r\n \t\r\n')}\r\n`);
    const { url, bodies } = await service(merged);
    expect(await run(words(file), url)).toEqual({ code: 0, out: `${count} alerts merged\n`, err: '' });
    expect(bodies.map((body) => JSON.parse(body))).toEqual([{ alert_ids: ids, incident_id: INCIDENT }]);
    expect(Buffer.byteLength(bodies[0] ?? '')).toBeLessThanOrEqual(maxBodyBytes);
    expect(existsSync(`${file}.key`)).toBe(false);
  },
);

it.each(FLEETS.slice(0, 2))('%s makes CSV in which nothing hides, and nothing is a formula', async (_name, words) => {
  const servicemap = { status: 'stale', enabled: true, max_age_ms: 5 };
  const ids = [
    'web 1',
    '=1+1',
    'say "hi", 東京',
    'a\u3164b\u2800c\u00a0d\ufe0f',
    '\u202e\u{e0041}\u200b\u001b',
    '\t=1',
  ];
  const items = ids.map((host_id) => ({ host_id, edge_cluster: '@c', agent_version: '1', servicemap }));
  const { url } = await service({ body: { data: { items } } });
  const { out } = await run(words(''), url);
  const shown = ['web 1', "'=1+1", 'say ""hi"", 東京', 'a?b?c?d?', '????', '?=1'];
  const [, ...rows] = out.trimEnd().split('\n');
  expect(rows.map((row) => row.replace(/"?5"?$/, '5'))).toEqual(shown.map((id) => `"${id}","'@c","1",5`));
});

describe('merge-found.sh', () => {
  const hostile = 'Disk "full" $(id) \u001b[2J\u202e\n\\ 東京';
  const shown = 'Disk "full" $(id) ?[2J??\\ 東京';
  const items = (items: object[], search_after_ctx?: string) => ({ body: { data: { items, search_after_ctx } } });
  const incident = (digit: string) => ({ incident_id: digit.repeat(24), title: hostile });
  const alert = (digit: string, title: string, more: object = {}) => ({
    ...{ alert_id: digit.repeat(24), alert_key: 'k', alert_status: 'Ok', title, incident: { incident_id: INCIDENT } },
    ...more,
  });
  const runIt = (url: string, ...args: string[]) => run([...bash('merge-found'), ...args], url);

  it('finds the incident and the alerts, merges and shows them', async () => {
    const other = { incident: { incident_id: 'c'.repeat(24) } };
    const found = [alert('1', hostile, other), alert('2', 'x', { ...other, alert_key: '$(ID) "\\"' })];
    const { url, bodies } = await service(
      ...[items([], 'more'), items([incident('a')])],
      ...[items([found[0] ?? {}, alert('3', hostile)], 'next "'), items([alert('4', 'net', other), found[1] ?? {}])],
      ...[merged, items([alert('1', hostile), alert('2', 'x')])],
    );
    const text = '$(id) "\\"\u001b 東京';
    expect(await runIt(url, text, '$(Id) ', '2')).toEqual({
      code: 0,
      err: '',
      out: [
        `2 merged into ${INCIDENT}  ${shown}`,
        `${'1'.repeat(24)}  Ok  ${shown}  (incident ${INCIDENT})`,
        `${'2'.repeat(24)}  Ok  x  (incident ${INCIDENT})\n`,
      ].join('\n'),
    });
    const [first, second, third, fourth, merge, last] = bodies.map((body) => JSON.parse(body));
    expect([first, second]).toEqual(
      ['', 'more'].map((search_after_ctx) => ({ query: text, limit: 100, search_after_ctx })),
    );
    const { start_time, end_time } = third;
    expect([end_time - start_time, Math.abs(Date.now() / 1_000 - end_time) < 60]).toEqual([7_201, true]);
    expect(fourth).toEqual({ start_time, end_time, limit: 100, search_after_ctx: 'next "' });
    const alert_ids = found.map(({ alert_id }) => alert_id);
    expect(merge).toEqual({ alert_ids, incident_id: INCIDENT });
    expect(last).toEqual({ alert_ids, limit: 100, search_after_ctx: '' });
  });

  it.each([
    ['no incident', [items([])], /^The text must be in the title of one incident, and is in 0\n$/],
    [
      'two incidents',
      [items([incident('a'), incident('b')])],
      /^The text .* in 2\na{24} {2}Disk [^\p{Cc}]*\nb{24} .*\n$/u,
    ],
    [
      'no alert',
      [items([incident('a')]), items([alert('1', 'Disk')])],
      /^No alert outside the incident has the text\n$/,
    ],
  ])('merges nothing if it finds %s', async (_what, answers, err) => {
    const { url, bodies } = await service(...answers);
    expect(await runIt(url, 'disk', 'disk')).toEqual({ code: 1, out: '', err: expect.stringMatching(err) });
    expect(bodies).toHaveLength(answers.length);
  });
});

describe('exit codes', () => {
  it('are those of docs/api.md', () => {
    const codes = [...textOf('docs/api.md').matchAll(/^- (\d+): /gm)].map(([, code]) => Number(code));
    expect(codes).toEqual([0, ...Object.values(EXIT)]);
  });

  const ids = () => fileOf(`${'b'.repeat(24)}\n`);
  const NO_SERVICE = 'http://127.0.0.1:65535';

  it.each([...MERGES, ...FLEETS, ...FOUND, ...WATCHES.map(([name, words]) => [name, () => words('5')] as const)])(
    '%s: 1 if the service refuses, 4 if it cannot be reached or has failed, each with one line',
    async (_name, words) => {
      const hostile = '\u001b[2J\u202e no';
      const { url } = await service(refusal('Unauthorized', hostile, 401));
      const { err, ...ended } = await run(words(ids()), url);
      expect(ended).toEqual({ code: EXIT.failed, out: expect.stringMatching(/^(host_id.*\n)?$/) });
      expect(err).toMatch(/^Unauthorized: .* no/);
      expect(err.replace(/^Check APP_KEY.*\n/m, '')).toMatch(ONE_LINE);
      const failed = await service(refusal('InternalError', 'broken', 500));
      expect(await run(words(ids()), failed.url)).toMatchObject({ code: EXIT.unavailable });
      const dead = await run(words(ids()), NO_SERVICE);
      expect(dead).toMatchObject({ code: EXIT.unavailable, err: expect.stringMatching(/127\.0\.0\.1/) });
      expect(dead.err.split('\n').filter((line) => !/^(Check|The merge may) /.test(line))).toHaveLength(2);
      const other = await service({ body: '<html>' });
      expect(await run(words(ids()), other.url)).toMatchObject({
        code: EXIT.failed,
        err: expect.not.stringMatching(/\n\s+at /),
      });
    },
  );

  type Misuse = [name: string, words: () => string[], message: RegExp];
  it.each<Misuse>([
    ...MERGES.flatMap(([name, words]): Misuse[] => [
      [`${name}, a file that is missing`, () => words(join(folder, 'missing')), /missing/],
      [`${name}, a folder`, () => words(folder), /./],
      [`${name}, an empty file`, () => words(fileOf(' \n')), /./],
    ]),
    ['merge-from-file.mjs', () => node('merge-from-file'), /^Usage: /],
    ['merge-from-file.sh', () => bash('merge-from-file'), /^Usage: /],
    ...[['disk'], ['', 'disk'], ['disk', 'disk', '0'], ['disk', 'disk', '1; x'], ['disk', 'disk', '744']].map(
      (args): Misuse => [`merge-found.sh ${args}`, () => [...bash('merge-found'), ...args], /^Usage: /],
    ),
    ...WATCHES.flatMap(([name, words]) =>
      ['', 'x', '101', '-1', '1e1'].map(
        (limit): Misuse => [`${name}, the limit "${limit}"`, () => words(limit), /^Usage: /],
      ),
    ),
  ])('%s: 2, and nothing is sent', async (_name, words, message) => {
    const { url, bodies } = await service(merged);
    const { code, out, err } = await run(words(), url);
    expect({ code, out }).toEqual({ code: EXIT.wrongUse, out: '' });
    expect(err).toMatch(message);
    expect(err.replace(/^See .*\n/m, '')).toMatch(ONE_LINE);
    expect([bodies, existsSync(join(folder, 'missing.key'))]).toEqual([[], false]);
  });

  it.each([...MERGES, ...FLEETS, ...FOUND])(
    '%s: 2 without APP_KEY, or with an address that is none',
    async (_name, words) => {
      const file = ids();
      expect(await run(words(file), NO_SERVICE, '')).toMatchObject({ code: 2, err: expect.stringMatching(/APP_KEY/) });
      expect(await run(words(file), 'nonsense://x')).toMatchObject({ code: 2, err: expect.stringMatching(/./) });
    },
  );

  it.each(WATCHES)('%s watches the fleet: 3 if more than N percent are stale, else 0', async (_name, words) => {
    const page = (returned: number, stale: number, next_cursor?: string) => ({
      body: { data: { items: [], coverage: { returned, states: { stale } }, next_cursor } },
    });
    for (const [limit, expected] of [
      ['10', 0],
      ['9.9', EXIT.found],
    ] as const) {
      const { url } = await service(page(100, 15, 'next'), page(100, 5));
      const { code, out, err } = await run(words(limit), url);
      expect([code, out, err]).toEqual([expected, expect.stringMatching(/^20 of 200 hosts are stale/), '']);
    }
    const empty = await service(page(0, 0));
    expect(await run(words('0'), empty.url)).toMatchObject({ code: 0 });
  });

  it.each(MERGES)('%s: 0 after a 503 with Retry-After', async (_name, words) => {
    const busy = { ...refusal('ServiceUnavailable', 'busy', 503), headers: { 'Retry-After': '1' } };
    const { url, bodies } = await service(busy, merged);
    expect(await run(words(ids()), url)).toMatchObject({ code: 0, out: '1 alert merged\n' });
    expect(bodies).toHaveLength(2);
  });
});
