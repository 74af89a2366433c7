import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { operations } from '../../../../lib/operations/index.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { readSettings } from '../../cli/preflight-settings.ts';
import { createTable } from '../../local-service/local-table.ts';
import { enterFakeAws } from '../support/aws.ts';
import { runCommand } from '../support/run-admin.ts';

const STREAM = 'arn:aws:dynamodb:eu-west-1:123456789012:table/Restored/stream/2026-11-21T10:00:00.000';
const parameters = { BootstrapVersion: '30', AdoptedTable: STREAM, WritesFrozen: 'false' };
const aws = await enterFakeAws({ Deployed: { outputs: {}, parameters } });
const HEALTHY = { ...aws.region };
const NEW_ACCOUNT = { concurrency: 10, unreserved: 10 };
const FOR_NEW_ACCOUNT = '-c mergeConcurrency=2 -c feedConcurrency=2';
const VAULT = 'arn:aws:backup:eu-west-1:123456789012:backup-vault:copies';
/** As many calls of each operation as a region of 2,500 a second allows. */
const RATE = Math.floor(2_500 / operations.length);
const CERTIFICATE = 'arn:aws:acm:us-east-1:123456789012:certificate/c';

/** Runs preflight in a region. @returns its lines, and its exit code */
async function preflight(options = '', region: Partial<typeof HEALTHY> = {}, stack = 'None') {
  Object.assign(aws.region, HEALTHY, region);
  const args = ['preflight', '--region', 'eu-west-1', '--stack', stack, ...options.split(' ').filter(Boolean)];
  const { out, err, exitCode } = await runCommand(args);
  return { lines: out.trimEnd().split('\n'), err, exitCode };
}

it.each<[options: string, region: Partial<typeof HEALTHY>, changes: string[]]>([
  ['', {}, []],
  ['', NEW_ACCOUNT, ['Ask for 1000', FOR_NEW_ACCOUNT]],
  [`${FOR_NEW_ACCOUNT} -c reservedConcurrency=20`, NEW_ACCOUNT, ['Ask', '-c reservedConcurrency=0']],
  ['', { concurrency: 200, unreserved: 200 }, []],
  ['-c reservedConcurrency=900', {}, []],
  ['-c reservedConcurrency=920', {}, ['-c reservedConcurrency=900']],
  ['-c reservedConcurrency=900', { unreserved: 400 }, ['-c reservedConcurrency=300']],
  ['-c mergeConcurrency=600', {}, ['-c mergeConcurrency=250 -c feedConcurrency=10']],
  ['-c writesFrozen=true', {}, ['unless you restore']],
  [`-c backupVaultArn=${VAULT}`, {}, ['Name a vault']],
  [`-c backupVaultArn=${VAULT.replace('012', '013')}`, {}, []],
  ['', { rate: 2_500 }, [`-c stageRate=${RATE}`]],
  [`-c stageRate=${RATE}`, { rate: 2_500 }, []],
  ['', { gatewayKeys: 9_000 }, ['9000 of at most 10000 gateway keys']],
  ['', { gatewayKeys: 8_999, usagePlans: 299 }, ['a stack needs two']],
  [`-c domainName=a.b -c certificateArn=${CERTIFICATE}`, {}, ['Name a certificate of eu']],
  ['', { bootstrap: '' }, ['CDK bootstrap: missing']],
  ['', { bootstrap: '5' }, ['CDK bootstrap: version 5']],
  ['', { bootstrap: '6' }, []],
  // What AWS answers commands no terminal and forges no line.
  ['', { logsRole: 'role\n  ok\u001b[2J' }, ['role\\n  ok\\u001b[2J. Other APIs use it: deploy with -c apiGatewayAcc']],
])('preflight with the settings "%s" says what to change in a region with %j', async (options, region, changes) => {
  const { lines, err, exitCode } = await preflight(options, region);
  const toChange = lines.filter((line) => line.startsWith('change'));
  expect(toChange).toEqual(changes.map((text) => expect.stringContaining(text)));
  expect([exitCode, err]).toEqual(
    changes.length > 0 ? [3, expect.stringMatching(`^${changes.length} to resolve`)] : [0, ''],
  );
});

it('preflight says what the lack of a reservation risks, and refuses invalid settings', async () => {
  const risk = /^ok {6}Lambda: nothing is reserved: .*; -c reservedConcurrency=450/;
  expect((await preflight()).lines).toContainEqual(expect.stringMatching(risk));
  const refused = await preflight('-c stageRate=0');
  expect([refused.exitCode, refused.err]).toEqual([2, expect.stringMatching(/^Context stageRate must be/)]);
});

it('preflight reads the settings of the stage from cdk.json, and --context before them', () => {
  const root = pathToFileURL(join(mkdtempSync(join(tmpdir(), 'context-')), '/'));
  const stages = { Staging: { stageRate: 2, feedConcurrency: 2 } };
  writeFileSync(new URL('cdk.json', root), JSON.stringify({ context: { stages } }));
  const settings = readSettings(['feedConcurrency=4', 'stackName=Staging'], root);
  expect(settings).toMatchObject({ stageRate: 2, feedConcurrency: 4, stackName: 'Staging' });
});

it('preflight reports the table of an earlier stack, but not that of a deployed one', async () => {
  const oldStack = `Left${randomUUID().slice(0, 8)}`;
  for (const stack of [oldStack, 'Deployed'])
    await createTable(dynamodbEndpoint(), `${stack}-TableCD117FA1-${randomUUID()}`, { stream: false });
  const left = expect.stringMatching(`^change  stack and table: table ${oldStack}-Table\\S+ is left over .*: adopt`);
  const old = await preflight('', {}, oldStack);
  expect([old.exitCode, old.lines]).toEqual([3, expect.arrayContaining([left])]);
  const deployed = await preflight(
    `--json -c adoptTable=${STREAM}`,
    { logsRole: 'arn:aws:iam::1:role/OfTheStack' },
    'Deployed',
  );
  expect(deployed.exitCode).toBe(0);
  const found = expect.stringContaining('this is an update');
  expect(JSON.parse(deployed.lines.join())).toContainEqual({ what: 'stack and table', verdict: 'ok', found });
});

it.each([
  ['', 'adoptTable is none, and the deployed stack has'],
  [`-c adoptTable=${STREAM.replace('Restored', 'Other')}`, 'table/Other/stream'],
  [`-c adoptTable=${STREAM} -c writesFrozen=true`, 'writesFrozen is true, and the deployed stack has false'],
])('preflight names the table and the freeze that a deployment with "%s" would change', async (options, found) => {
  const { lines, exitCode } = await preflight(options, {}, 'Deployed');
  const changes = lines.filter((line) => /^change +stack and table/.test(line));
  expect(changes).toEqual([expect.stringContaining(found)]);
  expect(changes[0]).toMatch(/CloudFormation refuses .* --parameters \w+=/);
  expect(exitCode).toBe(3);
});

it('preflight reports a check that fails, and continues with the others', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', 'http://127.0.0.1:9');
  onTestFinished(() => void vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', undefined));
  const { lines, exitCode } = await preflight();
  expect(lines.filter((line) => /^unknown/.test(line))).toEqual([expect.stringMatching(/Lambda: .*127\.0\.0\.1:9/)]);
  expect(lines).toContainEqual(expect.stringMatching(/^ok {6}CDK bootstrap/));
  expect(exitCode).toBe(3);
});
