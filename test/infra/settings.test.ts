import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import flags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { readContextFiles, readDeploymentSettings } from '../../infra/stack-settings.ts';

const read = (context: Record<string, unknown> = {}) => readDeploymentSettings(context);

const STREAM = 'arn:aws:dynamodb:eu-west-1:123456789012:table/T/stream/2026-01-01T00:00:00.000';

it('docs/deploy.md has the default of each setting', () => {
  const rows = readFileSync('docs/deploy.md', 'utf8').matchAll(/^\| `(\w+)` \| `?([^`|]+?)`? \|/gm);
  const defaults = Object.entries(read()).map(([name, value]) => [name, String(value ?? '') || 'none']);
  expect(Object.fromEntries([...rows].map(([, name, text]) => [name, text]))).toEqual(Object.fromEntries(defaults));
});

describe('a wrong setting stops synthesis with an error message', () => {
  it.each([
    ['stageName', 'v 1', '1 to 128 letters, digits or underscores'],
    ['apiGatewayAccount', 'no', 'true or false'],
    ['serviceMapEnabled', 'yes', 'true or false'],
    ['maxBodyBytes', '1e6', 'an integer from 1024 to 393216'],
    ['logRetentionDays', '31', 'one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731'],
    ['adoptTable', 'Old-Table-1', "the LatestStreamArn of a table's description"],
    ['backupVaultArn', 'copies', 'the ARN of a backup vault'],
    ['pageTo', 'ops', 'an e-mail address or the ARN of an SNS topic'],
    ['ticketTo', 'arn:aws:sqs:eu-west-1:123456789012:q', 'an e-mail address or the ARN of an SNS topic'],
    ['runbookUrl', 'http://wiki', 'the https address of your copy of docs/operate.md'],
    ['domainName', 'https://api.example.com', 'a domain name in lower case'],
    ['certificateArn', 'arn:aws:iam::1:server-certificate/a', 'the ARN of a certificate of ACM'],
    ['webAclArn', 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/a/b', 'the ARN of a regional web ACL'],
    ['tags', 'team', 'tags as name=value,name=value'],
    ['stackName', 'my stack', '1 to 64 letters, digits or hyphens, a letter first'],
    // Its smallest share would be 0.
    ['reservedConcurrency', '19', '0 or at least 20'],
    ['feedAccounts', '111122223333,1', 'ids of AWS accounts, separated by commas'],
  ])('%s = %s', (name, value, requirement) => {
    expect(() => read({ [name]: value })).toThrow(`Context ${name} must be ${requirement}, not "${value}".`);
  });

  it('and several settings with a line each', () => {
    expect(() => read({ stageRate: '0', pageTo: 'ops' })).toThrow(/^Context stageRate .*\nContext pageTo .*$/);
  });
});

describe('a stage', () => {
  const stages = { Production: { adoptTable: STREAM, stageRate: 500, writesFrozen: true }, Staging: { stageRate: 5 } };

  it('has the settings of its own block, which -c overrides and an empty value unsets', () => {
    expect(read({ stages, stackName: 'Production' })).toMatchObject({ adoptTable: STREAM, stageRate: 500 });
    expect(read({ stages, stackName: 'Staging' })).toMatchObject({ adoptTable: undefined, stageRate: 5 });
    const overridden = { stages, stackName: 'Production', adoptTable: '', writesFrozen: 'false' };
    expect(read(overridden)).toMatchObject({ adoptTable: undefined, writesFrozen: false, stageRate: 500 });
  });

  it.each([
    ['its block', { stages: { IncidentMonitoringRum: { adoptTabel: STREAM } } }, 'adoptTabel', 'adoptTable'],
    ['-c', { logRetentionDay: '90' }, 'logRetentionDay', 'logRetentionDays'],
  ])('is refused if %s has a name that is no setting', (_where, context, wrong, right) => {
    expect(() => read(context)).toThrow(`Context ${wrong} is no setting: did you mean ${right}?`);
  });

  it.each([
    [{ domainName: 'api.example.com' }, 'domainName and certificateArn require each other'],
    [{ disableExecuteApiEndpoint: 'true' }, 'disableExecuteApiEndpoint requires a domainName'],
  ])('is refused with %o alone', (context, message) => {
    expect(() => read(context)).toThrow(message);
  });

  it.each([
    ['cdk.json', { context: { adoptTable: STREAM } }],
    ['cdk.context.json', { adoptTable: STREAM }],
  ])('is refused if %s has a setting for all stages', (file, content) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'context-'));
    writeFileSync(join(folder.path, file), JSON.stringify(content));
    expect(() => readContextFiles(new URL(`file://${folder.path}/`))).toThrow(
      `${file} sets adoptTable for every stage: move it to stages.<stackName>`,
    );
  });
});

it("cdk.json sets the CDK's recommended feature flags, but for one that would hide notices in a report", () => {
  const annotations = { '@aws-cdk/core:annotationsInValidationReport': false };
  expect(cdk.context).toMatchObject({ ...flags, ...annotations });
});

it.each(['aws', 'aws-cn', 'aws-us-gov'])('a table of the partition %s can be adopted', (partition) => {
  const adoptTable = `arn:${partition}:dynamodb:a-region-1:123456789012:table/T/stream/2026-01-01T00:00:00.000`;
  expect(read({ adoptTable })).toMatchObject({ adoptTable });
});

// API Gateway takes at most 10,000 calls a second of an account; the feed entry of a larger merge does not fit into a row.
it.each([
  ['maxBodyBytes', 1024, 393_216],
  ['stageRate', 1, 10_000],
  ['mergeConcurrency', 2, 1000],
  ['feedConcurrency', 2, 1000],
])('%s is an integer from %d to %d', (name, min, max) => {
  for (const value of [min, max]) expect(read({ [name]: String(value) })).toMatchObject({ [name]: value });
  for (const value of [min - 1, max + 1])
    expect(() => read({ [name]: String(value) })).toThrow(
      `Context ${name} must be an integer from ${min} to ${max}, not "${value}".`,
    );
});
