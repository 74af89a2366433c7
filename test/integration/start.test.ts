import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { lockDirectory } from '../../infra/local/directory-lock.ts';
import { startDynamoDb } from '../../infra/local/dynamodb-local.ts';
import { isAlive } from '../../infra/local/running.ts';
import { DEMO_KEYS } from '../../infra/local/sample.ts';
import { StartError } from '../../infra/local/start-error.ts';
import { FLEET_STATUSES } from '../../lib/api/operations.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { descendantsOf, start, stopsOn } from '../support/start.ts';
import { steady, stepsOf, walk } from '../support/walk.ts';

const root = new URL('../../', import.meta.url);
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'start-'));

const takenPort = (server: Server) => {
  const address = server.address();
  return String(typeof address === 'object' ? address?.port : '');
};

describe('npm start', () => {
  let service: Awaited<ReturnType<typeof start>>;
  let url: string;
  beforeAll(async () => {
    service = await start(['--port', '0'], {
      DYNAMODB_ENDPOINT: undefined,
      // A way to an error that nothing catches.
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent('process.on("SIGUSR2", () => { throw new Error("planted"); })')}`,
    });
    url = /Serving at (\S+)/.exec(service.output())?.[1] ?? '';
  });
  afterAll(() => service.child.kill('SIGKILL'));

  /** Calls, and again where a busy machine answers 503. */
  const call = async (path: string, body: object, key: string = DEMO_KEYS.demo) => {
    for (let left = 9; ; left -= 1) {
      const response = await fetch(`${url}${path}?app_key=${key}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { data?: Record<string, unknown>; error?: { code: string } };
      if (response.status !== 503 || left === 0) return { response, body: answer };
    }
  };

  /** What the printed calls answered. */
  const answers: unknown[] = [];
  /** An answer without what differs from call to call: ids of requests, cursors, times. */
  const typical = (answer: unknown) =>
    JSON.stringify(answer, (name, value) =>
      /^(request_id|next_cursor)$|_(ms|at|time)$/.test(name) && name !== 'report_interval_ms' ? typeof value : value,
    );

  it('prints a curl for each operation that works when pasted', async () => {
    const curls = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('curl '));
    expect(curls).toHaveLength(4);
    const answerOf = async (curl: string) => JSON.parse((await run('bash', ['-c', curl])).stdout);
    for (const curl of curls) {
      let answer = await answerOf(curl);
      // On a busy machine live status, or all, may come too late: the README shows a page that has it.
      while (answer.data?.partial || answer.error?.code === 'ServiceUnavailable') answer = await answerOf(curl);
      expect(answer).toHaveProperty('data');
      answers.push(answer);
    }
  });

  it('answers as the README shows', async () => {
    const readme = readFileSync(new URL('README.md', root), 'utf8');
    const shown = [...readme.matchAll(/```sh\n(curl .*)\n```\n```json\n(.*)\n```/g)];
    const printed = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('curl '));
    expect(shown.map(([, curl]) => curl?.replace('http://127.0.0.1:3000', url))).toEqual(printed);
    for (const [, , answer] of shown) expect(typical(JSON.parse(answer ?? ''))).toEqual(typical(answers.shift()));
  });

  it('shows a line for each request, and never a key', async () => {
    const before = service.output().length;
    await call('/rum/resource/info', {});
    await expect
      .poll(() => service.output().slice(before))
      .toMatch(/POST \/rum\/resource\/info 200 OK [\d.]+ ms [\da-f-]{36}\n/);
    const requests = service.output().slice(service.output().indexOf('Requests:'));
    expect(requests).not.toContain('demo-key');
    // The lines and metrics of calls that went well are for CloudWatch.
    expect(requests).not.toMatch(/^\{.*("INFO"|"_aws")/m);
    // On a busy machine keys were not looked up in time.
    const slow = 'The function usage-key-authorizer failed: the app key cannot be looked up\n';
    expect(service.errors().replaceAll(slow, '')).toBe('');
  });

  it('goes on whatever path a web page asks for, and after an error that nothing catches', async () => {
    for (const name of ['constructor', 'toString', '__proto__', 'swagger-ui.css/../../package.json'])
      expect((await fetch(`${url}/docs/${name}`)).status).toBe(404);
    expect((await fetch(`${url}/docs/swagger-ui.css`)).status).toBe(200);
    const opened = await fetch(url, { headers: { Accept: 'text/html,*/*;q=0.8' }, redirect: 'manual' });
    expect([opened.status, opened.headers.get('location')]).toEqual([302, '/docs']);
    expect((await fetch(url)).status).toBe(404);
    service.child.kill('SIGUSR2');
    await expect.poll(() => service.errors()).toMatch(/\(the service keeps running\): Error: planted/);
    expect((await call('/rum/resource/info', {})).response.status).toBe(200);
  });

  it('has a sample fleet of 600 hosts in all seven statuses, 6 edge clusters and 4 agent versions', async () => {
    const hosts: { edge_cluster: string; agent_version: string; servicemap: { status: string } }[] = [];
    let cursor: string | undefined;
    do {
      const { response, body } = await call('/monit/servicemap/fleet', { limit: 100, ...(cursor && { cursor }) });
      if (response.status === 429) {
        await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get('retry-after'))));
        continue;
      }
      hosts.push(...((body.data?.items ?? []) as typeof hosts));
      cursor = body.data?.next_cursor as string | undefined;
    } while (cursor || hosts.length === 0);
    expect(hosts).toHaveLength(600);
    expect(new Set(hosts.map((host) => host.servicemap.status))).toEqual(new Set(FLEET_STATUSES));
    expect(new Set(hosts.map((host) => host.edge_cluster)).size).toBe(6);
    expect(new Set(hosts.map((host) => host.agent_version)).size).toBe(4);
  });

  it('has an account without the permission, an expired and a revoked key', async () => {
    const codeOf = async (key: string) => (await call('/monit/servicemap/fleet', {}, key)).body.error?.code;
    expect(await codeOf(DEMO_KEYS.withoutPermission)).toBe('AccessDenied');
    expect(await codeOf(DEMO_KEYS.expired)).toBe('Unauthorized');
    expect(await codeOf(DEMO_KEYS.revoked)).toBe('Unauthorized');
  });

  it('reports in one line that it is already running', async () => {
    const again = await start(['--port', new URL(url).port]);
    expect(await again.ended).toBe(1);
    expect(again.errors()).toMatch(/^Port \d+ is in use .*--port\.\n$/);
  });

  describe('the first day of docs/operate.md, word for word', () => {
    const document = readFileSync(new URL('docs/operate.md', root), 'utf8');
    const steps = stepsOf(document.split('\n## Alarms')[0] ?? '');
    let printed: string[];
    beforeAll(async () => {
      const walked = await walk(steps, {
        // On a busy machine a call may be answered 503.
        adapt: (script) =>
          `set -e\ncurl() { command curl --fail --retry 9 "$@"; }\n${script.replace('http://127.0.0.1:3000', url)}`,
        env: { SERVICE_URL: url, DYNAMODB_ENDPOINT: undefined },
      });
      printed = walked.printed;
      if (walked.exitCode !== 0)
        throw new Error(`the walk ended with exit code ${walked.exitCode}:\n${printed.join('\n')}`);
    }, 300_000);

    it('has a step for each part of the first day', () => {
      expect(steps.length).toBeGreaterThan(15);
    });

    it.each(steps.map(({ commands, output }, index) => ({ command: commands.split('\n')[0], output, index })))(
      '$command',
      ({ output, index }) => {
        expect(steady(printed[index] ?? '')).toBe(steady(output));
      },
    );
  });

  it('stops all that it started on SIGINT', () => stopsOn('SIGINT', service));
});

describe.concurrent('npm start that cannot start', () => {
  let taken: Server;
  beforeAll(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => taken.close());

  it.each([
    ['a port that is taken', () => ['--port', takenPort(taken)], 1, /^Port \d+ is in use .*--port\.\n$/],
    ['a port that is none', () => ['--port', 'x'], 2, /^--port must be a number from 0 to 65535, not "x"\.\n$/],
    ['a part that cannot fail', () => ['--fail', 'x'], 2, /^--fail must be one of live-status, inventory, table\.\n$/],
    ['an unknown option', () => ['--prot', '1'], 2, /^Unknown option '--prot'.*--help\.\n$/],
    [
      'a data file that is not there',
      () => ['--port', '0', '--data', '/nowhere'],
      1,
      /^Cannot read \/nowhere \(ENOENT\): check --data\.\n$/,
    ],
  ])('says %s in one line', async (_what, args, exitCode, message) => {
    const { ended, errors, output } = await start(args());
    expect(await ended).toBe(exitCode);
    expect(errors()).toMatch(message);
    expect(output()).toBe('');
  });

  it('reports in one line that Java is missing', async () => {
    const { ended, errors } = await start(['--port', '0'], { PATH: folder, DYNAMODB_ENDPOINT: undefined });
    expect(await ended).toBe(1);
    expect(errors()).toBe(
      'Java was not found: install Java 17 or later and put `java` on the PATH, or set DYNAMODB_ENDPOINT.\n',
    );
  });

  // In this process: how the command shows such an error is shown above.
  it('reports in one line that DynamoDB does not respond at DYNAMODB_ENDPOINT', async () => {
    const starting = startDynamoDb({ endpoint: 'http://127.0.0.1:9' });
    await expect(starting).rejects.toThrow(StartError);
    await expect(starting).rejects.toThrow(
      /^DynamoDB does not respond at http:\/\/127\.0\.0\.1:9 .*DYNAMODB_ENDPOINT\.$/,
    );
  });

  it('names the wrong lines of a data file', async () => {
    const file = join(folder, 'wrong.ndjson');
    writeFileSync(file, '{"kind":"account","account_id":1,"name":"n","permissions":[]}\n{"kind":"host"}\nx\n');
    const { ended, errors } = await start(['--port', '0', '--data', file], {
      DYNAMODB_ENDPOINT: dynamodbEndpoint(),
    });
    expect(await ended).toBe(1);
    expect(errors()).toContain(`${file}:2: account_id is required`);
    expect(errors().trimEnd().split('\n').at(-1)).toBe(`${file}:3: is not valid JSON`);
  });

  it('shows its options with --help', async () => {
    const { ended, output } = await start(['--help']);
    expect(await ended).toBe(0);
    for (const option of ['--port', '--data', '--db', '--fail', '--help']) expect(output()).toContain(option);
  });
});

it('ends when npm is ended by a signal, which npm keeps from it', async () => {
  const npm = spawn('npm', ['start', '--silent', '--', '--port', '0'], {
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

describe('npm start --db', () => {
  const db = relative(fileURLToPath(root), join(folder, 'db'));
  const data = join(folder, 'mine.ndjson');
  const key = 'k'.repeat(43);
  writeFileSync(
    data,
    [
      { kind: 'account', account_id: 9, name: 'Mine', permissions: ['monit'] },
      { kind: 'app_key', account_id: 9, app_key: key },
      {
        kind: 'host',
        account_id: 9,
        host_id: 'only',
        agent_version: '1',
        edge_cluster: 'c',
        enabled: true,
        snapshot_ready: false,
      },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n'),
  );

  /** Starts the service on the directory, and looks for the data there. */
  async function startAgain(...args: string[]) {
    const service = await start(['--port', '0', '--db', db, ...args], { DYNAMODB_ENDPOINT: undefined });
    onTestFinished(() => void service.child.kill('SIGKILL'));
    const url = /Serving at (\S+)/.exec(service.output())?.[1];
    const response = await fetch(`${url}/monit/servicemap/fleet?app_key=${key}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(await response.json()).toMatchObject({ data: { items: [{ host_id: 'only' }] } });
    // Its own data has no demo key.
    expect(service.output()).not.toMatch(/demo/i);
    return service;
  }

  it('is for one service at a time, whose DynamoDB Local ends with it even when it is killed', async () => {
    const service = await startAgain('--data', data);
    const second = startDynamoDb({ dbDirectory: db });
    await expect(second).rejects.toThrow(StartError);
    await expect(second).rejects.toThrow(new RegExp(`^${db} is in use by process ${service.child.pid} since .*\\.$`));
    await stopsOn('SIGKILL', service, null);
  }, 180_000);

  it('keeps the data, and loads no sample over it; ends when the keeper of DynamoDB Local is killed, and frees the directory', async () => {
    const service = await startAgain();
    const processes = await descendantsOf(service.child.pid as number);
    const [keeper] = processes;
    process.kill(keeper as number, 'SIGKILL');
    expect(await service.ended).toBe(1);
    expect(service.errors()).toMatch(/^DynamoDB Local has ended .*\n$/);
    await expect.poll(() => processes.filter(isAlive)).toEqual([]);
    expect(readdirSync(db)).toEqual(['shared-local-instance.db']);
  });

  it('refuses a directory that a process which was left behind still writes to', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lock-'));
    writeFileSync(
      join(directory, 'in-use.json'),
      JSON.stringify({ pid: 999_999_999, keeper: process.pid, since: 'x' }),
    );
    await expect(lockDirectory(directory, 200)).rejects.toThrow(`in use by process ${process.pid} since x: `);
  });

  it('takes over a lock whose holder has ended', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lock-'));
    writeFileSync(join(directory, 'in-use.json'), '{"pid":999999999,"keeper":999999998,"since":"x"}');
    const lock = await lockDirectory(directory);
    await expect(lockDirectory(directory)).rejects.toThrow(`in use by process ${process.pid} since`);
    lock.release();
    expect(readdirSync(directory)).toEqual([]);
    writeFileSync(join(directory, 'in-use.json'), '{"pi');
    (await lockDirectory(directory)).release();
  });
});
