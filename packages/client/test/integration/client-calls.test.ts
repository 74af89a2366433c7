import { describe, expect, it } from 'vitest';
import { operations } from '../../../../lib/operations/index.ts';
import { serve } from '../../../../test/support/serve.ts';
import { runCommand } from '../support/run-command.ts';

const id = (digit: string) => digit.repeat(24);

/** A service that gives one answer to all calls. `calls` are their paths and bodies. */
async function serviceWith(answer: object, status = 200) {
  const calls: [path: string, request: object][] = [];
  const url = await serve(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://service');
    const body = (await Array.fromAsync(request)).join('');
    calls.push([pathname, JSON.parse(body)]);
    response.writeHead(status).end(JSON.stringify({ request_id: 'r', ...answer }));
  });
  return { calls, url };
}

/** Runs the command, with an id as standard input. */
const run = (args: readonly string[], url: string, appKey = 'secret') =>
  runCommand(args, { url, appKey, input: `${id('c')}\n` });

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
  const merge = ['merge', id('a'), id('b'), id('B'), '--alerts', '-', '--comment', 'C', '--title', 'T', '--owner'];
  const merged = { alert_ids: [id('b'), id('c')], incident_id: id('a'), comment: 'C', title: 'T' };

  it.each<[args: string[], path: string, request: object, data: unknown, out: RegExp]>([
    [['fleet', ...filters], FLEET, { ...filtered, limit: 100 }, fleet, /^h +no_data +Neither a snapshot .*\n$/],
    [['fleet', '--json'], FLEET, { limit: 100 }, fleet, /^\{"host_id":"h",.*,"why":"Neither .*\}\n$/],
    [['alerts'], LIST, { limit: 100 }, listed, new RegExp(`${OPENED}\\n${ENDED}\\n$`)],
    [['alerts', ...named, '--ended'], LIST, { ...naming, is_active: false, limit: 100 }, { items: [] }, /^$/],
    [['alerts', '--open', '--json'], LIST, { is_active: true, limit: 100 }, listed, /^\{"alert_id":"d.*\}\n\{.*\}\n$/],
    [['alert', id('d')], '/alert/info', { alert_id: id('d') }, opened, /^alert_id +d{24}\nalert_key +disk\n/],
    [['alert', id('d'), '--json'], '/alert/info', { alert_id: id('d') }, opened, /^\{"alert_id":"d{24}",.*\}\n$/],
    [[...merge, '5'], '/alert/merge', { ...merged, owner_id: 5 }, null, /^2 alerts merged\n$/],
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

  it.each(operations)(
    '$name is a command, with an option for each field of its request',
    async ({ name, path, example }) => {
      const options = Object.entries(example.request).flatMap(([field, value]): string[] => {
        const option = `--${field.replaceAll('_', '-')}`;
        if (Array.isArray(value) && typeof value[0] === 'string') return value.flatMap((text) => [option, text]);
        return [option, typeof value === 'object' ? JSON.stringify(value) : String(value)];
      });
      const { url, calls } = await serviceWith({ data: { count: 8, list: [{ a: 1 }] } });
      const { code, out, err } = await run([name, ...options], url);
      expect([code, err]).toEqual([0, '']);
      expect(calls).toMatchObject([[path, example.request]]);
      // A merge has an answer of the client's own.
      expect(out).toMatch(name === 'merge-alerts' ? /^replayed +false\n$/ : /^count +8\nlist +\[\{"a":1\}\]\n$/);
    },
  );

  it('a flag takes no value, and an answer without fields is done', async () => {
    const { url, calls } = await serviceWith({ data: {} });
    expect(await run(['get-rum-resource', '--no-cache'], url)).toEqual({ code: 0, out: 'Done.\n', err: '' });
    expect(calls).toEqual([['/rum/resource/info', { no_cache: true }]]);
  });

  const NO_SERVICE = 'http://127.0.0.1:65535';
  it.each<[args: string[], code: number, err: RegExp, appKey?: string]>([
    [['fleet'], 4, /^ConnectionError: .*ECONNREFUSED.*\nCheck BASE_URL.*\n$/],
    [['fleet'], 2, /^Usage: APP_KEY is missing.*\nSee .* --help\n$/, ''],
    [['delete-work-item', '--version', 'x'], 2, /--version must be an integer, not x/],
    [['send-records', '--records', '[{'], 2, /--records must be JSON/],
    [['get-rum-resource', 'x'], 2, /'x'/],
    [['merge', id('a'), '--alerts', 'no-such-file'], 2, /no-such-file/],
    [['toString'], 2, /unknown command toString/],
    [['alerts', '--open', '--ended'], 2, /--open and --ended exclude each other/],
    [['alert'], 2, /alert requires one ALERT/],
    [['alert', id('a'), id('b')], 2, /alert requires one ALERT/],
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
    [
      ['merge', id('a'), id('b'), '--idempotency-key', 'my key'],
      'InternalError',
      500,
      /with --idempotency-key="my key"\n$/,
    ],
    [['merge-alerts', '--idempotency-key', 'mine'], 'InternalError', 500, /with --idempotency-key=mine\n$/],
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
