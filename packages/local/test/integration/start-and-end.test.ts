/** How `npm start` refuses to start and how it ends, and what `--db` keeps. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sampleData } from '../../../../infra/generate/sample.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { listen } from '../../../../test/support/listen.ts';
import { CliError } from '../../../admin/cli/io.ts';
import { createTable } from '../../../admin/local-service/local-table.ts';
import { isAlive } from '../../../admin/local-service/running.ts';
import { startDynamoDb } from '../../dynamodb-local.ts';
import { callService, descendantsOf, root, start, stopsOn } from '../support/start-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'start-'));
/** The environment of a service that starts DynamoDB Local itself. */
const OWN_DYNAMODB = { DYNAMODB_ENDPOINT: undefined };

describe.concurrent('npm start that cannot start', () => {
  const server = createServer();
  let takenPort: number;
  beforeAll(async () => {
    takenPort = await listen(server);
  });
  afterAll(() => server.close());

  const wrongData = join(folder, 'wrong.ndjson');
  writeFileSync(wrongData, '{"kind":"account","account_id":1,"name":"n","permissions":[]}\n{"kind":"host"}\nx\n');
  const JAVA_MISSING =
    'Java was not found: install Java 17 or later and put `java` on the PATH, or set DYNAMODB_ENDPOINT.';

  it.each<[what: string, args: () => string[], exitCode: number, message: RegExp | string, env?: NodeJS.ProcessEnv]>([
    ['a port that is taken', () => ['--port', String(takenPort)], 1, /^Port \d+ is in use .*--port\.\n$/],
    ['an invalid port', () => ['--port', 'x'], 2, '--port must be a number from 0 to 65535, not "x".\n'],
    ['an unknown part after --fail', () => ['--fail', 'x'], 2, /^--fail must be one of live-status, .*\.\n$/],
    ['an unknown option', () => ['--prot', '1'], 2, /^Unknown option '--prot'.*--help\.\n$/],
    ['a missing data file', () => ['--data', '/nowhere'], 1, 'Cannot read /nowhere (ENOENT): check --data.\n'],
    [
      'each invalid line of a data file',
      () => ['--port', '0', '--data', wrongData],
      1,
      /\.ndjson:2: account_id is required.*\.ndjson:3: is not valid JSON \(column 1\)\n[^\n]*\n$/s,
      { DYNAMODB_ENDPOINT: dynamodbEndpoint() },
    ],
    ['that Java is missing', () => ['--port', '0'], 1, `${JAVA_MISSING}\n`, { ...OWN_DYNAMODB, PATH: folder }],
    [
      "in Java's own words that its heap is too large",
      () => ['--port', '0'],
      1,
      /^DynamoDB Local exited .* Java says: .*heap/i,
      { ...OWN_DYNAMODB, JAVA_TOOL_OPTIONS: '-Xms4611686018427387904' },
    ],
  ])('reports %s', async (_what, args, exitCode, message, env) => {
    const { ended, errors, output } = await start(args(), env);
    expect(await ended).toBe(exitCode);
    expect(errors()).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    expect(output()).not.toContain('Serving');
  });

  // Runs in this process: the test above shows how the command prints such an error.
  it('reports in one line that DynamoDB does not respond at DYNAMODB_ENDPOINT', async () => {
    const starting = startDynamoDb({ endpoint: 'http://127.0.0.1:9' });
    await expect(starting).rejects.toThrow(CliError);
    await expect(starting).rejects.toThrow(
      /^DynamoDB does not respond at http:\/\/127\.0\.0\.1:9 .*DYNAMODB_ENDPOINT\.$/,
    );
  });

  it('shows its options with --help', async () => {
    const { ended, output } = await start(['--help']);
    expect(await ended).toBe(0);
    for (const option of ['--port', '--data', '--db', '--fail', '--help']) expect(output()).toContain(option);
  });
});

it('ends when npm is stopped by a signal that npm does not pass on', async () => {
  const data = join(folder, 'account.ndjson');
  writeFileSync(data, '{"kind":"account","account_id":1,"name":"Mine","permissions":[]}');
  const npm = spawn('npm', ['start', '--silent', '--', '--port', '0', '--data', data], {
    cwd: root,
    env: { ...process.env, DYNAMODB_ENDPOINT: dynamodbEndpoint() },
  });
  let output = '';
  npm.stdout.on('data', (chunk) => (output += chunk));
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Press Ctrl-C to stop');
  const processes = await descendantsOf(npm.pid as number);
  expect(processes.length).toBeGreaterThan(0);
  npm.kill('SIGTERM');
  await expect.poll(() => processes.filter(isAlive)).toEqual([]);
});

const db = relative(root, join(folder, 'db'));
const data = join(folder, 'mine.ndjson');
const key = 'k'.repeat(43);
writeFileSync(
  data,
  [
    '{"kind":"account","account_id":9,"name":"Mine","permissions":["monit"]}',
    `{"kind":"app_key","account_id":9,"app_key":"${key}"}`,
    '{"kind":"host","account_id":9,"host_id":"only","agent_version":"1","edge_cluster":"c","enabled":true,"snapshot_ready":false}',
    `{"kind":"incident","account_id":9,"incident_id":"${'a'.repeat(24)}","title":"t"}`,
    `{"kind":"alert","account_id":9,"alert_id":"${'b'.repeat(24)}","title":"t"}`,
  ].join('\n'),
);

describe('npm start -- --events --inspect', () => {
  const events = join(folder, 'events.ndjson');
  let service: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    const args = ['--port', '0', '--data', data, '--events', events, '--inspect'];
    service = await start(args, { DYNAMODB_ENDPOINT: dynamodbEndpoint(), NODE_OPTIONS: '--inspect-port=0' });
  });
  afterAll(() => void service.child.kill('SIGKILL'));

  it('writes events to the file', async () => {
    const merge = { alert_ids: ['b'.repeat(24)], incident_id: 'a'.repeat(24) };
    expect((await callService(service.url, '/alert/merge', key, merge)).status).toBe(200);
    await expect.poll(() => readFileSync(events, 'utf8')).toContain('b'.repeat(24));
  });

  it('lets a debugger stop in a function', async () => {
    const [address = ''] = /ws:\/\/\S+/.exec(service.errors()) ?? [];
    const socket = new WebSocket(address);
    const paused = Promise.withResolvers<string>();
    const answers = new Map<number, () => void>();
    socket.addEventListener('message', ({ data }) => {
      const { id, method, params } = JSON.parse(String(data));
      answers.get(id)?.();
      if (method === 'Debugger.paused') paused.resolve(params.callFrames[0].functionName);
    });
    await new Promise((resolve) => socket.addEventListener('open', resolve));
    let sent = 0;
    const send = (method: string, params = {}) => {
      sent += 1;
      socket.send(JSON.stringify({ id: sent, method, params }));
      return new Promise<void>((resolve) => answers.set(sent, resolve));
    };
    await send('Debugger.enable');
    const lines = readFileSync(join(root, 'lib/http/app-keys.ts'), 'utf8').split('\n');
    const lineNumber = lines.findIndex((line) => line.includes("ApiError('Unauthorized')"));
    expect(lineNumber).toBeGreaterThan(0);
    await send('Debugger.setBreakpointByUrl', { urlRegex: '/lib/http/app-keys\\.ts(#|$)', lineNumber });
    const calling = callService(service.url, '/rum/resource/info', 'unknown');
    expect(await paused.promise).toBe('before');
    await send('Debugger.resume');
    expect((await calling).status).toBe(401);
    socket.close();
  });
});

/** Starts the service on the directory, and expects the data there. */
async function startOnDirectory(...args: string[]) {
  const service = await start(['--port', '0', '--db', db, ...args], OWN_DYNAMODB);
  onTestFinished(() => void service.child.kill('SIGKILL'));
  const { body } = await callService(service.url, '/monit/servicemap/fleet', key);
  expect(body).toMatchObject({ data: { items: [{ host_id: 'only' }] } });
  // The data of --data contains no demo key.
  expect(service.output()).not.toMatch(/demo/i);
  return service;
}

it('one service at a time can use a directory of --db; after the service or its supervisor is killed, the data is there and the directory is free', async () => {
  const service = await startOnDirectory('--data', data);
  // Only its user can read it.
  const files = readdirSync(db).map((name) => join(db, name));
  expect([db, ...files].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, ...files.map(() => 0o600)]);
  const second = startDynamoDb({ dbDirectory: db });
  await expect(second).rejects.toThrow(CliError);
  await expect(second).rejects.toThrow(
    `${db} is in use by another service: stop that one, or choose another directory.`,
  );
  await stopsOn('SIGKILL', service, null);

  // The next start finds the data, and loads no sample. It ends when the supervisor of DynamoDB Local is killed.
  const restarted = await startOnDirectory();
  const processes = await descendantsOf(restarted.child.pid as number);
  const [supervisor] = processes;
  process.kill(supervisor as number, 'SIGKILL');
  expect(await restarted.ended).toBe(1);
  expect(restarted.errors()).toMatch(/^DynamoDB Local has ended .*\n$/);
  await expect.poll(() => processes.filter(isAlive)).toEqual([]);
  const id = readFileSync(join(db, 'access-key-id'), 'utf8');
  expect(readdirSync(db).sort()).toEqual([`${id}_local.db`, 'access-key-id', 'lock.sqlite'].sort());
  // No lock is left behind.
  new DatabaseSync(join(db, 'lock.sqlite')).exec('BEGIN EXCLUSIVE');
}, 180_000);

it('never takes over a database that someone else has made in the directory of --db', async () => {
  const dbDirectory = mkdtempSync(join(tmpdir(), 'db-'));
  const { endpoint, stop } = await startDynamoDb({ dbDirectory });
  await createTable(endpoint, 'mine', { stream: false });
  // A stranger calls the port: DynamoDB Local makes a database for any access key id.
  const stranger = '0'.repeat(32);
  await createTable(Object.assign(new URL(endpoint), { username: stranger }).href, 'theirs', { stream: false });
  await stop();
  const file = join(dbDirectory, `${stranger}_local.db`);
  await expect(startDynamoDb({ dbDirectory })).rejects.toThrow(`${file} is not from this service: `);
  rmSync(file);
  const again = await startDynamoDb({ dbDirectory });
  onTestFinished(again.stop);
  expect(new URL(again.endpoint).username).toBe(new URL(endpoint).username);
  writeFileSync(join(dbDirectory, 'access-key-id'), '');
  await again.stop();
  await expect(startDynamoDb({ dbDirectory })).rejects.toThrow(/access-key-id .* move the directory away/);
}, 60_000);

describe('npm start --db after a crash or on a full disk', () => {
  const sampleFile = join(folder, 'sample.ndjson');
  writeFileSync(sampleFile, [...sampleData(Date.now())].join('\n'));

  it.each([
    ['the sample', []],
    ['a file', ['--data', sampleFile]],
  ])('completes the load of %s that was interrupted', async (_what, args) => {
    const directory = join(mkdtempSync(join(tmpdir(), 'cut-')), 'db');
    const onDirectory = ['--port', '0', '--db', directory];
    const loading = join(directory, 'loading');
    const cutShort = spawn(process.execPath, ['packages/local/start.ts', ...onDirectory, ...args], {
      cwd: root,
      env: { ...process.env, ...OWN_DYNAMODB },
    });
    await expect.poll(() => existsSync(loading), { timeout: 60_000, interval: 20 }).toBe(true);
    cutShort.kill('SIGKILL');
    await once(cutShort, 'close');
    const service = await start(onDirectory, OWN_DYNAMODB);
    onTestFinished(() => void service.child.kill('SIGKILL'));
    expect(service.output()).toMatch(/^Loaded .*601 host/m);
    expect(existsSync(loading)).toBe(false);
  });

  /** Whether this user can mount a file system: as root, or in a user namespace. */
  const canMount =
    spawnSync('unshare', ['--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

  it.runIf(canMount)('says at once that the disk is full', async () => {
    const small = mkdtempSync(join(tmpdir(), 'small-'));
    const command = `mount -t tmpfs -o size=600k none ${small} && exec "$0" packages/local/start.ts --port 0 --db ${small}/db`;
    const args = ['--map-root-user', '--mount', 'sh', '-c', command, process.execPath];
    const env = { ...process.env, ...OWN_DYNAMODB };
    const { status, stderr } = spawnSync('unshare', args, { cwd: root, env, encoding: 'utf8', timeout: 20_000 });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The disk of .* is full \(0 MB .*--db\.\n$/)]);
  });
});
