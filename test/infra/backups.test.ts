import { expect, it } from 'vitest';
import { resourcesOf } from '../../packages/local/template.ts';
import { deployed, only, readable } from '../support/stack.ts';

const VAULT = 'arn:aws:backup:eu-central-1:210987654321:backup-vault:copies';

it('backs the table up each day with a copy in another account, and keeps its vault when the stack is destroyed', () => {
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

it('makes no backups of its own without that vault', () => {
  for (const type of ['BackupPlan', 'BackupSelection', 'BackupVault'])
    expect(resourcesOf(deployed(), `AWS::Backup::${type}`)).toEqual({});
});
