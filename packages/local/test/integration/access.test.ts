/** What programs can reach in a service of `npm start` from other addresses or by other host names. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DEMO_KEYS } from '../../../../infra/generate/sample.ts';
import { clientConfig, Endpoint, PATIENT } from '../../../../lib/table/client.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { listRunning } from '../../../admin/local-service/running.ts';
import { LOCAL_STATUS_PATH } from '../../../admin/status/measured.ts';
import { copyService, descendantsOf, start } from '../support/start-service.ts';
import { whileBusy } from '../support/while-busy.ts';

const tablesAt = async (endpoint: string) => {
  const client = new DynamoDBClient(clientConfig({ endpoint, ...PATIENT }));
  const { TableNames } = await client.send(new ListTablesCommand({}));
  client.destroy();
  return TableNames;
};

/** One request, with any `Host`. */
async function ask(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const [answer] = await once(request(url, { method, headers }).end(), 'response');
  return { status: answer.statusCode as number, body: await text(answer) };
}

describe('a service that npm start runs', () => {
  let service: Awaited<ReturnType<typeof start>>;
  const events = join(mkdtempSync(join(tmpdir(), 'access-')), 'events');
  beforeAll(async () => {
    // On a machine with proxies, and a locale in which `I` is not the capital of `i`.
    const proxy = 'http://127.0.0.1:9';
    service = await start(['--port', '0', '--fail', 'live-status', '--events', events], {
      DYNAMODB_ENDPOINT: undefined,
      ...{ http_proxy: proxy, HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '1' },
      ...{ LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', JAVA_TOOL_OPTIONS: '-Duser.language=tr -Duser.country=TR' },
    });
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.ended;
  });

  it.runIf(process.platform === 'linux')('gives no data at another address of the machine', async () => {
    const otherAddresses = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map(({ address }) => address);
    const processes = [service.child.pid as number, ...(await descendantsOf(service.child.pid as number))];
    const ports = processes.flatMap(listeningPorts);
    // The API, the failing table, and DynamoDB Local.
    expect(ports.length).toBeGreaterThanOrEqual(3);
    const open: string[] = [];
    for (const address of ['127.0.0.2', ...otherAddresses])
      for (const port of ports) if (await accepts(address, port)) open.push(`http://${address}:${port}`);
    // DynamoDB Local cannot be bound to loopback: its port is one of those that SECURITY.md says to block.
    const openPorts = [...new Set(open.map((address) => Number(new URL(address).port)))];
    const [, first, last] = /ports (\d+) to\s+(\d+)/.exec(readFileSync('SECURITY.md', 'utf8')) ?? [];
    expect(openPorts).toHaveLength(1);
    expect(openPorts[0]).toBeGreaterThanOrEqual(Number(first));
    expect(openPorts[0]).toBeLessThanOrEqual(Number(last));
    for (const address of open) {
      expect((await ask(address)).status).toBe(400);
      for (const endpoint of [address, address.replace('//', '//demo@')]) expect(await tablesAt(endpoint)).toEqual([]);
    }
  });

  it('prints the address of its feed', () => {
    const [, feed] = /^Feed +(\S+)$/m.exec(service.output()) ?? [];
    expect(feed).toMatch(new RegExp(`^${service.url}/\\d{12}/\\w+$`));
  });

  it.each<[path: string, method?: string, headers?: Record<string, string>]>([
    ['/docs'],
    ['/', 'GET', { accept: 'text/html' }],
    ['/openapi.json'],
    [`/monit/servicemap/fleet?app_key=${DEMO_KEYS.demo}`, 'POST'],
    [LOCAL_STATUS_PATH],
    ['/console'],
    ['/', 'POST', { 'x-amz-target': 'AmazonSQS.ListQueues' }],
    ['/', 'POST', { 'x-amz-target': 'AWSEvents.PutEvents' }],
  ])('answers only if the Host header names this machine: %s %s', async (path, method, headers = {}) => {
    const { host, port } = new URL(service.url);
    for (const foreign of ['evil.example', `evil.example:${port}`, `${host}.evil.example`, 'localhost.evil.example'])
      expect(await ask(`${service.url}${path}`, { ...headers, host: foreign }, method)).toEqual({
        status: 403,
        body: 'Use the address that was printed.\n',
      });
  });

  it.each(['127.0.0.1:PORT', 'localhost:PORT', '[::1]:PORT', '127.0.0.1', 'localhost:5173'])(
    'answers to the Host %s; another port is that of a tunnel or a proxy',
    async (host) => {
      const { port } = new URL(service.url);
      const answer = await ask(`${service.url}/docs`, { host: host.replace('PORT', port) });
      expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('demo-key') });
    },
  );

  it('lets its reference page run only its own scripts, and no page frame it', async () => {
    const policy = (await fetch(`${service.url}/docs`)).headers.get('content-security-policy');
    expect(policy).toMatch(/default-src 'none'; script-src 'self' 'nonce-.*frame-ancestors 'none'/);
  });

  it('prints calls that reach it in spite of a proxy', async () => {
    const [call = ''] = /^curl .*$/m.exec(service.output()) ?? [];
    const env = { ...process.env, http_proxy: 'http://127.0.0.1:9' };
    const { answer } = await whileBusy()(async () => {
      const answer = JSON.parse((await promisify(execFile)('bash', ['-c', call], { env })).stdout);
      return { answer, status: answer.error?.code === 'ServiceUnavailable' ? 503 : 200 };
    });
    expect(answer).toMatchObject({ data: { items: [{}] } });
  });

  it('tells nobody but its user where the tables are, and what events tell', async () => {
    const noted = listRunning().find(({ url }) => url === service.url);
    const { url: withoutKey, credentials } = new Endpoint(noted?.endpoint ?? '');
    expect(credentials.accessKeyId).toMatch(/^[0-9a-f]{32}$/);
    expect(await tablesAt(noted?.endpoint ?? '')).toEqual(['incident-monitoring-rum']);
    expect(await tablesAt(withoutKey)).toEqual([]);
    expect(service.output() + service.errors()).not.toContain(credentials.accessKeyId);
    const note = new URL(`../../../../.local/running/${noted?.pid}.json`, import.meta.url);
    for (const file of [note, events]) expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

it('serves although it cannot write to its folder, and says how commands find it, without credentials', async () => {
  const folder = copyService();
  // With a file in place of that folder not even root can write there.
  writeFileSync(join(folder, '.local'), '');
  const data = join(folder, 'mine.ndjson');
  writeFileSync(data, '{"kind":"account","account_id":1,"name":"Mine","permissions":[]}');
  const env = { DYNAMODB_ENDPOINT: dynamodbEndpoint() };
  const service = await start(['--port', '0', '--data', data], env, folder);
  onTestFinished(() => void service.child.kill('SIGKILL'));
  expect(service.output()).toMatch(/^Warning: cannot write to \.local .* set DYNAMODB_ENDPOINT for both\.$/m);
  expect(service.output()).not.toContain(new URL(dynamodbEndpoint()).username);
  expect(service.output()).toContain('Press Ctrl-C to stop');
});

/** TCP ports that a process listens on, from the sockets that it has open. */
function listeningPorts(pid: number): number[] {
  const tables = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n'));
  const listening = new Map<string, number>();
  for (const line of tables) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    if (state === '0A') listening.set(`socket:[${inode}]`, Number.parseInt(local.split(':')[1] ?? '', 16));
  }
  return socketsOf(pid).flatMap((socket) => listening.get(socket) ?? []);
}

const socketsOf = (pid: number) =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return []; // closed meanwhile
    }
  });

const accepts = async (host: string, port: number) => {
  const socket = connect({ host, port });
  const connected = once(socket, 'connect', { signal: AbortSignal.timeout(2_000) });
  const isOpen = await connected.then(
    () => true,
    () => false,
  );
  socket.on('error', () => {}).destroy();
  return isOpen;
};
