import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { readSettings } from '../../cli/preflight-settings.ts';
import { createTable } from '../../local-service/local-table.ts';
import { enterFakeAws } from '../support/aws.ts';
import { runCommand } from '../support/run-admin.ts';

const aws = await enterFakeAws({ name: 'Deployed', outputs: {} });
const HEALTHY = { ...aws.region };
beforeEach(() => void Object.assign(aws.region, HEALTHY));

const VAULT = 'arn:aws:backup:eu-west-1:123456789012:backup-vault:copies';
const NEW_ACCOUNT = { concurrency: 10, unreserved: 10 };
const FOR_NEW_ACCOUNT = ['mergeConcurrency=2', 'feedConcurrency=2'];
const preflight = (stack: string, ...more: string[]) =>
  runCommand(['preflight', '--region', 'eu-west-1', '--stack', stack, ...more]);

describe('preflight', () => {
  it.each<[name: string, context: string[], region: Partial<typeof HEALTHY>, changes: string[]]>([
    ['nothing for an empty account', [], {}, []],
    ['nothing for settings that fit', ['reservedConcurrency=900'], {}, []],
    ['a new account', [], NEW_ACCOUNT, ['Ask for 1000', '-c mergeConcurrency=2 -c feedConcurrency=2']],
    ['a new account, with its settings', FOR_NEW_ACCOUNT, NEW_ACCOUNT, ['Ask for 1000']],
    [
      'a new account, nothing to reserve',
      [...FOR_NEW_ACCOUNT, 'reservedConcurrency=20'],
      NEW_ACCOUNT,
      ['Ask for 1000', '-c reservedConcurrency=0'],
    ],
    ['more reserved than there is', ['reservedConcurrency=920'], {}, ['-c reservedConcurrency=900']],
    ['what others have reserved', ['reservedConcurrency=900'], { unreserved: 400 }, ['-c reservedConcurrency=300']],
    ['caps beyond the account', ['mergeConcurrency=600'], {}, ['-c mergeConcurrency=250 -c feedConcurrency=10']],
    ['a freeze that was not ended', ['writesFrozen=true'], {}, ['unless you restore']],
    ['copies beside the table', [`backupVaultArn=${VAULT}`], {}, ['Name a vault']],
    ['a newer region', [], { rate: 2_500 }, ['-c stageRate=416']],
    ['a newer region, with its setting', ['stageRate=416'], { rate: 2_500 }, []],
    ['a role of other APIs', [], { logsRole: 'arn:aws:iam::1:role/Logs' }, ['-c apiGatewayAccount=false']],
    ['nearly no gateway keys left', [], { gatewayKeys: 9_500 }, ['use another region']],
    ['nearly no usage plans left', [], { usagePlans: 299 }, ['a stack needs two']],
    [
      'a certificate of another region',
      ['domainName=a.example.com', 'certificateArn=arn:aws:acm:us-east-1:123456789012:certificate/c'],
      {},
      ['Name a certificate of eu-west-1'],
    ],
    ['no bootstrap', [], { bootstrap: '' }, ['CDK bootstrap: missing']],
    ['an old bootstrap', [], { bootstrap: '5' }, ['CDK bootstrap: version 5']],
  ])('says what to change: %s', async (_name, context, region, changes) => {
    Object.assign(aws.region, region);
    const result = await preflight('None', ...context.flatMap((setting) => ['-c', setting]));
    const toChange = result.out.split('\n').filter((line) => line.startsWith('change'));
    expect(toChange).toEqual(changes.map((text) => expect.stringContaining(text)));
    expect(result.exitCode).toBe(changes.length > 0 ? 1 : 0);
  });

  it('prints nothing of what AWS answers that commands a terminal or forges a line', async () => {
    Object.assign(aws.region, { logsRole: 'role\n  ok\u001b[2J\u009b\u202e' });
    const [line] = (await preflight('None')).out.split('\n').filter((text) => text.includes('role'));
    expect(line).toContain('its role for logs is role\\n  ok\\u001b[2J\\u009b\\u202e. Other APIs use it');
  });

  it('says what the lack of a reservation risks, and refuses invalid settings', async () => {
    expect((await preflight('None')).out).toMatch(/^ok {6}Lambda: nothing is reserved: .*-c reservedConcurrency=450/m);
    for (const [context, message] of [
      ['stageRate=0', 'Context stageRate must be'],
      ['stageRate', '--context must be name=value'],
    ] as const) {
      const err = expect.stringContaining(message);
      expect(await preflight('None', '-c', context)).toMatchObject({ exitCode: 2, err });
    }
  });

  it('reads the settings of the stage from cdk.json, and --context before them', () => {
    const root = new URL(`file://${mkdtempSync(join(tmpdir(), 'context-'))}/`);
    const stages = { Staging: { stageRate: 2, feedConcurrency: 2 } };
    writeFileSync(new URL('cdk.json', root), JSON.stringify({ context: { stages } }));
    const { stageRate, feedConcurrency, stackName } = readSettings(['feedConcurrency=4', 'stackName=Staging'], root);
    expect([feedConcurrency, stageRate, stackName]).toEqual([4, 2, 'Staging']);
    rmSync(root, { recursive: true });
  });

  it('reports the table of an earlier stack, but not that of a deployed one', async () => {
    const oldStack = `Left${randomUUID().slice(0, 8)}`;
    for (const stack of [oldStack, 'Deployed'])
      await createTable(dynamodbEndpoint(), `${stack}-TableCD117FA1-${randomUUID()}`, { stream: false });
    const out = expect.stringContaining(`change  stack and table: table ${oldStack}-Table`);
    expect(await preflight(oldStack)).toMatchObject({ exitCode: 1, out });
    aws.region.logsRole = 'arn:aws:iam::1:role/OfTheStack';
    const deployed = await preflight('Deployed', '--json');
    expect(deployed.exitCode).toBe(0);
    const found = expect.stringContaining('this is an update');
    expect(JSON.parse(deployed.out)).toContainEqual({ what: 'stack and table', verdict: 'ok', found });
  });

  it('reports a check that fails, and continues with the others', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', 'http://127.0.0.1:9');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { out, exitCode } = await preflight('None');
    expect(out).toMatch(/^unknown Lambda: .*127\.0\.0\.1:9/m);
    expect(out).toContain('ok      CDK bootstrap');
    expect(exitCode).toBe(1);
  });
});
