import { Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import {
  AttributeType,
  Billing,
  type ITableV2,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { ALERT_INDEX } from '../lib/table/alert-index.ts';
import { type DeploymentSettings, DeploymentSettingsError } from './stack-settings.ts';
import { TABLE } from './table-definition.ts';

/**
 * Creates the table with its replicas, or refers to the one that `adoptTable` names. It is kept when the stack is deleted, unless that is
 * ephemeral. Replicas are eventually consistent, since strongly consistent ones take no transactions.
 */
export function createServiceTable(scope: Construct, settings: DeploymentSettings): ITableV2 {
  const { adoptTable: adopted, ephemeral, maxWriteUnits, replicaRegions } = settings;
  if (adopted !== undefined) {
    requireSameAccountAndRegion(adopted, Stack.of(scope));
    return TableV2.fromTableAttributes(scope, 'Table', {
      tableArn: adopted.replace(/\/stream\/.*$/, ''),
      tableStreamArn: adopted,
    });
  }
  const { region } = Stack.of(scope);
  if (replicaRegions.length > 0 && (Token.isUnresolved(region) || replicaRegions.includes(region)))
    throw new DeploymentSettingsError(
      `Context replicaRegions names the other regions, and synthesis must know the stack's own: ${Token.isUnresolved(region) ? 'set region, or synthesize with credentials' : `leave out ${region}`}.`,
    );
  const table = new TableV2(scope, 'Table', {
    partitionKey: { name: TABLE.partitionKey, type: AttributeType.STRING },
    sortKey: { name: TABLE.sortKey, type: AttributeType.STRING },
    globalSecondaryIndexes: [
      {
        indexName: ALERT_INDEX.name,
        partitionKey: { name: ALERT_INDEX.partitionKey, type: AttributeType.STRING },
        sortKey: { name: ALERT_INDEX.sortKey, type: AttributeType.STRING },
        projectionType: ProjectionType[ALERT_INDEX.projection],
      },
    ],
    timeToLiveAttribute: TABLE.timeToLive,
    dynamoStream: StreamViewType[TABLE.streamView],
    billing: Billing.onDemand({ maxWriteRequestUnits: maxWriteUnits }),
    encryption: TableEncryptionV2.awsManagedKey(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: !ephemeral,
    // Each also has recovery, protection and tags, which DynamoDB does not copy.
    replicas: replicaRegions.map((region) => ({ region })),
    removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
  });
  // aws-cdk-lib is compiled without exactOptionalPropertyTypes, so its class is not assignable to its own interface.
  return table as ITableV2;
}

/**
 * Requires that the table is in the stack's account and region. Checks nothing if these are unknown, as in synthesis without credentials;
 * `cdk deploy` knows them.
 * @throws DeploymentSettingsError if the table is in another account or region than the stack
 */
function requireSameAccountAndRegion(adopted: string, { account, region }: Stack): void {
  const [, , , tableRegion, tableAccount] = adopted.split(':');
  const differs = (ofStack: string, ofTable: string | undefined) => !Token.isUnresolved(ofStack) && ofStack !== ofTable;
  if (differs(account, tableAccount) || differs(region, tableRegion))
    throw new DeploymentSettingsError(
      `Context adoptTable names a table of account ${tableAccount} in ${tableRegion}, but the stack is in account ${account} and ${region}: its functions could not read the table.`,
    );
}

/** The table's point-in-time recovery covers 35 days. */
const BACKUP_RETENTION = Duration.days(7);
const COPY_RETENTION = Duration.days(35);

/**
 * Daily backups of the table, which outlive the stack. Copies in a vault of another account outlive the loss of the account.
 * @param copyVaultArn vault, in another account or region, that receives a copy of each backup
 * @returns the vault of the backups themselves
 */
export function addBackups(scope: Construct, table: ITableV2, copyVaultArn: string): BackupVault {
  const backups = new Construct(scope, 'Backups');
  const rule = new BackupPlanRule({
    ruleName: 'daily',
    scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
    deleteAfter: BACKUP_RETENTION,
    copyActions: [
      {
        destinationBackupVault: BackupVault.fromBackupVaultArn(backups, 'Copies', copyVaultArn),
        deleteAfter: COPY_RETENTION,
      },
    ],
  });
  // By default a vault is kept when the stack is deleted.
  const backupVault = new BackupVault(backups, 'Vault');
  const plan = new BackupPlan(backups, 'Plan', { backupVault, backupPlanRules: [rule] });
  plan.addSelection('Table', { resources: [BackupResource.fromArn(table.tableArn)] });
  return backupVault;
}
