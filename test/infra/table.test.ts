/** The table, its backups, and what is left of a stack that was destroyed: docs/deploy.md. */
import { describe, expect, it } from 'vitest';
import { functionsOf, resourcesOf } from '../../packages/local/template.ts';
import { deployed, only, propertiesOf, readable, shortId } from '../support/stack.ts';

const template = deployed();

describe('the table', () => {
  it('is on demand without a limit, encrypted, recoverable, protected, with TTL, a stream of new images, and no index', () => {
    expect(readable(only('AWS::DynamoDB::GlobalTable', template).Properties)).toEqual({
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      Replicas: [
        {
          Region: 'AWS::Region',
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      ],
    });
  });

  it('of a destroyed stack is used in place of a new one', () => {
    const stream = 'arn:aws:dynamodb:eu-west-1:123456789012:table/Old-Table-1/stream/2026-11-21T10:00:00.000';
    const adopting = deployed({ adoptTable: stream });
    expect(resourcesOf(adopting, 'AWS::DynamoDB::GlobalTable')).toEqual({});
    expect(adopting.Outputs?.TableName?.Value).toBe('Old-Table-1');
    for (const [name, { Properties }] of functionsOf(adopting))
      if (name !== 'fallback-route' && name !== 'openapi-document')
        expect([name, Properties.Environment.Variables.TABLE_NAME]).toEqual([name, 'Old-Table-1']);
    const sources = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', adopting)).map(
      (one) => one.EventSourceArn,
    );
    expect(sources).toContain(stream);
  });
});

it('a destroyed stack leaves the table and the role for access logs', () => {
  const kept = Object.entries(template.Resources).filter(
    ([, { DeletionPolicy, UpdateReplacePolicy }]) =>
      (DeletionPolicy ?? 'Delete') !== 'Delete' || (UpdateReplacePolicy ?? 'Delete') !== 'Delete',
  );
  for (const [, { DeletionPolicy, UpdateReplacePolicy }] of kept)
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
  expect(kept.map(([id]) => shortId(id)).sort()).toEqual(['ServiceApiAccount', 'ServiceApiCloudWatchRole', 'Table']);
});

const VAULT = 'arn:aws:backup:eu-central-1:210987654321:backup-vault:copies';

describe('backups', () => {
  it('are made each day with a copy in another account; their vault is kept when the stack is destroyed', () => {
    const template = deployed({ backupVaultArn: VAULT });
    const days = { DeleteAfterDays: 35 };
    expect(readable(only('AWS::Backup::BackupPlan', template).Properties).BackupPlan.BackupPlanRule).toEqual([
      {
        RuleName: 'daily',
        ScheduleExpression: 'cron(0 3 * * ? *)',
        TargetBackupVault: 'BackupsVault.BackupVaultName',
        Lifecycle: days,
        CopyActions: [{ DestinationBackupVaultArn: VAULT, Lifecycle: days }],
      },
    ]);
    expect(readable(only('AWS::Backup::BackupSelection', template).Properties).BackupSelection.Resources).toEqual([
      'Table.Arn',
    ]);
    const vault = only('AWS::Backup::BackupVault', template);
    expect([vault.DeletionPolicy, vault.UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
  });

  it('are not made without that vault', () => {
    for (const type of ['BackupPlan', 'BackupSelection', 'BackupVault'])
      expect(resourcesOf(deployed(), `AWS::Backup::${type}`)).toEqual({});
  });
});
