/** The table, its backups, and what a destroyed stack leaves behind: docs/deploy.md. */
import { expect, it } from 'vitest';
import { functionsOf, resourcesOf } from '../../packages/local/template.ts';
import { deployed, only, propertiesOf, readable, shortId } from './stack.ts';

const template = deployed();
const VAULT = 'arn:aws:backup:eu-central-1:210987654321:backup-vault:copies';

it('the table is on demand without a limit, encrypted, recoverable, protected, with TTL, a stream of new images, and no index', () => {
  const { AttributeDefinitions: _attributes, ...table } = readable(
    only('AWS::DynamoDB::GlobalTable', template).Properties,
  );
  expect(table).toEqual({
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

it('a stack uses the table of a destroyed one in place of a new one', () => {
  const stream = 'arn:aws:dynamodb:eu-west-1:123456789012:table/Old-Table-1/stream/2026-11-21T10:00:00.000';
  const adopting = deployed({ adoptTable: stream });
  expect(resourcesOf(adopting, 'AWS::DynamoDB::GlobalTable')).toEqual({});
  expect(adopting.Outputs?.TableName?.Value).toBe('Old-Table-1');
  for (const [name, { Properties }] of functionsOf(adopting))
    if (name !== 'fallback-route' && name !== 'openapi-document')
      expect([name, Properties.Environment.Variables.TABLE_NAME]).toEqual([name, 'Old-Table-1']);
  const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', adopting));
  expect(mappings.map(({ EventSourceArn }) => EventSourceArn)).toContain(stream);
});

it('a destroyed stack leaves behind the table, the role for access logs and the vault of backups', () => {
  const keptResources = Object.entries(deployed({ backupVaultArn: VAULT }).Resources).flatMap(
    ([id, { DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' }]) =>
      DeletionPolicy === 'Delete' && UpdateReplacePolicy === 'Delete'
        ? []
        : `${shortId(id)}: ${DeletionPolicy}, ${UpdateReplacePolicy}`,
  );
  expect(keptResources.sort()).toEqual([
    'BackupsVault: Retain, Retain',
    'ServiceApiAccount: Retain, Retain',
    'ServiceApiCloudWatchRole: Retain, Retain',
    'Table: Retain, Retain',
  ]);
});

it('backups are made each day with a copy in another account, if the setting names its vault', () => {
  const withBackups = deployed({ backupVaultArn: VAULT });
  const days = { DeleteAfterDays: 35 };
  expect(readable(only('AWS::Backup::BackupPlan', withBackups).Properties).BackupPlan.BackupPlanRule).toEqual([
    {
      RuleName: 'daily',
      ScheduleExpression: 'cron(0 3 * * ? *)',
      TargetBackupVault: 'BackupsVault.BackupVaultName',
      Lifecycle: days,
      CopyActions: [{ DestinationBackupVaultArn: VAULT, Lifecycle: days }],
    },
  ]);
  expect(readable(only('AWS::Backup::BackupSelection', withBackups).Properties)).toMatchObject({
    BackupSelection: { Resources: ['Table.Arn'] },
  });
  expect(Object.values(template.Resources).filter(({ Type }) => Type.startsWith('AWS::Backup'))).toEqual([]);
});
