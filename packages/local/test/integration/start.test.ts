import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_STATUSES } from '../../../../lib/operations/browse-fleet/schema.ts';
import { runCommand } from '../../../admin/test/support/run-admin.ts';
import { steady, stepsOf, walk } from '../../../admin/test/support/walk.ts';
import { DEMO_KEYS } from '../../sample.ts';
import { callService, root, start, stopsOn } from '../support/start-service.ts';
import { whileBusy } from '../support/while-busy.ts';

const run = promisify(execFile);

describe('npm start', () => {
  let service: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    service = await start(['--port', '0', '--still'], {
      DYNAMODB_ENDPOINT: undefined,
      // SIGUSR2 throws an error that nothing catches.
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent('process.on("SIGUSR2", () => { throw new Error("planted"); })')}`,
    });
  });
  // All processes that it started stop with it.
  afterAll(() => stopsOn('SIGINT', service));

  const retryWhileBusy = whileBusy();
  const call = (path: string, body: object, key: string = DEMO_KEYS.demo) =>
    retryWhileBusy(() => callService(service.url, path, key, body));

  /** An answer without what differs from call to call: ids of requests, cursors, times. */
  const comparable = (answer: unknown) =>
    JSON.stringify(answer, (name, value) =>
      /^(request_id|next_cursor)$|_(ms|at|time)$/.test(name) && name !== 'report_interval_ms' ? typeof value : value,
    );

  it('prints a curl for each operation that works when pasted, and answers as the README shows', async () => {
    const curls = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('curl '));
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const shown = [...readme.matchAll(/```sh\n(curl .*)\n```\n```json\n(.*)\n```/g)];
    expect(curls).toHaveLength(6);
    expect(shown.map(([, curl]) => curl?.replace('http://127.0.0.1:3000', service.url))).toEqual(curls);
    const answerOf = async (curl: string) => JSON.parse((await run('bash', ['-c', curl])).stdout);
    for (const [index, curl] of curls.entries()) {
      // On a busy machine the live status, or the whole answer, may be missing. The README shows a page with live status.
      const { answer } = await retryWhileBusy(async () => {
        const answer = await answerOf(curl);
        return { answer, status: answer.data?.partial || answer.error?.code === 'ServiceUnavailable' ? 503 : 200 };
      });
      expect(comparable(answer)).toEqual(comparable(JSON.parse(shown[index]?.[2] ?? '')));
    }
  });

  it('shows a line for each request, and never a key', async () => {
    const before = service.output().length;
    await call('/rum/resource/info', {});
    await expect
      .poll(() => service.output().slice(before))
      .toMatch(/POST \/rum\/resource\/info 200 OK [\d.]+ ms [\da-f-]{36}\n/);
    const requests = service.output().slice(service.output().indexOf('Requests:'));
    expect(requests).not.toContain('demo-key');
    // Log lines and metrics of successful calls are for CloudWatch, and are not printed here.
    expect(requests).not.toMatch(/^\{.*("INFO"|"_aws")/m);
    // On a busy machine a key may not be looked up in time.
    const slow = 'The function usage-key-authorizer failed: the app key cannot be looked up\n';
    expect(service.errors().replaceAll(slow, '')).toBe('');
  });

  it('keeps running whatever path a web page requests, and after an error that nothing catches', async () => {
    for (const name of ['constructor', 'toString', '__proto__', 'swagger-ui.css/../../package.json'])
      expect((await fetch(`${service.url}/docs/${name}`)).status).toBe(404);
    expect((await fetch(`${service.url}/docs/swagger-ui.css`)).status).toBe(200);
    const opened = await fetch(service.url, { headers: { Accept: 'text/html,*/*;q=0.8' }, redirect: 'manual' });
    expect([opened.status, opened.headers.get('location')]).toEqual([302, '/docs']);
    expect((await fetch(service.url)).status).toBe(404);
    service.child.kill('SIGUSR2');
    await expect.poll(() => service.errors()).toMatch(/\(the service keeps running\): Error: planted/);
    expect((await call('/rum/resource/info', {})).status).toBe(200);
  });

  it('has a sample fleet of 600 hosts in all seven statuses, 6 edge clusters and 4 agent versions', async () => {
    const { out } = await runCommand(['host', 'list', '--account', '1', '--service', service.url, '--json']);
    const hosts = JSON.parse(out) as { status: string; edge_cluster: string; agent_version: string }[];
    expect(hosts).toHaveLength(600);
    expect(new Set(hosts.map(({ status }) => status))).toEqual(new Set(FLEET_STATUSES));
    expect(new Set(hosts.map(({ edge_cluster }) => edge_cluster)).size).toBe(6);
    expect(new Set(hosts.map(({ agent_version }) => agent_version)).size).toBe(4);
  });

  it('has an account without the permission, an expired and a revoked key', async () => {
    const codeOf = async (key: string) => (await call('/monit/servicemap/fleet', {}, key)).body.error?.code;
    expect(await codeOf(DEMO_KEYS.withoutPermission)).toBe('AccessDenied');
    expect(await codeOf(DEMO_KEYS.expired)).toBe('Unauthorized');
    expect(await codeOf(DEMO_KEYS.revoked)).toBe('Unauthorized');
  });

  describe('the first day of docs/operate.md, word for word', () => {
    const document = readFileSync(join(root, 'docs/operate.md'), 'utf8');
    const steps = stepsOf(document.split('\n## Alarms')[0] ?? '');
    let printed: string[];
    beforeAll(async () => {
      const walked = await walk(steps, {
        // On a busy machine a call may be answered with 503.
        adapt: (script) =>
          `set -e\ncurl() { command curl --fail --retry 3 "$@"; }\n${script.replace('http://127.0.0.1:3000', service.url)}`,
        env: { SERVICE_URL: service.url, DYNAMODB_ENDPOINT: undefined },
      });
      ({ printed } = walked);
      if (walked.exitCode !== 0)
        throw new Error(`the walk ended with exit code ${walked.exitCode}:\n${printed.join('\n')}`);
    }, 300_000);

    it.each(steps.map(({ commands, output }, index) => ({ command: commands.split('\n')[0], output, index })))(
      '$command',
      ({ output, index }) => {
        const comparable = (text: string) => steady(text.replace(/\S+\/tmp\.\w+/, '<folder>'));
        expect(comparable(printed[index] ?? '')).toBe(comparable(output));
      },
    );
  });
});
