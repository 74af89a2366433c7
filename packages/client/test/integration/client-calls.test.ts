import { execFile } from 'node:child_process';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { keys } from '../../../../lib/table/keys.ts';
import { listen } from '../../../../test/support/listen.ts';
import { serve } from '../../../../test/support/serve.ts';
import { newAppKey, newTable, stored } from '../../../../test/support/service.ts';
import { loadData } from '../../../admin/data/load.ts';
import { createLocalGatewayKeys } from '../../../admin/local-service/local-gateway-keys.ts';
import { sampleData } from '../../../local/sample.ts';
import { serveTable } from '../../../local/test/support/start-service.ts';

const appKey = newAppKey();
const rumKey = newAppKey();
const [ACCOUNT, RUM_ACCOUNT] = [7, 8];
const id = (digit: string) => digit.repeat(24);
const line = (fields: object) => JSON.stringify({ account_id: ACCOUNT, ...fields });
const host = { kind: 'host', edge_cluster: 'c', enabled: true, snapshot_ready: true };
/** The sample's RUM rows. */
const rumLines = sampleData(Date.now()).filter((text) => /"kind":"rum_.*"account_id":1,/.test(text));
const lines = [
  line({ kind: 'account', name: 'Acme', permissions: ['monit'] }),
  line({ kind: 'app_key', app_key: appKey }),
  line({ kind: 'account', account_id: RUM_ACCOUNT, name: 'With RUM', permissions: [] }),
  line({ kind: 'app_key', account_id: RUM_ACCOUNT, app_key: rumKey }),
  ...rumLines.map((text) => text.replace('"account_id":1,', `"account_id":${RUM_ACCOUNT},`)),
  line({ kind: 'incident', incident_id: id('a'), title: 't' }),
  line({ kind: 'alert', alert_id: id('c'), title: 't' }),
  line({ kind: 'work_item', work_item_id: 'w2', version: 1, title: 't' }),
  ...['h1', 'h2'].map((host_id) => line({ ...host, host_id, agent_version: host_id.slice(1) })),
];
const table = await newTable({ stream: true });
await loadData(table, 'test', lines, { nowMs: 1_000, gatewayKeys: createLocalGatewayKeys(table) });
const service = await serveTable(table);
afterAll(() => service.stop());

describe('the command', () => {
  /** Runs it as a process of its own. */
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const environment = { ...process.env, BASE_URL: service.url, APP_KEY: appKey, ...env };
      const child = execFile(
        process.execPath,
        ['packages/client/src/cli.ts', ...args],
        { env: environment },
        (_, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
      );
      child.stdin?.end(`${id('c')}\n`);
    });

  it('lists hosts with their reasons, as text and as JSON', async () => {
    const text = await run(['fleet', '--agent-version', '2']);
    expect(text).toMatchObject({ code: 0, out: expect.stringMatching(/^h2 +no_data +Neither a snapshot .*\n$/) });
    const { out } = await run(['fleet', '--agent-version', '2', '--status', 'no_data', '--json']);
    expect(JSON.parse(out)).toMatchObject({ host_id: 'h2', why: expect.stringMatching(/^Neither/) });
  });

  it('shows the RUM resource', async () => {
    expect((await run(['rum', '--no-cache'], { APP_KEY: rumKey })).out).toMatch(/^account_id +8$/m);
  });

  it('deletes a work item, and merges the alerts of standard input once', async () => {
    const deleted = await run(['delete', 'w2', '--version', '1', '--json']);
    expect(JSON.parse(deleted.out)).toEqual({ work_item_id: 'w2', version: 1, deleted: true });
    expect((await stored(table, keys.workItem(ACCOUNT, 'w2'))).version).toBe(2);
    const merge = ['merge', id('a'), '--alerts', '-', '--idempotency-key', 'cli', '--comment', 'by the command'];
    const merged = { incident_id: id('a'), alerts: 1, replayed: false, idempotency_key: 'cli' };
    expect(JSON.parse((await run([...merge, '--json'])).out)).toEqual(merged);
    expect((await stored(table, keys.alert(ACCOUNT, id('c')))).incident_id).toBe(id('a'));
    expect((await run(merge)).out).toBe('1 alert had been merged before\n');
  });

  it('reads the ids of a file as the examples do: 9,000 of them, with CRLF, a byte order mark and blank lines', async () => {
    const bodies: string[] = [];
    const BASE_URL = await serve(async (request, response) => {
      bodies.push((await Array.fromAsync(request)).join(''));
      response.end('{"request_id":"r","data":null}');
    });
    const env = { ...process.env, APP_KEY: appKey, BASE_URL };
    const ids = Array.from({ length: 9_000 }, (_, index) => index.toString(16).padStart(24, '0'));
    using folder = mkdtempDisposableSync(join(tmpdir(), 'ids-'));
    const file = join(folder.path, 'ids.txt');
    const exec = promisify(execFile);
    await exec('npm', ['run', '--silent', 'build', '-w', 'packages/client']);
    writeFileSync(file, `\ufeff\r\n${ids.join('\r\n \t\r\n')}\r\n`);
    await exec('node', ['packages/client/src/cli.ts', 'merge', id('a'), '--alerts', file], { env });
    await exec('node', ['examples/node/merge-from-file.mjs', id('a'), file], { env });
    await exec('examples/shell/merge-from-file.sh', [id('a'), file], { env });
    expect(bodies.map((body) => JSON.parse(body))).toEqual(Array(3).fill({ alert_ids: ids, incident_id: id('a') }));
  });

  it.each<[args: string[], env: NodeJS.ProcessEnv, code: number, err: RegExp]>([
    [['fleet'], { APP_KEY: 'wrong' }, 1, /^Unauthorized: .* \(request [\da-f-]{36}\)\nCheck APP_KEY and BASE_URL\.\n$/],
    [['fleet', '--json', '--status', 'paused'], {}, 1, /^\{"error":\{"code":"InvalidParameter",.*"request_id":"/],
    [['fleet'], { APP_KEY: '' }, 2, /^Usage: APP_KEY is missing.*\nSee .* --help\n$/],
    [['fleet'], { BASE_URL: 'http://127.0.0.1:65535' }, 1, /^ConnectionError: .*ECONNREFUSED.*\nCheck BASE_URL.*\n$/],
    [['delete', 'w'], {}, 2, /--version must be an integer/],
    [['merge', id('a'), '--alerts', 'no-such-file'], {}, 2, /no-such-file/],
    [['toString'], {}, 2, /unknown command toString/],
  ])('%j prints what is wrong', async (args, env, code, err) => {
    const ended = await run(args, env);
    expect(ended).toMatchObject({ code, out: '', err: expect.stringMatching(err) });
    expect(ended.err).not.toContain(appKey);
  });

  it('prints the idempotency key of a merge that may have been done, and the cursor of a failed listing', async () => {
    const BASE_URL = await serve((_request, response) => {
      response.writeHead(500).end('{"request_id":"r","error":{"code":"InternalError","message":"no"}}');
    });
    const merge = ['merge', id('a'), id('b'), '--idempotency-key', 'mine'];
    expect((await run(merge, { BASE_URL })).err).toContain('Repeat it with --idempotency-key mine\n');
    expect((await run(['fleet', '--cursor', 'here'], { BASE_URL })).err).toContain('Resume with --cursor here\n');
  });

  it('prints no character of an answer that commands a terminal, as text or as JSON', async () => {
    const hostile = 'disk\n0\u001b]0;owned\u0007\u009b2J\u202etxt\u2028\u{e0041}\u007f';
    const BASE_URL = await serve(({ url }, response) => {
      const error = { code: hostile, message: hostile };
      const answer = url?.startsWith('/rum') ? { data: { [hostile]: hostile } } : { error };
      response.writeHead('error' in answer ? 400 : 200).end(JSON.stringify({ request_id: 'r', ...answer }));
    });
    for (const command of ['rum', 'fleet'])
      for (const options of [[], ['--json']]) {
        const { out, err } = await run([command, ...options], { BASE_URL });
        expect(out + err).toContain('disk\\');
        expect(out + err).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*\n$/u);
      }
  });

  it('says that it is waiting, and retries when the service is down after the first answer', async () => {
    let calls = 0;
    const server = createServer(async (request, response) => {
      request.resume();
      calls += 1;
      if (calls === 1) await sleep(3_500);
      const data = { items: [], ...(calls === 1 && { next_cursor: 'c' }) };
      response.writeHead(200, { 'Content-Type': 'application/json', Connection: 'close' });
      response.end(JSON.stringify({ request_id: 'r', data }));
      if (calls === 1) server.close(() => setTimeout(() => server.listen(port, '127.0.0.1'), 1_000));
    });
    const port = await listen(server);
    const { code, err } = await run(['fleet'], { BASE_URL: `http://127.0.0.1:${port}` });
    server.close();
    expect([code, err, calls]).toEqual([0, expect.stringContaining(`Still waiting for http://127.0.0.1:${port}`), 2]);
  });
});
