/** Runs what the documents show of calls, of the ingest queue and of a deployment against one local service. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { DEMO_KEYS, sampleData } from '../../infra/generate/sample.ts';
import { type Key, keys } from '../../lib/dynamodb/keys.ts';
import { browseFleet, deleteWorkItem, mergeAlerts } from '../../lib/http/operations.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { createLocalGatewayKeys } from '../../packages/admin/local-service/local-gateway-keys.ts';
import { adminOn } from '../../packages/admin/test/support/acme.ts';
import { startFakeAws } from '../../packages/admin/test/support/aws.ts';
import { startService } from '../../packages/local/local-service.ts';
import { codeSpans, documents, textOf } from '../support/documents.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { newTable, stored } from '../support/service.ts';
import { stepsOf, walk } from '../support/walk.ts';
import { whileBusy } from '../support/while-busy.ts';

const root = new URL('../../', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'documents-'));
const table = await newTable();
const gatewayKeys = createLocalGatewayKeys(table);
await loadData(table, 'sample', sampleData(Date.now()), { nowMs: Date.now(), gatewayKeys });
const service = await startService({
  template: inject('template'),
  endpoint: dynamodbEndpoint(),
  tableName: table.name,
  port: 0,
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const retryWhileBusy = whileBusy();
/** Sends a call, and repeats it while the rate limit of the fleet or a busy machine refuses it. */
async function statusOf(path: string, body: string): Promise<number> {
  const url = `${service.url}${path}?app_key=${DEMO_KEYS.demo}`;
  const headers = { 'Content-Type': 'application/json' };
  for (;;) {
    const response = await retryWhileBusy(() => fetch(url, { method: 'POST', headers, body }));
    if (response.status !== 429) return response.status;
    await sleep(1_000 * Number(response.headers.get('retry-after')));
  }
}

describe('docs/api.md', () => {
  it('shows bodies of three operations, which accept them', async () => {
    const sections = textOf('docs/api.md').matchAll(/^## [^\n]*`(\/[^`]+)`\n.*?(?=^## )/gms);
    const shown = [...sections].flatMap(([section, path = '']) =>
      [...section.matchAll(/```json\n(.*?)\n```/gs)].map(([, body = '']) => ({ path, body })),
    );
    expect(shown.map(({ path }) => path)).toEqual([browseFleet.path, deleteWorkItem.path, mergeAlerts.path]);
    for (const { path, body } of shown) expect(await statusOf(path, body)).toBe(200);
  });

  it('shows a client that lists the stale hosts', async () => {
    const [, code = ''] = /```ts\n(.*?)```/s.exec(textOf('docs/api.md')) ?? [];
    // The client is built only when it is packed: the example imports its source instead.
    const source = new URL('packages/client/src/index.ts', root);
    const program = code.replace('http://127.0.0.1:3000', service.url);
    const file = join(folder, 'client.mjs');
    writeFileSync(file, `import { createClient } from '${source}';\n${program}`);
    const commands = `'${process.execPath}' '${file}'`;
    const { printed } = await walk([{ commands, output: '' }], { env: { APP_KEY: DEMO_KEYS.demo } });
    expect(printed[0]).toMatch(/^((fra|iad|nrt|sin|gru)-\d-\w+-\d{4}\n){6,}$/);
  });
});

it('npm run smoke, as the documents show it, checks requirements, and none fails', async () => {
  const shown = documents.flatMap(({ text }) => codeSpans(text)).filter((span) => span.includes('npm run smoke -- '));
  const lines = new Set(shown.map((line) => line.replace('APP_KEY=… ', '').replace('URL', service.url)));
  expect(lines.size).toBeGreaterThan(0);
  for (const line of lines) {
    const commands = `${line} || echo exit code $?`;
    const { printed } = await walk([{ commands, output: '' }], { env: { APP_KEY: DEMO_KEYS.demo } });
    expect(printed[0]).toMatch(/\n\d+ of \d+ requirements checked: \d+ ok, 0 failed\. .*\n$/);
  }
});

it('docs/reliability.md shows how to certify a service with a new account', async () => {
  const text = textOf('docs/reliability.md');
  const [, excerpt = ''] = /```\n(4\.3.*?\n)```/s.exec(text) ?? [];
  const { printed, exitCode } = await walk(stepsOf(text), {
    adapt: (script) => `set -e -o pipefail\n${script.replace('http://127.0.0.1:3000', service.url)}`,
    env: {
      DYNAMODB_ENDPOINT: dynamodbEndpoint(),
      TABLE_NAME: table.name,
      // All requirements take minutes. 4.1-2 needs the second account without the permission.
      CERTIFY_MORE: `--only 4.1-2 ${excerpt.split(' ')[0]}`,
    },
  });
  expect([exitCode, stripVTControlCharacters(printed[0] ?? '')]).toEqual([0, expect.stringContaining(excerpt.trim())]);
  expect(printed[0]).toMatch(/^2 of 2 requirements checked: 2 ok, 0 failed\./m);
});

it('docs/deploy.md shows how to deploy, tear down and deploy again', async () => {
  const aws = await startFakeAws({
    name: 'IncidentMonitoringRum',
    outputs: { TableName: table.name, AccountPlanId: 'plan', AccessLogs: 'access' },
  });
  const leave = aws.enter();
  onTestFinished(() => {
    leave();
    aws.close();
  });
  await adminOn(table)(['gateway-keys', 'create', '--stack', 'IncidentMonitoringRum', '--region', 'eu-west-1']);
  aws.gateway.attached = [];
  const { printed, calls, exitCode } = await walk(stepsOf(textOf('docs/deploy.md')), {
    adapt: (script) => `set -e\nTABLE=${table.name} REGION=eu-west-1 URL=${service.url}\n${script}`,
    env: { ADMIN_MORE: '--yes', APP_KEY: DEMO_KEYS.demo },
  });
  const output = expect.stringMatching(/keys deleted\.\n[\s\S]*Gateway keys of .*exist\.\n/);
  expect([exitCode, printed.join('\n')]).toEqual([0, output]);
  expect(aws.gateway.attached.length).toBeGreaterThan(0);
  expect(calls.map((call) => call.replace(table.name, 'TABLE'))).toEqual([
    ...['npm ci', 'npx cdk bootstrap', 'npm run synth', 'npx cdk deploy', 'npx cdk destroy'],
    'aws dynamodb update-table --table-name TABLE --no-deletion-protection-enabled',
    'aws dynamodb delete-table --table-name TABLE',
    'aws dynamodb describe-table --table-name TABLE --query Table.LatestStreamArn --output text',
    expect.stringMatching(/^npx cdk deploy -c adoptTable=arn:aws:dynamodb:\S+$/),
  ]);
});

const ACCOUNT = 1;
const HOST = 'fra-1-edge-0001';
const MEMBER = { kind: 'member', account_id: ACCOUNT, member_id: 7, name: 'Ada' };
/** `.ci/run` sets both: `PYTHON` is a Python with boto3, and with `GATE` the example in Python is never skipped. */
const { PYTHON = 'python3', GATE } = process.env;
const canRun = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

interface Language {
  isAvailable: boolean;
  command: (code: string) => [string, string[]];
  /** The row that the example writes. */
  key: Key;
  row: object;
}
const LANGUAGES: Readonly<Record<string, Language>> = {
  python: {
    isAvailable: GATE !== undefined || canRun(PYTHON, '-c', 'import boto3'),
    command: (code) => [PYTHON, ['-c', `import os\nFEED_URL = os.environ["FEED_URL"]\n${code}`]],
    key: keys.hostStatus(ACCOUNT, HOST),
    row: { node_count: 12, edge_count: 18 },
  },
  js: {
    isAvailable: true,
    command: (code) => [process.execPath, ['--input-type=module', '-e', `const { FEED_URL } = process.env;\n${code}`]],
    key: keys.host(ACCOUNT, HOST),
    row: { retired: true },
  },
  sh: {
    isAvailable: canRun('aws', '--version'),
    command: (code) => [
      'sh',
      ['-ec', `aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }\ncd ${folder}\n${code}`],
    ],
    key: keys.member(ACCOUNT, MEMBER.member_id),
    row: { name: MEMBER.name },
  },
};
const feedExamples = new Map(
  [...textOf('docs/feed.md').matchAll(/```(\w+)\n(.*?)```/gs)].map(([, language = '', code = '']) => [language, code]),
);

it.for(Object.entries(LANGUAGES))(
  'docs/feed.md: the example in %s does what it shows',
  async ([name, language], { skip }) => {
    const { isAvailable, command, key, row } = language;
    const code = feedExamples.get(name) ?? expect.unreachable(name);
    skip(!isAvailable, `${name} cannot be run here`);
    writeFileSync(join(folder, 'records.ndjson'), JSON.stringify(MEMBER));
    const env = {
      ...process.env,
      ...{ FEED_URL: service.queueUrls.FeedUrl, AWS_ENDPOINT_URL: service.url },
      ...{ AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-1' },
      ...{ AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' },
    };
    await promisify(execFile)(...command(code), { env });
    await expect.poll(() => stored(table, key), { timeout: 10_000 }).toMatchObject(row);
  },
);
