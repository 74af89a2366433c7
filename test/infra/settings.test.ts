import { describe, expect, it } from 'vitest';
import { readDeploymentSettings } from '../../infra/stack-settings.ts';

const read = (context: Record<string, unknown> = {}) =>
  readDeploymentSettings({ tryGetContext: (name: string) => context[name] });

describe('a wrong setting stops synthesis with an error message', () => {
  it.each([
    ['stageName', 'v 1', '1 to 128 letters, digits or underscores'],
    ['apiGatewayAccount', 'no', 'true or false'],
    ['serviceMapEnabled', 'yes', 'true or false'],
    ['maxBodyBytes', '1e6', 'an integer from 1024 to 393216'],
    ['logRetentionDays', '31', 'one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731'],
    ['adoptTable', 'Old-Table-1', "the LatestStreamArn of a table's description"],
    ['backupVaultArn', 'copies', 'the ARN of a backup vault'],
    ['alarmEmail', 'ops', 'an e-mail address'],
    ['alarmTopicArn', 'on-call', 'the ARN of an SNS topic'],
    ['stackName', 'my stack', '1 to 64 letters, digits or hyphens, a letter first'],
    // Its smallest share would be 0.
    ['reservedConcurrency', '19', '0 or at least 20'],
    ['feedAccounts', '111122223333,1', 'ids of AWS accounts, separated by commas'],
  ])('%s = %s', (name, value, requirement) => {
    expect(() => read({ [name]: value })).toThrow(`Context ${name} must be ${requirement}, not "${value}".`);
  });

  it('and several settings with a line each', () => {
    expect(() => read({ stageRate: '0', alarmEmail: 'ops' })).toThrow(/^Context stageRate .*\nContext alarmEmail .*$/);
  });
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
