/** How `npm start` refuses to start and how it ends, and what `--db` keeps. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PATIENT } from '../../../../lib/aws/http-handler.ts';
import { connectTable } from '../../../../lib/table/client.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { type Plan, startFaultProxy } from '../../../../test/support/fault-proxy.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import { listen } from '../../../../test/support/listen.ts';
import { within } from '../../../../test/support/within.ts';
import { CliError } from '../../../admin/cli/io.ts';
import { createTable, LOCAL_TABLE_NAME } from '../../../admin/local-service/local-table.ts';
import { isAlive } from '../../../admin/local-service/running.ts';
import { startDynamoDb } from '../../dynamodb-local.ts';
import { checkFirst, type Options, readOptions } from '../../start-options.ts';
import { callOnce, callService, descendantsOf, root, start, stopsOn, tablesAt } from '../support/start-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'start-'));
const FLEET = '/monit/servicemap/fleet';
/** The environment of a service that starts DynamoDB Local itself. */
const OWN_DYNAMODB = { DYNAMODB_ENDPOINT: undefined };
/** That of a service on the DynamoDB of the test run. */
const SHARED_DYNAMODB = { DYNAMODB_ENDPOINT: dynamodbEndpoint() };

const key = 'k'.repeat(43);
const mine = [
  '{"kind":"account","account_id":9,"name":"Mine","permissions":["monit"]}',
  `{"kind":"app_key","account_id":9,"app_key":"${key}"}`,
  '{"kind":"host","account_id":9,"host_id":"only","agent_version":"1","edge_cluster":"c","enabled":true,"snapshot_ready":false}',
  `{"kind":"incident","account_id":9,"incident_id":"${'a'.repeat(24)}","title":"t"}`,
  `{"kind":"alert","account_id":9,"alert_id":"${'b'.repeat(24)}","title":"t"}`,
];
const data = join(folder, 'mine.ndjson');
writeFileSync(data, mine.join('\n'));

const wrong = join(folder, 'wrong.ndjson');
writeFileSync(wrong, '{"kind":"account","account_id":1,"name":"n","permissions":[]}\n{"kind":"host"}\nx\n');

it.concurrent.each<[args: string[], exitCode: number, message: RegExp]>([
  [['--prot', '1'], 2, /^Unknown option '--prot'.*--help\.\n$/],
  [
    ['--port', '0', '--data', wrong],
    1,
    /\.ndjson:2: account_id is required.*\.ndjson:3: must be valid JSON: it has a syntax error at column 1\n[^\n]*\n$/s,
  ],
])('npm start %j prints what is wrong, and ends', async (args, exitCode, message) => {
  const { ended, errors, output } = await start(args, SHARED_DYNAMODB);
  expect(await ended).toBe(exitCode);
  expect(errors()).toMatch(message);
  expect(output()).not.toContain('Serving');
});

const otherServer = createServer();
const takenPort = String(await listen(otherServer));
afterAll(() => otherServer.close());

// In this process: the tests above show how the command prints such an error.
it.each<[args: string[], message: RegExp]>([
  [['--port', takenPort], /^Port \d+ is in use .*--port\.$/],
  [['--port', 'x'], /^--port must be a number from 0 to 65535, not "x"\.$/],
  [['--port', '65536'], /^--port must be/],
  [['--fail', 'x'], /^--fail must be one of live-status, .*\.$/],
  [['--port', '0', '--data', '/nowhere'], /^Cannot read \/nowhere \(ENOENT\)/],
  [['--port', '0', '--events', '/no/where'], /^Cannot write to \/no\/where/],
  [['--db', folder], /^--db is for DynamoDB Local/],
])('npm start %j is refused', async (args, message) => {
  const { argv } = process;
  onTestFinished(() => {
    process.argv = argv;
    vi.unstubAllEnvs();
  });
  process.argv = [...argv.slice(0, 2), ...args];
  vi.stubEnv('DYNAMODB_ENDPOINT', SHARED_DYNAMODB.DYNAMODB_ENDPOINT);
  await expect(async () => checkFirst(readOptions() as Options)).rejects.toThrow(message);
});

it.each<[what: string, message: RegExp, env?: Record<string, string>, options?: { endpoint: string }]>([
  ['Java is missing', /^Java was not found: install Java 17 .* DYNAMODB_ENDPOINT\.$/, { PATH: folder }],
  [
    'DynamoDB does not respond',
    /^DynamoDB does not respond at http:\/\/127\.0\.0\.1:9 .*DYNAMODB_ENDPOINT\.$/,
    {},
    { endpoint: 'http://127.0.0.1:9' },
  ],
])('the start of DynamoDB reports that %s', async (_what, message, env = {}, options = undefined) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const starting = startDynamoDb(options);
  await expect(starting).rejects.toThrow(CliError);
  await expect(starting).rejects.toThrow(message);
});

describe('npm start --data --events --fail, in a folder that cannot be written', () => {
  const events = join(folder, 'events.ndjson');
  const readOnly = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    fs.mkdirSync = () => { throw Object.assign(new Error(), { code: 'EROFS' }); }; syncBuiltinESMExports();`;
  let service: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    const args = ['--port', '0', '--data', data, '--events', events, '--fail', 'inventory'];
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(readOnly)}`;
    service = await start(args, { ...SHARED_DYNAMODB, NODE_OPTIONS });
  });
  afterAll(() => void service.child.kill('SIGKILL'));

  it('serves, and says how commands find it, without credentials', () => {
    expect(service.output()).toMatch(
      /^Warning: cannot write to \.local \(EROFS\).* set DYNAMODB_ENDPOINT for both\.$/m,
    );
    expect(service.output()).not.toContain(new URL(dynamodbEndpoint()).username);
  });

  it('fails what --fail names, says so, and writes events to the file', async () => {
    expect(service.output()).toMatch(/^Failing +inventory: /m);
    expect((await callOnce(service.url, FLEET, key)).status).toBe(503);
    const merge = { alert_ids: ['b'.repeat(24)], incident_id: 'a'.repeat(24) };
    expect((await callService(service.url, '/alert/merge', key, merge)).status).toBe(200);
    await expect.poll(() => readFileSync(events, 'utf8')).toContain('b'.repeat(24));
  });

  it('loads no sample into its table at another start, which ends when npm is stopped by a signal that npm does not pass on', async () => {
    const npm = await start([], SHARED_DYNAMODB, ['npm', 'start', '--silent', '--', '--port', '0']);
    expect(npm.output()).toMatch(/^The table already has data/m);
    const processes = descendantsOf(npm.child.pid as number);
    expect(processes).not.toEqual([]);
    npm.child.kill('SIGTERM');
    await expect.poll(() => processes.filter(isAlive)).toEqual([]);
  });
});

it.each<[signal: NodeJS.Signals, what: string, plan: Plan]>([
  ['SIGINT', 'refuses a merge that is being finished', ({ body }) => (isOfMerge(body) ? 'error-before' : undefined)],
  ['SIGTERM', 'does not answer', () => 'hang'],
])('%s ends a service whose DynamoDB %s', async (signal, _what, plan) => {
  const proxy = await startFaultProxy(dynamodbEndpoint());
  onTestFinished(proxy.close);
  const { child, ended } = await start(['--port', '0', '--still'], { DYNAMODB_ENDPOINT: proxy.endpoint });
  onTestFinished(() => void child.kill('SIGKILL'));
  const tenant = await newAccount(connectTable({ name: LOCAL_TABLE_NAME, endpoint: dynamodbEndpoint(), ...PATIENT }));
  proxy.plan(plan);
  await tenant.commitOnly(await tenant.incident(), await tenant.alerts(1));
  await expect.poll(() => proxy.calls.some((call) => plan(call) !== undefined)).toBe(true);
  child.kill(signal);
  // By then finish-merges would still try again: it may run for five minutes.
  expect(await within(60_000, () => ended)).toBe(0);
});

/** Whether a call is about the head of the log, which finish-merges reads first. */
const isOfMerge = (body: string) => body.includes('#LOG_HEAD"');

/** Each test goes on with the directory as the test before it has left it. */
describe('a directory of --db', () => {
  const dbDirectory = join(folder, 'db');
  const onDirectory = ['--port', '0', '--db', relative(root, dbDirectory)];
  const loading = join(dbDirectory, 'loading');
  let service: Awaited<ReturnType<typeof start>>;
  afterAll(() => void service.child.kill('SIGKILL'));

  it('keeps its tables beside databases of others, with which it starts', async () => {
    const first = await startDynamoDb({ dbDirectory });
    await createTable(first.endpoint, 'mine', { stream: false });
    // A stranger calls the port: DynamoDB Local makes a database for any access key id.
    const stranger = '0'.repeat(32);
    const asStranger = (endpoint: string) => Object.assign(new URL(endpoint), { username: stranger }).href;
    await createTable(asStranger(first.endpoint), 'theirs', { stream: false });
    await first.stop();
    expect(existsSync(join(dbDirectory, `${stranger}_local.db`))).toBe(true);
    const second = await startDynamoDb({ dbDirectory });
    expect(await tablesAt(second.endpoint)).toEqual(['mine']);
    expect(await tablesAt(asStranger(second.endpoint))).toEqual(['theirs']);
    await second.stop();
  });

  it('gets the rest of a load that was interrupted', async () => {
    writeFileSync(loading, data);
    service = await start(onDirectory, OWN_DYNAMODB);
    expect(service.output()).toMatch(/^Loaded \S+mine\.ndjson: .*1 host/m);
    expect(existsSync(loading)).toBe(false);
  });

  it('is for one service at a time, and for its user only', async () => {
    const files = readdirSync(dbDirectory).map((name) => join(dbDirectory, name));
    expect([dbDirectory, ...files].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700,
      ...files.map(() => 0o600),
    ]);
    await expect(startDynamoDb({ dbDirectory })).rejects.toThrow(`${dbDirectory} is in use by another service`);
    await stopsOn('SIGKILL', service, null);
  });

  it('is free, with its data, when the service or its supervisor was killed', async () => {
    service = await start(onDirectory, OWN_DYNAMODB);
    expect(service.output()).toMatch(/^The table already has data/m);
    const { body } = await callService(service.url, FLEET, key);
    expect(body).toMatchObject({ data: { items: [{ host_id: 'only' }] } });
    const processes = descendantsOf(service.child.pid as number);
    process.kill(processes[0] as number, 'SIGKILL');
    expect(await service.ended).toBe(1);
    expect(service.errors()).toMatch(/^DynamoDB Local has ended .*\n$/);
    await expect.poll(() => processes.filter(isAlive)).toEqual([]);
  });

  // That also shows that no lock is left behind.
  it('is refused without the access key id of its tables', async () => {
    writeFileSync(join(dbDirectory, 'access-key-id'), '');
    await expect(startDynamoDb({ dbDirectory })).rejects.toThrow(/access-key-id .* move the directory away/);
    // With a new id the service would start, and be empty.
    rmSync(join(dbDirectory, 'access-key-id'));
    await expect(startDynamoDb({ dbDirectory })).rejects.toThrow(/access-key-id .* move the directory away/);
  });
});
