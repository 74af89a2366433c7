import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readContextFiles, readDeploymentSettings } from '../../infra/stack-settings.ts';
import { DOMAIN, OLD_STREAM, TOPIC, VAULT, WEB_ACL } from './templates.ts';

const read = (context: Record<string, unknown> = {}) => readDeploymentSettings(context);

it('docs/deploy.md has the default of each setting', () => {
  const rows = readFileSync('docs/deploy.md', 'utf8').matchAll(/^- `(\w+)` \(`?([^`)]+?)`?\): /gm);
  const defaults = Object.entries(read()).map(([name, value]) => [name, String(value ?? '') || 'none']);
  expect(Object.fromEntries([...rows].map(([, name, text]) => [name, text]))).toEqual(Object.fromEntries(defaults));
});

const { domainName, certificateArn } = DOMAIN;
const accountIds = (count: number) => Array.from({ length: count }, (_, index) => 111_122_223_333 + index).join();

it.each<[name: string, right: string[], ...wrong: string[]]>([
  ['stackName', ['a', `A${'-'.repeat(63)}`], 'my stack', '1a', 'a'.repeat(65)],
  ['stageName', ['v'.repeat(128)], 'v 1', 'v'.repeat(129)],
  ['apiGatewayAccount', ['true', 'false'], 'no'],
  // The entry of a larger merge does not fit into a row.
  ['maxBodyBytes', ['1024', '393216'], '2e3', '1023', '393217', 'x2048', '2048x', '2048.0', '-2048'],
  ['serviceMapEnabled', ['true', 'false'], 'TRUE', '1'],
  ['feedItemsPer3Seconds', ['1', '1000000'], '0', '1000001'],
  ['feedItemsPerMinute', ['1', '20000000'], '0', '20000001'],
  ['endedAlertDays', ['30', '3650'], '29', '3651'],
  ['alertSilenceSeconds', ['0', '60', '2592000'], '59', '2592001', '-0', '0x'],
  // API Gateway takes at most 10,000 calls a second of an account.
  ['stageRate', ['1', '10000'], '0', '10001'],
  ['mergeConcurrency', ['2', '1000'], '1', '1001'],
  ['feedConcurrency', ['2', '1000'], '1', '1001'],
  ['maxWriteUnits', ['1', '1000000'], '0', '1000001'],
  // The smallest share of less would be 0.
  ['reservedConcurrency', ['0', '20', '1000000'], '1', '19', '1000001'],
  ['logRetentionDays', ['1', '731'], '31', '1x', 'x1'],
  ['adoptTable', [OLD_STREAM, OLD_STREAM.replace('aws', 'aws-cn')], 'Old-Table-1', `x${OLD_STREAM}`, `${OLD_STREAM}/`],
  ['replicaRegions', ['eu-central-1', 'us-gov-west-1,ap-southeast-2'], 'Frankfurt', 'eu-central-1,', 'eu-central'],
  ['region', ['eu-central-1'], 'Frankfurt', 'eu-central-1,eu-west-1'],
  ['standby', ['false'], 'yes'],
  ['regionDigit', ['0', '9'], '-1', '10'],
  ['backupVaultArn', [VAULT], 'copies', `${VAULT} `, `x${VAULT}`],
  ['pageTo', ['ops@example.com', TOPIC], 'ops', 'a b@example.com', `x${TOPIC}`],
  ['ticketTo', [TOPIC], 'arn:aws:sqs:eu-west-1:123456789012:q'],
  ['runbookUrl', ['https://wiki'], 'http://wiki', 'https://wiki#a', 'x https://wiki'],
  ['domainName', [domainName], 'https://api.example.com', 'API.example.com', 'com', 'example.com.'],
  ['certificateArn', [certificateArn], `${certificateArn}/`, `x${certificateArn}`],
  ['webAclArn', [WEB_ACL], WEB_ACL.replace('regional', 'global'), `x${WEB_ACL}`, `${WEB_ACL} `],
  ['tags', [], 'team', 'a=b,', '=b', 'a=b=c'],
  // A queue's policy has at most 50 principals: EventBridge, SNS and everybody without TLS are three.
  ['feedAccounts', [accountIds(47)], accountIds(48), '111122223333,1', '1111222233334'],
])('%s may be %j, and nothing else, which an error explains', (name, right, ...wrong) => {
  // These require others.
  const other = { domainName: { certificateArn }, certificateArn: { domainName }, replicaRegions: { regionDigit: 1 } }[
    name
  ];
  for (const value of right) {
    const { [name as keyof ReturnType<typeof read>]: found } = read({ ...other, [name]: value });
    expect(String(found)).toBe(value);
  }
  for (const value of wrong)
    expect(() => read({ ...other, [name]: value })).toThrow(
      new RegExp(`^Context ${name} must be [\\w ].{5,}, not "${RegExp.escape(value)}"\\.$`),
    );
});

it('a stage has the settings of its own block, which -c overrides and an empty value unsets', () => {
  const stages = {
    Production: { adoptTable: OLD_STREAM, stageRate: 500, writesFrozen: true },
    Staging: { stageRate: 5 },
  };
  expect(read({ stages, stackName: 'Production' })).toMatchObject({ adoptTable: OLD_STREAM, stageRate: 500 });
  expect(read({ stages, stackName: 'Staging' })).toMatchObject({ adoptTable: undefined, stageRate: 5 });
  const overridden = { stages, stackName: 'Production', adoptTable: '', writesFrozen: 'false' };
  expect(read(overridden)).toMatchObject({ adoptTable: undefined, writesFrozen: false, stageRate: 500 });
});

it.each<[context: object, message: RegExp]>([
  [{ stageRate: '0', pageTo: 'ops' }, /^Context stageRate .*\nContext pageTo .*$/],
  [{ stages: { IncidentMonitoringRum: { adoptTabel: '' } } }, /^Context adoptTabel .*: did you mean adoptTable\?$/],
  [{ logRetentionDay: '90' }, /^Context logRetentionDay .*: did you mean logRetentionDays\?$/],
  [{ domainName }, /^Context domainName and certificateArn require each other\.$/],
  [{ disableExecuteApiEndpoint: 'true' }, /^Context disableExecuteApiEndpoint requires a domainName\.$/],
  [{ ephemeral: 'true' }, /^Context ephemeral requires a stackName of its own, and no adoptTable\.$/],
  [{ ephemeral: 'true', stackName: 'Preview', adoptTable: OLD_STREAM }, /^Context ephemeral requires a stackName/],
  [{ replicaRegions: 'eu-central-1' }, /^Context regionDigit must be another digit from 1 to 9 in each region/],
  [{ standby: 'true' }, /^Context regionDigit must/],
  [
    { replicaRegions: 'eu-central-1', regionDigit: '1', ephemeral: 'true', stackName: 'P' },
    /^Context replicaRegions is not/,
  ],
])('the context %o is refused', (context, message) => {
  expect(() => read({ ...context })).toThrow(message);
});

it.each([
  ['cdk.json', { context: { adoptTable: OLD_STREAM } }],
  ['cdk.context.json', { adoptTable: OLD_STREAM }],
])('%s is refused if it has a setting for all stages', (file, content) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'context-'));
  const root = new URL(`file://${folder.path}/`);
  expect(readContextFiles(root)).toEqual({});
  writeFileSync(new URL(file, root), JSON.stringify(content));
  expect(() => readContextFiles(root)).toThrow(`${file} sets adoptTable for every stage: move it`);
});
