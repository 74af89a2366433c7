import { RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  type ITableV2,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { type DeploymentSettings, DeploymentSettingsError } from './stack-settings.ts';
import { TABLE } from './table-definition.ts';

/** The one table: on demand, encrypted, with point-in-time recovery, and kept when the stack is deleted, unless the stack is ephemeral. */
export function createServiceTable(
  scope: Construct,
  { adoptTable: adopted, ephemeral }: Pick<DeploymentSettings, 'adoptTable' | 'ephemeral'>,
): ITableV2 {
  if (adopted !== undefined) {
    refuseForeign(adopted, Stack.of(scope));
    return TableV2.fromTableAttributes(scope, 'Table', {
      tableArn: adopted.replace(/\/stream\/.*$/, ''),
      tableStreamArn: adopted,
    });
  }
  const table = new TableV2(scope, 'Table', {
    partitionKey: { name: TABLE.partitionKey, type: AttributeType.STRING },
    sortKey: { name: TABLE.sortKey, type: AttributeType.STRING },
    timeToLiveAttribute: TABLE.timeToLive,
    dynamoStream: StreamViewType[TABLE.streamView],
    billing: Billing.onDemand(),
    encryption: TableEncryptionV2.awsManagedKey(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: !ephemeral,
    removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
  });
  // aws-cdk-lib is not compiled with exactOptionalPropertyTypes: its class does not fit its own interface.
  return table as ITableV2;
}

/** Where the stack goes is known once there are credentials: `cdk deploy` needs them. */
function refuseForeign(adopted: string, { account, region }: Stack): void {
  const [, , , itsRegion, itsAccount] = adopted.split(':');
  const differs = (own: string, its: string | undefined) => !Token.isUnresolved(own) && own !== its;
  if (differs(account, itsAccount) || differs(region, itsRegion))
    throw new DeploymentSettingsError(
      `Context adoptTable names a table of account ${itsAccount} in ${itsRegion}, and the stack is of account ${account} in ${region}: its functions could not read it.`,
    );
}
