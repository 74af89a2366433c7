import { describe, expect, it } from 'vitest';
import { operations } from '../../../../lib/operations/index.ts';
import { serveAnswers } from '../../../../test/support/serve.ts';
import { runCommand } from '../support/run-command.ts';

const id = (digit: string) => digit.repeat(24);

/** A service that gives one answer to all calls. */
const serviceWith = (body: object, status = 200) => serveAnswers(() => ({ status, body }));

const run = (args: readonly string[], url: string, appKey = 'secret') => runCommand(args, { url, appKey });

describe('the command', () => {
  const FLEET = '/monit/servicemap/fleet';
  const fleet = { items: [{ host_id: 'h', servicemap: { status: 'no_data', enabled: true } }] };
  const filters = ['--status', 'no_data', '--agent-version', '1', '--edge-cluster', 'c', '--capture-mode', 'ebpf'];
  const filtered = { statuses: ['no_data'], agent_versions: ['1'], edge_clusters: ['c'], capture_modes: ['ebpf'] };
  const LIST = '/alert/list';
  const start_time = 1_795_000_000;
  const opened = { alert_id: id('d'), alert_key: 'disk', alert_severity: 'Critical', start_time, title: 'Full' };
  const ofIncident = { incident: { incident_id: id('a') } };
  const ended = { alert_id: id('e'), start_time, end_time: start_time + 60, title: 'T', ...ofIncident };
  const listed = { items: [opened, ended], has_next_page: false };
  const OPENED = /^d{24} {2}Critical {2}2026-11-18T11:06:40Z {2}Full \(disk\)$/.source.slice(0, -1);
  const ENDED = 'e{24} {2}- {9}2026-11-18T11:06:40Z to 2026-11-18T11:07:40Z {2}T \\(incident a{24}\\)';
  const named = `--severity Critical --severity Info --id ${id('d')} --key disk --key k --asc`.split(' ');
  const naming = { alert_severity: 'Critical,Info', alert_ids: [id('d')], alert_keys: ['disk', 'k'], asc: true };

  const span = ['--since', '2026-11-18T11:06:40Z', '--until', '2026-11-18T11:07:40Z'];
  const times = { start_time, end_time: start_time + 60 };
  const ada = { member_id: 101, member_name: 'Ada' };

  it.each<[args: string[], path: string, request: object, data: unknown, out: RegExp]>([
    [['fleet', ...filters], FLEET, { ...filtered, limit: 100 }, fleet, /^h +no_data +Neither a snapshot .*\n$/],
    [['fleet', '--json'], FLEET, { limit: 100 }, fleet, /^\{"host_id":"h",.*,"why":"Neither .*\}\n$/],
    [['alerts'], LIST, { limit: 100 }, listed, new RegExp(`${OPENED}\\n${ENDED}\\n$`)],
    [['alerts', ...named, '--ended'], LIST, { ...naming, is_active: false, limit: 100 }, { items: [] }, /^$/],
    [['alerts', '--ids'], LIST, { limit: 100 }, listed, /^d{24}\ne{24}\n$/],
    [['alerts', ...span, '--ended'], LIST, { ...times, is_active: false, limit: 100 }, { items: [] }, /^$/],
    [
      ['incidents', '--query', 'disk', '--id', id('a'), '--asc', ...span],
      '/incident/list',
      { query: 'disk', incident_ids: [id('a')], asc: true, ...times, limit: 100 },
      { items: [{ incident_id: id('a'), title: 'T', created_at: start_time, owner: { member_name: 'Ada' } }] },
      /^a{24} {2}2026-11-18T11:06:40Z {2}T \(Ada\)\n$/,
    ],
    [['members', '--query', 'ada'], '/member/list', { query: 'ada', limit: 100 }, { items: [ada] }, /^101 {19}Ada\n$/],
    [['members', '--ids'], '/member/list', { limit: 100 }, { items: [ada] }, /^101\n$/],
    [
      ['merge', id('a'), id('d'), id('D'), '--title', 'T', '--owner', '7', '--comment', 'c'],
      '/alert/merge',
      { incident_id: id('a'), alert_ids: [id('d')], title: 'T', owner_id: 7, comment: 'c' },
      null,
      /^1 alert merged\n$/,
    ],
    [['alerts', '--open', '--json'], LIST, { is_active: true, limit: 100 }, listed, /^\{"alert_id":"d.*\}\n\{.*\}\n$/],
  ])('%j sends what its options say, and prints the answer', async (args, path, request, data, out) => {
    const { url, calls } = await serviceWith({ data });
    expect(await run(args, url)).toEqual({ code: 0, out: expect.stringMatching(out), err: '' });
    expect(calls).toEqual([[path, request]]);
  });

  it('--since counts back from now, and a failure tells the times', async () => {
    const { url, calls } = await serviceWith({ error: { code: 'InternalError', message: 'no' } }, 500);
    const { err } = await run(['alerts', '--since', '2h'], url);
    const [[, { start_time = 0, end_time = 0 }]] = calls as [[string, { start_time?: number; end_time?: number }]];
    expect([end_time - start_time, Math.abs(end_time - Date.now() / 1_000) < 60]).toEqual([7_200, true]);
    const text = (seconds: number) => new Date(seconds * 1_000).toISOString().replace('.000', '');
    expect(err).toMatch(`The times were --since=${text(start_time)} --until=${text(end_time)}\n`);
    // The same times come from these texts.
    await run(['alerts', `--since=${text(start_time)}`, `--until=${text(end_time)}`], url);
    expect(calls.at(-1)).toEqual(calls[0]);
  });

  it('merges the alerts of standard input, each once, and none if a line is no id', async () => {
    const { url, calls, bodies } = await serviceWith({ data: null });
    const merge = (input: string, ...options: string[]) =>
      runCommand(['merge', id('a'), '-', ...options], { url, input });
    expect(await merge(`\ufeff${id('d')}\r\n\n  ${id('e')}\t\n${id('D')}`)).toEqual({
      code: 0,
      out: '2 alerts merged\n',
      err: '',
    });
    expect(calls).toEqual([['/alert/merge', { incident_id: id('a'), alert_ids: [id('d'), id('e')] }]]);
    for (const [input, message] of [
      [`${id('d')}\n${id('d')}  Critical`, /line 2: d{24} {2}Critical is not the id of an alert/],
      [' \n', /there are no ids/],
      ['\u001b[2J', /^Usage: line 1: \\u001b\[2J is not/],
    ] as const)
      expect(await merge(input)).toEqual({ code: 2, out: '', err: expect.stringMatching(message) });
    expect(calls).toHaveLength(1);
    await merge(id('d'), '--owner', '9007199254740993');
    expect(bodies[1]).toContain(':9007199254740993');
  });

  it.each(['alerts', 'incidents', 'members'])('%s walks the pages', async (list) => {
    const { url, calls } = await serveAnswers(({ search_after_ctx: cursor }) => {
      const next = { undefined: 'one', one: 'two' }[String(cursor)];
      const ids = { alert_id: `${cursor}`, incident_id: `${cursor}`, member_id: `${cursor}` };
      return { body: { data: { items: [{ ...opened, ...ids }], has_next_page: !!next, search_after_ctx: next } } };
    });
    const { code, out } = await run([list], url);
    expect([code, out.match(/^\w+/gm)]).toEqual([0, ['undefined', 'one', 'two']]);
    const asked = [undefined, 'one', 'two'].map((search_after_ctx) => ({ limit: 100, search_after_ctx }));
    expect(calls.map(([, request]) => request)).toEqual(asked);
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
    // Without a request it sends no fields.
    expect(await run(['get-rum-resource', '--json'], url)).toEqual({ code: 0, out: '{}\n', err: '' });
    expect(bodies).toEqual([body, '{}']);
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
    [['alerts', '--ids', '--json'], 2, /--ids and --json exclude each other/],
    [['alerts', '--until', '1h'], 2, /--until requires --since/],
    [['incidents', '--since', '1 h'], 2, /--since must be such as 30m, 2h, 7d or .*, not 1 h\n/],
    [['incidents', '--since', '2026-13-01T00:00:00Z'], 2, /--since must be such/],
    [['merge', `${id('a')}\n${id('b')}`, id('d')], 2, /merge requires the id of one INCIDENT/],
    [['merge', id('a')], 2, /there are no ids/],
    [['merge', id('a'), id('d'), '--owner', 'Ada'], 2, /--owner must be an integer, not Ada/],
    [['merge', id('a'), id('d'), '--idempotency-key', ''], 2, /--idempotency-key must be/],
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
    const { url } = await serveAnswers(({ cursor }) =>
      cursor === undefined
        ? { body: { data: { items: [], next_cursor } } }
        : { status: 500, body: { error: { code: 'InternalError' } } },
    );
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
