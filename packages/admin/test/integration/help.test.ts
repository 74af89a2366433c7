/** Every example of the help works as it stands. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { keys } from '../../../../lib/table/keys.ts';
import { wordsOf } from '../../../../test/support/documents.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newTable, stored } from '../../../../test/support/service.ts';
import { FEED_OUTPUTS } from '../../feed/queues.ts';
import { ACME, adminOn, makeAcme } from '../support/acme.ts';
import { enterFakeAws } from '../support/aws.ts';
import { commandNames, commandsWith, runCommand } from '../support/run-admin.ts';

const root = new URL('../../../../', import.meta.url);

const helps = await Promise.all(commandNames.map((words) => runCommand([...words, '--help'])));
/** The examples that the help of each command ends with. */
const lines = [
  ...new Set(helps.flatMap(({ out }) => [...out.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = '']) => line))),
];
const [pipes, single] = [lines.filter((line) => line.includes(' | ')), lines.filter((line) => !line.includes(' | '))];

const folder = mkdtempSync(join(tmpdir(), 'help-'));
const table = await newTable();
const outputs: Record<string, string> = { TableName: table.name, AccountPlanId: 'plan', AccessLogs: 'access' };
const aws = await enterFakeAws({ name: 'IncidentMonitoringRum', outputs });
for (const name of Object.values(FEED_OUTPUTS)) outputs[name] = `${aws.url}/123456789012/${name}`;
await makeAcme(table);

it('has an example for every command', () => {
  for (const name of commandNames)
    expect(
      lines.filter((line) => line.includes(`admin -- ${name.join(' ')}`)),
      name.join(' '),
    ).not.toEqual([]);
});

/** Commands whose output is data anyway, or is for a person. */
const WITHOUT_JSON = ['export', 'console', 'preflight'];

it('has --json for every command that is not a group', () => {
  const words = commandNames.map((name) => name.join(' '));
  const isGroup = (name: string) => name === '' || words.some((word) => word.startsWith(`${name} `));
  const withJson = [...commandsWith('--json'), ...WITHOUT_JSON];
  expect(words.filter((name) => !isGroup(name) && !withJson.some((prefix) => name.startsWith(prefix)))).toEqual([]);
});

it('shows defaults as they would be typed, such as 7d', () => {
  for (const { out } of helps) expect(out).not.toMatch(/default: \d{4,}/);
});

/**
 * 1 for an example that makes others fail, so it must run last: a revoked key cannot be rotated, and a stack with
 * removed keys cannot be used.
 */
const runsLast = (line: string) => Number(/app-key revoke|gateway-keys remove/.test(line));

describe('an example of the help', () => {
  it.each(single.sort((a, b) => runsLast(a) - runsLast(b)))('%s', async (line) => {
    const [, command = ''] = /^npm run --silent admin -- (.*)$/.exec(line) ?? [];
    const args = wordsOf(command).map((word) => {
      if (word === 'hosts.ndjson') return '-';
      if (word === 'acme.ndjson') return join(folder, word);
      return word.startsWith('IncidentMonitoringRum-Table') ? table.name : word;
    });
    if (command.startsWith('gateway-keys remove')) aws.gateway.attached = [];
    const stdin = `{"kind":"member","account_id":${ACME},"member_id":1,"name":"n"}\n`;
    const { exitCode, err } = await adminOn(table)(args, { stdin });
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
  });

  it.each(pipes)('%s, in a shell', async (pipe) => {
    const other = await newTable();
    const command = pipe.replace('--stack Other --yes', `--table ${other.name} --endpoint ${dynamodbEndpoint()}`);
    expect(command).not.toBe(pipe);
    const env = { ...process.env, DYNAMODB_ENDPOINT: dynamodbEndpoint(), TABLE_NAME: table.name };
    const shell = spawn('bash', ['-o', 'pipefail', '-c', command], { cwd: fileURLToPath(root), env, stdio: 'ignore' });
    expect(await new Promise((resolve) => shell.once('close', resolve))).toBe(0);
    expect((await stored(other, keys.account(ACME))).name).toBe('Acme');
  });
});

it.each([
  ['stdout', ['--help'], 0],
  ['stderr', ['no-such-command'], 2],
] as const)('a command whose %s nobody reads ends as usual', async (name, args, exitCode) => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../cli/admin.ts', import.meta.url)), ...args]);
  let otherOutput = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (otherOutput += chunk));
  child[name].destroy();
  await once(child, 'close');
  expect([child.exitCode, otherOutput]).toEqual([exitCode, '']);
});
