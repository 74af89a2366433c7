import { Duration } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';

const RETENTION = Duration.days(35);

export interface BackupsProps {
  readonly table: ITableV2;
  /** ARN of the vault, in another account or region, that takes a copy of each backup. */
  readonly copyVaultArn: string;
}

/** Daily backups of the table. They outlive the stack, and their copies outlive the loss of the account. */
export class Backups extends Construct {
  constructor(scope: Construct, id: string, { table, copyVaultArn }: BackupsProps) {
    super(scope, id);
    const rule = new BackupPlanRule({
      ruleName: 'daily',
      scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
      deleteAfter: RETENTION,
      copyActions: [
        {
          destinationBackupVault: BackupVault.fromBackupVaultArn(this, 'Copies', copyVaultArn),
          deleteAfter: RETENTION,
        },
      ],
    });
    // By default a vault is kept when the stack is deleted.
    const plan = new BackupPlan(this, 'Plan', { backupVault: new BackupVault(this, 'Vault'), backupPlanRules: [rule] });
    plan.addSelection('Table', { resources: [BackupResource.fromArn(table.tableArn)] });
  }
}
