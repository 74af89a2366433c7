import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  type ITableV2,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { TABLE } from './table-definition.ts';

/**
 * The one table: on demand, encrypted, with point-in-time recovery, and kept when the stack goes.
 * @param adopted ARN of the stream of a table that a destroyed stack left: it is used instead of a new one
 */
export function createServiceTable(scope: Construct, adopted: string | undefined): ITableV2 {
  if (adopted !== undefined)
    return TableV2.fromTableAttributes(scope, 'Table', {
      tableArn: adopted.replace(/\/stream\/.*$/, ''),
      tableStreamArn: adopted,
    });
  const table = new TableV2(scope, 'Table', {
    partitionKey: { name: TABLE.partitionKey, type: AttributeType.STRING },
    sortKey: { name: TABLE.sortKey, type: AttributeType.STRING },
    timeToLiveAttribute: TABLE.timeToLive,
    dynamoStream: StreamViewType[TABLE.streamView],
    billing: Billing.onDemand(),
    encryption: TableEncryptionV2.awsManagedKey(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: true,
    removalPolicy: RemovalPolicy.RETAIN,
  });
  // aws-cdk-lib is not compiled with exactOptionalPropertyTypes: its class does not fit its own interface.
  return table as ITableV2;
}
