/** `npm start` as its user meets it: what it prints and serves, and what it keeps from others. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Endpoint } from '../../../../lib/aws/endpoint.ts';
import { FLEET_STATUSES } from '../../../../lib/operations/browse-fleet/schema.ts';
import { operations } from '../../../../lib/operations/index.ts';
import { listAlerts } from '../../../../lib/operations/list-alerts/schema.ts';
import { listRunning } from '../../../admin/local-service/running.ts';
import { LOCAL_STATUS_PATH } from '../../../admin/status/measured.ts';
import { runCommand } from '../../../admin/test/support/run-admin.ts';
import { steady, stepsOf, walk } from '../../../admin/test/support/walk.ts';
import { DEMO_KEYS } from '../../sample.ts';
import { callService, root, start, stopsOn, tablesAt, unlessBusy } from '../support/start-service.ts';

const FLEET = '/monit/servicemap/fleet';
const RUM = '/rum/resource/info';
const events = join(mkdtempSync(join(tmpdir(), 'events-')), 'events');
const planted = 'process.on("SIGUSR2", () => { throw new Error("planted"); })';

let service: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  // On a machine with proxies, and a locale in which `I` is not the capital of `i`.
  const proxy = 'http://127.0.0.1:9';
  service = await start(['--port', '0', '--still', '--events', events], {
    ...{ DYNAMODB_ENDPOINT: undefined, SYNTHESIZED_TEMPLATE: undefined, MAX_BODY_BYTES: '2048' },
    ...{ http_proxy: proxy, HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '1', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
    JAVA_TOOL_OPTIONS: '-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Duser.language=tr -Duser.country=TR',
    // This signal throws an error that nothing catches.
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(planted)}`,
  });
});
afterAll(() => stopsOn('SIGINT', service));

const call = (path: string, body: object, key: string = DEMO_KEYS.demo) => callService(service.url, path, key, body);

/** The note of the service for the operator's commands. */
const noted = () => listRunning().find(({ url }) => url === service.url);

describe('npm start', () => {
  it('prints a curl for each operation that works in spite of a proxy, and answers as the README shows', async () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const [, settings = ''] = /```sh\n(URL=.*?)```/s.exec(readme) ?? [];
    const shown = [...readme.matchAll(/```sh\n(call [^\n]*)\n```\n```json\n(.*?)```/gs)];
    const curls = [...service.output().matchAll(/^curl .*$/gm)].map(([curl]) => curl);
    const env = { ...process.env, http_proxy: 'http://127.0.0.1:9' };
    const outputOf = async (script: string) => (await promisify(execFile)('bash', ['-c', script], { env })).stdout;
    /** What the lines of a script pass to curl. */
    const passed = (lines: string[]) => outputOf(`curl() { printf '%s\\n' "$@"; }\n${lines.join('\n')}`);
    expect(curls).toHaveLength(operations.length);
    expect(await passed(curls)).toBe(
      (
        await passed([settings.replace('http://127.0.0.1:3000', service.url), ...shown.map(([, call = '']) => call)])
      ).replaceAll(/^-s$/gm, '-s\n--noproxy\n*'),
    );
    /** An answer without what differs from call to call, ids of requests, cursors and times, and what the README leaves out as `…`. */
    const comparable = (answer = '') =>
      JSON.parse(answer.replaceAll(/…(?!")/g, '"…": 0'), (name, value) => {
        if (/^(request_id|next_cursor)$|_(ms|at|time)$/.test(name) && name !== 'report_interval_ms')
          return typeof value;
        if (value?.['…'] === undefined) return value;
        const { '…': _, ...rest } = value;
        return expect.objectContaining(rest);
      });
    const beganSeconds = Math.floor(Date.now() / 1_000);
    for (const [index, curl] of curls.entries()) {
      const answer = await unlessBusy(
        () => outputOf(curl),
        (answer) => /"partial":true|"ServiceUnavailable"/.test(answer),
      );
      expect(comparable(answer)).toEqual(comparable(shown[index]?.[2]));
    }
    // The list had the alert before: then it has the time of the notification.
    const { path, example } = listAlerts;
    const lastTime = async () => {
      const { data = {} } = (await call(path, example.request)).body;
      return (data.items as { last_time: number }[])[0]?.last_time;
    };
    await expect.poll(lastTime, { timeout: 10_000 }).toBeGreaterThanOrEqual(beganSeconds);
  });

  it('shows a line for each request, and never a key', async () => {
    const { headers } = await call(RUM, {});
    const line = `POST ${RUM} 200 OK [\\d.]+ ms ${headers.get('svc-request-id')}\n`;
    await expect.poll(() => service.output()).toMatch(new RegExp(line));
    const requests = service.output().slice(service.output().indexOf('Requests:'));
    expect(requests).not.toContain('demo-key');
    // Log lines and metrics of successful calls are for CloudWatch, and are not printed here.
    expect(requests).not.toMatch(/^\{.*("INFO"|"_aws")/m);
    // On a busy machine a key may not be looked up in time.
    const slow = 'The function usage-key-authorizer failed: the app key cannot be looked up\n';
    expect(service.errors().replaceAll(slow, '')).toBe('');
  });

  it('follows the settings of its environment', async () => {
    expect((await call(FLEET, { cursor: 'x'.repeat(2_048) })).status).toBe(413);
  });

  it('keeps running whatever path a web page requests, and after an error that nothing catches', async () => {
    for (const name of ['constructor', 'toString', '__proto__', 'swagger-ui.css/../../package.json'])
      expect((await fetch(`${service.url}/docs/${name}`)).status).toBe(404);
    expect((await fetch(`${service.url}/docs/swagger-ui.css`)).status).toBe(200);
    const opened = await fetch(service.url, { headers: { Accept: 'text/html,*/*;q=0.8' }, redirect: 'manual' });
    expect([opened.status, opened.headers.get('location')]).toEqual([302, '/docs']);
    expect(await (await fetch(service.url)).json()).toMatchObject({ data: { status: 'ok', standby: false } });
    service.child.kill('SIGUSR2');
    await expect.poll(() => service.errors()).toMatch(/\(the service keeps running\): Error: planted/);
    expect((await call(RUM, {})).status).toBe(200);
  });

  it('has a sample fleet in all statuses, and demo keys that are refused', async () => {
    const { out } = await runCommand(['host', 'list', '--account', '1', '--service', service.url, '--json']);
    const hosts = JSON.parse(out) as { status: string }[];
    expect(new Set(hosts.map(({ status }) => status))).toEqual(new Set(FLEET_STATUSES));
    const { withoutPermission, expired, revoked } = DEMO_KEYS;
    const answers = await Promise.all([withoutPermission, expired, revoked].map((key) => call(FLEET, {}, key)));
    const codes = answers.map(({ body }) => body.error?.code);
    expect(codes).toEqual(['AccessDenied', 'Unauthorized', 'Unauthorized']);
  });

  it('goes through the first day of docs/operate.md, word for word', async () => {
    const steps = stepsOf(readFileSync(join(root, 'docs/operate.md'), 'utf8'));
    const { printed, exitCode } = await walk(steps, {
      // On a busy machine a call may be answered with 503.
      adapt: (script) =>
        `set -e\ncurl() { command curl --fail --retry 3 "$@"; }\n${script.replace('http://127.0.0.1:3000', service.url)}`,
      env: { SERVICE_URL: service.url, DYNAMODB_ENDPOINT: undefined },
    });
    expect(exitCode, printed.join('\n')).toBe(0);
    const comparable = (output: string) => steady(output.replace(/\S+\/tmp\.\w+/, '<folder>'));
    for (const [index, { commands, output }] of steps.entries())
      expect(comparable(printed[index] ?? ''), commands).toBe(comparable(output));
  }, 300_000);
});

describe('access to npm start', () => {
  const consoleAddress = () => /^Console {4}(\S+)$/m.exec(service.output())?.[1] ?? '';
  /** One request, with any `Host`. */
  async function ask(url: string, headers: Record<string, string>, method = 'GET', body = '') {
    const [answer] = await once(request(url, { method, headers, agent: false }).end(body), 'response');
    return { status: answer.statusCode as number, headers: answer.headers, body: await text(answer) };
  }

  it.runIf(process.platform === 'linux')('gives no data at another address of the machine', async () => {
    const { url: api, endpoint = '' } = noted() ?? {};
    const others = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    const [, first, last] = /ports (\d+) to\s+(\d+)/.exec(readFileSync(join(root, 'SECURITY.md'), 'utf8')) ?? [];
    const port = Number(new URL(endpoint).port);
    // DynamoDB Local cannot be bound to loopback: its port is one of those that SECURITY.md says to block.
    expect(port).toBeGreaterThanOrEqual(Number(first));
    expect(port).toBeLessThanOrEqual(Number(last));
    for (const address of ['127.0.0.2', ...others.map(({ address }) => address)]) {
      const signal = AbortSignal.timeout(2_000);
      await expect(fetch(`http://${address}:${new URL(api ?? '').port}`, { signal })).rejects.toThrow();
      for (const caller of ['', 'demo@']) expect(await tablesAt(`http://${caller}${address}:${port}`)).toEqual([]);
    }
  });

  it('is not to its tables by DynamoDB Local for a web page, which has no access key id: not even by DNS rebinding', async () => {
    const { port } = new URL(noted()?.endpoint ?? '');
    const asPage = (method: string, headers: Record<string, string>) =>
      ask(`http://127.0.0.1:${port}/`, { host: `evil.example:${port}`, ...headers }, method, '{}');
    // A page whose name resolves to this machine calls its own origin, so the browser asks no permission.
    const call = {
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      authorization:
        'AWS4-HMAC-SHA256 Credential=page/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    };
    expect(await asPage('POST', call)).toMatchObject({ status: 200, body: '{"TableNames":[]}' });
    // Without rebinding the browser asks first, and is not permitted to send these headers.
    const origin = 'https://evil.example';
    const question = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-amz-target',
    };
    for (const [method, headers] of [
      ['OPTIONS', question],
      ['POST', { ...call, origin }],
    ] as const)
      expect((await asPage(method, headers)).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it.each([
    ['/docs', 'GET'],
    [`${FLEET}?app_key=${DEMO_KEYS.demo}`, 'POST'],
    [LOCAL_STATUS_PATH, 'GET'],
    ['the console', 'GET'],
  ])('needs a Host header that names this machine: %s', async (path, method) => {
    const url = path === 'the console' ? consoleAddress() : `${service.url}${path}`;
    const { hostname, port } = new URL(url);
    for (const foreign of [`evil.example:${port}`, `${hostname}.evil.example`, 'localhost.evil.example'])
      expect(await ask(url, { host: foreign }, method)).toMatchObject({ status: 403 });
  });

  it('is to the console only at a port of its own', async () => {
    const { port, pathname } = new URL(consoleAddress());
    expect(port).not.toBe(new URL(service.url).port);
    for (const path of ['/console', pathname]) expect((await fetch(`${service.url}${path}`)).status).toBe(404);
  });

  it.each(['127.0.0.1:PORT', '[::1]:PORT', 'localhost:5173'])(
    'is by the Host %s; another port is that of a tunnel or a proxy',
    async (host) => {
      const answer = await ask(`${service.url}/docs`, { host: host.replace('PORT', new URL(service.url).port) });
      expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('demo-key') });
    },
  );

  it('is not for other pages: the reference page runs only its own scripts, and no page frames it', async () => {
    const policy = (await fetch(`${service.url}/docs`)).headers.get('content-security-policy');
    expect(policy).toMatch(/default-src 'none'; script-src 'self' 'nonce-.*frame-ancestors 'none'/);
  });

  it('is by an address of the feed that is printed, and by tables and events that only its user can read', async () => {
    expect(service.output()).toMatch(new RegExp(`^Feed +${service.url}/\\d{12}/\\w+$`, 'm'));
    const { pid, endpoint = '' } = noted() ?? {};
    const { url: withoutKey, credentials } = new Endpoint(endpoint);
    expect(credentials.accessKeyId).toMatch(/^[0-9a-f]{32}$/);
    expect(await tablesAt(endpoint)).toEqual(['incident-monitoring-rum']);
    expect(await tablesAt(withoutKey)).toEqual([]);
    expect(service.output() + service.errors()).not.toContain(credentials.accessKeyId);
    for (const file of [join(root, `.local/running/${pid}.json`), events])
      expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
