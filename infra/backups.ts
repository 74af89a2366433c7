import { Duration } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';

const KEPT = Duration.days(35);

export interface BackupsProps {
  readonly table: ITableV2;
  /** The vault, of another account or region, that takes a copy of each backup. */
  readonly copyTo: string;
}

/** Daily backups of the table, which outlive the stack and, by their copies, the loss of its account. */
export class Backups extends Construct {
  constructor(scope: Construct, id: string, { table, copyTo }: BackupsProps) {
    super(scope, id);
    const rule = new BackupPlanRule({
      ruleName: 'daily',
      scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
      deleteAfter: KEPT,
      copyActions: [
        { destinationBackupVault: BackupVault.fromBackupVaultArn(this, 'Copies', copyTo), deleteAfter: KEPT },
      ],
    });
    // A vault is kept when the stack is deleted: that is its default.
    const plan = new BackupPlan(this, 'Plan', { backupVault: new BackupVault(this, 'Vault'), backupPlanRules: [rule] });
    plan.addSelection('Table', { resources: [BackupResource.fromArn(table.tableArn)] });
  }
}
