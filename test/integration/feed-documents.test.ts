/** Runs the examples of docs/feed.md against the local service, each in its language where that is installed. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, inject, it } from 'vitest';
import { type Key, keys } from '../../lib/dynamodb/keys.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { startService } from '../../packages/local/local-service.ts';
import { textOf } from '../support/documents.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { newTable, stored } from '../support/service.ts';

const ACCOUNT = 1;
const HOST = 'fra-1-edge-0001';
/** The gate names a Python with boto3 (`PYTHON`), and fails where a language that it installs is missing (`GATE`). */
const { PYTHON = 'python3', GATE } = process.env;

const folder = mkdtempSync(join(tmpdir(), 'feed-'));
const table = await newTable();
await loadData(table, 'test', [`{"kind":"account","account_id":${ACCOUNT},"name":"A","permissions":[]}`], {
  nowSeconds: 1,
});
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

const canRun = (command: string, ...args: string[]) => {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const member = { kind: 'member', account_id: ACCOUNT, member_id: 7, name: 'Ada' };
const LANGUAGES: Record<
  string,
  { isThere: boolean; command: (code: string) => [string, string[]]; key: Key; row: object }
> = {
  python: {
    isThere: GATE !== undefined || canRun(PYTHON, '-c', 'import boto3'),
    command: (code) => [PYTHON, ['-c', `import os\nFEED_URL = os.environ["FEED_URL"]\n${code}`]],
    key: keys.hostStatus(ACCOUNT, HOST),
    row: { node_count: 12, edge_count: 18 },
  },
  js: {
    isThere: true,
    command: (code) => [process.execPath, ['--input-type=module', '-e', `const { FEED_URL } = process.env;\n${code}`]],
    key: keys.host(ACCOUNT, HOST),
    row: { retired: true },
  },
  sh: {
    isThere: canRun('aws', '--version'),
    command: (code) => [
      'sh',
      ['-ec', `aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }\ncd ${folder}\n${code}`],
    ],
    key: keys.member(ACCOUNT, member.member_id),
    row: { name: member.name },
  },
};
const examples = [...textOf('docs/feed.md').matchAll(/```(\w+)\n(.*?)```/gs)].map(([, language = '', code = '']) => ({
  language,
  code,
}));

it('each language has an example', () => {
  expect(examples.map(({ language }) => language)).toEqual(Object.keys(LANGUAGES));
});

it.each(examples)(
  'the example in $language does what it shows',
  async ({ language, code }) => {
    const { isThere, command, key, row } = LANGUAGES[language] ?? expect.unreachable(language);
    if (!isThere) return;
    writeFileSync(join(folder, 'records.ndjson'), JSON.stringify(member));
    const env = {
      ...process.env,
      ...{ FEED_URL: service.queueUrls.FeedUrl, AWS_ENDPOINT_URL: service.url },
      ...{ AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-1' },
      ...{ AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' },
    };
    await promisify(execFile)(...command(code), { env });
    await expect.poll(() => stored(table, key), { timeout: 10_000 }).toMatchObject(row);
  },
  60_000,
);
