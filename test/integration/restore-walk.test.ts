/** Walks the restore procedure of docs/operate.md word for word, on a table that a restore could have made. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTable } from '../../infra/local/table.ts';
import { putAccount } from '../../lib/accounts/accounts.ts';
import { checkTable } from '../../lib/check/check.ts';
import { repair } from '../../lib/check/repair.ts';
import { connectTable } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type Account, newAccount } from '../support/incidents.ts';
import { handlersOver, testDeps } from '../support/service.ts';
import { changedRows, overwrite, snapshot, torn } from '../support/torn.ts';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/operate.md', root), 'utf8').split('## Restore to a point in time')[1] ?? '';
const steps = [...text.matchAll(/```sh\n(.*?)```(?:\n```text\n(.*?)```)?/gs)].map(([, commands = '', output = '']) => ({
  commands,
  output,
}));

/** Stand-ins for what is on AWS: they print what they are called with, and the ARN that is asked for. */
const STAND_INS = `
aws() { echo "aws $*" >&3; case "$*" in *describe-table*) echo arn:stream;; esac; }
npx() { echo "npx $*" >&3; }
`;

/** What differs from run to run. */
const steady = (output: string) =>
  output
    .replace(/^npm warn .*\n/gm, '')
    .replace(/\b[0-9a-f]{24}\b/g, '<id>')
    .replace(/account \d+/g, 'account <account>')
    .replace(/entry \d+/g, 'entry <entry>')
    .replace(/\d+ a second/g, '<rate> a second')
    .trim();

describe('restoring to a point in time, as docs/operate.md says', () => {
  let printed: string[];
  let calls: string;
  let at: Account;
  let alerts: string[];
  let incident: string;
  const source = `test-${randomUUID()}`;
  beforeAll(async () => {
    const name = `${source}-restored`;
    await createTable(dynamodbEndpoint(), name, { stream: false });
    const table = connectTable({ name, endpoint: dynamodbEndpoint() });
    at = await newAccount(table);
    await putAccount(table, { account_id: at.account, name: 'Acme', permissions: [] });
    incident = await at.incident();
    alerts = await at.alerts(2);
    const before = await snapshot(table, at.account);
    await at.merge(handlersOver(testDeps(table)).mergeAlerts, { alert_ids: alerts, incident_id: incident });
    const after = await snapshot(table, at.account);
    // The restore brought everything of the merge back but the move of one alert.
    const { pk, sk } = keys.alert(at.account, alerts[0] as string);
    const came = changedRows(before, after).filter((row) => row !== `${pk}\n${sk}`);
    await overwrite(table, after, torn(before, after, came));
    // The test's key came without its account: that is another story.
    await repair(
      table,
      (await Array.fromAsync(checkTable(table))).flat().filter(({ kind }) => /^app_key/.test(kind)),
    );
    await repair(
      table,
      (await Array.fromAsync(checkTable(table))).flat().filter(({ kind }) => /^app_key/.test(kind)),
    );

    const script = [STAND_INS, 'exec 2>&1', ...steps.map(({ commands }) => `${commands}\nprintf '\n@@@\n'`)].join('\n');
    const { AWS_REGION: _region, ...env } = process.env;
    const shell = spawn('bash', ['-c', script.replace('TABLE=IncidentMonitoringRum-Table', `TABLE=${source}`)], {
      cwd: root,
      env: { ...env, DYNAMODB_ENDPOINT: dynamodbEndpoint() },
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    let output = '';
    let called = '';
    shell.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    shell.stdio[3]?.on('data', (chunk: Buffer) => {
      called += chunk.toString();
    });
    await new Promise((resolve) => shell.once('close', resolve));
    printed = output.split('\n@@@\n');
    calls = called;
    table.client.destroy();
  }, 120_000);

  it.each(steps.map(({ commands, output }, index) => ({ command: commands.split('\n')[0], output, index })))(
    '$command',
    ({ output, index }) => {
      expect(steady(printed[index] ?? '')).toBe(steady(output));
    },
  );

  it('moves the alert that was left behind', async () => {
    expect(await at.whereabouts(alerts)).toEqual([incident, incident]);
  });

  it('restores beside the table, gives the new one what a restore does not, and deploys with it', () => {
    expect(calls.split('\n').map((call) => call.split(' ').slice(0, 3).join(' '))).toEqual([
      'aws dynamodb restore-table-to-point-in-time',
      'aws dynamodb wait',
      'aws dynamodb update-table',
      'aws dynamodb update-time-to-live',
      'aws dynamodb update-continuous-backups',
      'aws dynamodb describe-table',
      'npx cdk deploy',
      '',
    ]);
    expect(calls).toContain(`--source-table-name ${source} --target-table-name ${source}-restored`);
    expect(calls).toContain('npx cdk deploy -c adoptTable=arn:stream');
  });
});
