import { describe, expect, it } from 'vitest';
import { operations } from '../../../../lib/operations/index.ts';
import { serve } from '../../../../test/support/serve.ts';
import { runCommand } from '../support/run-command.ts';

const id = (digit: string) => digit.repeat(24);

/** A service that gives one answer to all calls. `calls` are their paths and requests, `bodies` the texts of these. */
async function serviceWith(answer: object, status = 200) {
  const calls: [path: string, request: object][] = [];
  const bodies: string[] = [];
  const url = await serve(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://service');
    const body = (await Array.fromAsync(request)).join('');
    calls.push([pathname, JSON.parse(body)]);
    bodies.push(body);
    response.writeHead(status).end(JSON.stringify({ request_id: 'r', ...answer }));
  });
  return { calls, bodies, url };
}

const run = (args: readonly string[], url: string, appKey = 'secret') => runCommand(args, { url, appKey });

describe('the command', () => {
  const FLEET = '/monit/servicemap/fleet';
  const fleet = { items: [{ host_id: 'h', servicemap: { status: 'no_data', enabled: true } }] };
  const filters = ['--status', 'no_data', '--agent-version', '1', '--edge-cluster', 'c', '--capture-mode', 'ebpf'];
  const filtered = { statuses: ['no_data'], agent_versions: ['1'], edge_clusters: ['c'], capture_modes: ['ebpf'] };
  const LIST = '/alert/list';
  const opened = {
    alert_id: id('d'),
    alert_key: 'disk',
    alert_severity: 'Critical',
    start_time: 1_795_000_000,
    title: 'Full',
  };
  const ended = {
    alert_id: id('e'),
    start_time: 1_795_000_000,
    end_time: 1_795_000_060,
    title: 'T',
    incident: { incident_id: id('a') },
  };
  const listed = { items: [opened, ended], has_next_page: false };
  const OPENED = /^d{24} {2}Critical {2}2026-11-18T11:06:40Z {2}Full \(disk\)$/.source.slice(0, -1);
  const ENDED = 'e{24} {2}- {9}2026-11-18T11:06:40Z to 2026-11-18T11:07:40Z {2}T \\(incident a{24}\\)';
  const named = [
    '--severity',
    'Critical',
    '--severity',
    'Info',
    '--id',
    id('d'),
    '--key',
    'disk',
    '--key',
    'k',
    '--asc',
  ];
  const naming = { alert_severity: 'Critical,Info', alert_ids: [id('d')], alert_keys: ['disk', 'k'], asc: true };

  it.each<[args: string[], path: string, request: object, data: unknown, out: RegExp]>([
    [['fleet', ...filters], FLEET, { ...filtered, limit: 100 }, fleet, /^h +no_data +Neither a snapshot .*\n$/],
    [['fleet', '--json'], FLEET, { limit: 100 }, fleet, /^\{"host_id":"h",.*,"why":"Neither .*\}\n$/],
    [['alerts'], LIST, { limit: 100 }, listed, new RegExp(`${OPENED}\\n${ENDED}\\n$`)],
    [['alerts', ...named, '--ended'], LIST, { ...naming, is_active: false, limit: 100 }, { items: [] }, /^$/],
    [['alerts', '--open', '--json'], LIST, { is_active: true, limit: 100 }, listed, /^\{"alert_id":"d.*\}\n\{.*\}\n$/],
  ])('%j sends what its options say, and prints the answer', async (args, path, request, data, out) => {
    const { url, calls } = await serviceWith({ data });
    expect(await run(args, url)).toEqual({ code: 0, out: expect.stringMatching(out), err: '' });
    expect(calls).toEqual([[path, request]]);
  });

  it('alerts walks the pages', async () => {
    const asked: unknown[] = [];
    const url = await serve(async (request, response) => {
      const { search_after_ctx: cursor, ...rest } = JSON.parse((await Array.fromAsync(request)).join(''));
      asked.push(cursor);
      expect(rest).toEqual({ limit: 100, asc: true });
      const next = { undefined: 'one', one: 'two' }[String(cursor)];
      const data = { items: [{ ...opened, alert_id: `${cursor}` }], has_next_page: !!next, search_after_ctx: next };
      response.end(JSON.stringify({ request_id: 'r', data }));
    });
    const { code, out } = await run(['alerts', '--asc'], url);
    expect([code, out.match(/^\w+/gm)]).toEqual([0, ['undefined', 'one', 'two']]);
    expect(asked).toEqual([undefined, 'one', 'two']);
  });

  it.each(operations)('$name is a command, which takes a request as JSON', async ({ name, path, example }) => {
    const { url, calls } = await serviceWith({ data: { count: 8, list: [{ a: 1 }] } });
    const { code, out, err } = await run([name, JSON.stringify(example.request)], url);
    expect([code, err]).toEqual([0, '']);
    expect(calls).toMatchObject([[path, example.request]]);
    // A merge has an answer of the client's own.
    expect(out).toMatch(name === 'merge-alerts' ? /^replayed +false\n$/ : /^count +8\nlist +\[\{"a":1\}\]\n$/);
  });

  it('takes a request from standard input, keeps its integers exact, and prints an answer without fields as done', async () => {
    const { url, bodies } = await serviceWith({ data: {} });
    const body = '{"work_item_id":"w","version":9223372036854775806}';
    const ended = await runCommand(['delete-work-item', '-'], { url, input: `${body}\n` });
    expect(ended).toEqual({ code: 0, out: 'Done.\n', err: '' });
    expect(bodies).toEqual([body]);
  });

  it('sends no fields without a request', async () => {
    const { url, bodies } = await serviceWith({ data: {} });
    expect(await run(['get-rum-resource', '--json'], url)).toEqual({ code: 0, out: '{}\n', err: '' });
    expect(bodies).toEqual(['{}']);
  });

  const NO_SERVICE = 'http://127.0.0.1:65535';
  it.each<[args: string[], code: number, err: RegExp, appKey?: string]>([
    [['fleet'], 4, /^ConnectionError: .*ECONNREFUSED.*\nCheck BASE_URL.*\n$/],
    [['fleet'], 2, /^Usage: APP_KEY is missing.*\nSee .* --help\n$/, ''],
    [['send-records', '{"records":[{'], 2, /^Usage: .*JSON/],
    [['send-records', '[]'], 2, /the request must be a JSON object/],
    [['get-rum-resource', 'null'], 2, /the request must be a JSON object/],
    [['get-rum-resource', '{}', '{}'], 2, /an operation takes one request/],
    [['get-rum-resource', '--no-cache'], 2, /'--no-cache'/],
    [['get-rum-resource', '--idempotency-key', 'k'], 2, /'--idempotency-key'/],
    [['merge-alerts', '--idempotency-key', 'é'], 2, /--idempotency-key must be 1 to 255 visible ASCII/],
    [['toString'], 2, /unknown command toString/],
    [['alerts', '--open', '--ended'], 2, /--open and --ended exclude each other/],
  ])('%j prints what is wrong', async (args, code, err, appKey) => {
    const ended = await run(args, NO_SERVICE, appKey);
    expect(ended).toMatchObject({ code, out: '', err: expect.stringMatching(err) });
  });

  it.each<[args: string[], code: string, status: number, err: RegExp]>([
    [['fleet'], 'Unauthorized', 401, /^Unauthorized: no \(request r\)\nCheck APP_KEY and BASE_URL\.\n$/],
    [
      ['get-rum-resource', '--json'],
      'ResourceNotFound',
      400,
      /^\{"error":\{"code":"ResourceNotFound",.*"request_id":"r"\}\}\n$/,
    ],
    [['fleet', '--cursor', 'here'], 'InternalError', 500, /Resume with --cursor=here\n$/],
    [['alerts', '--cursor', 'here'], 'InternalError', 500, /Resume with --cursor=here\n$/],
    [['merge-alerts', '--idempotency-key', 'my key'], 'InternalError', 500, /with --idempotency-key="my key"\n$/],
  ])('%j says what to do when the answer is %s', async (args, code, status, err) => {
    const { url } = await serviceWith({ error: { code, message: 'no' } }, status);
    expect(await run(args, url)).toEqual({ code: status < 500 ? 1 : 4, out: '', err: expect.stringMatching(err) });
  });

  it.each([
    ['a; touch owned', '--cursor="a; touch owned"'],
    ['$(touch owned)', '--cursor=TEXT-QUOTED-FOR-YOUR-SHELL'],
  ])('makes of the cursor %j of a service no command, in its advice', async (next_cursor, words) => {
    const url = await serve(async (request, response) => {
      const { cursor } = JSON.parse((await Array.fromAsync(request)).join(''));
      const answer = cursor === undefined ? { data: { items: [], next_cursor } } : { error: { code: 'InternalError' } };
      response.writeHead(cursor === undefined ? 200 : 500).end(JSON.stringify({ request_id: 'r', ...answer }));
    });
    expect((await run(['fleet'], url)).err).toMatch(new RegExp(`\nResume with ${words.replace(/[$()]/g, '\\$&')}\n$`));
  });

  it('prints no character of an answer that commands a terminal, as text or as JSON', async () => {
    const hostile = 'disk\n0\u001b]0;owned\u0007\u009b2J\u202etxt\u2028\u{e0041}\u007f\u3164\u2800';
    const answering = await serviceWith({ data: { [hostile]: hostile } });
    const refusing = await serviceWith({ error: { code: hostile, message: hostile } }, 400);
    for (const { url } of [answering, refusing])
      for (const options of [[], ['--json']]) {
        const { out, err } = await run(['get-rum-resource', ...options], url);
        expect(out + err).toContain('disk\\');
        expect(out + err).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u3164\u2800]*\n$/u);
      }
  });
});
