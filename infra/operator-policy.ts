import { Stack } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

export interface OperatorPolicyProps {
  readonly table: ITableV2;
  /** The queues from which messages are processed. */
  readonly sources: readonly IQueue[];
  /** The queues that an operator empties. */
  readonly deadLetters: readonly IQueue[];
  readonly logs: readonly ILogGroup[];
}

/** What the admin command, and AWS's redrive of its queues, may do with this stack; `restore` needs rights of its own (docs/operate.md). */
export function createOperatorPolicy(
  scope: Construct,
  { table, sources, deadLetters, logs }: OperatorPolicyProps,
): ManagedPolicy {
  const { partition, region, stackId } = Stack.of(scope);
  const apiGateway = (path: string) => `arn:${partition}:apigateway:${region}::/${path}`;
  const allow = (actions: string[], resources: readonly string[]) =>
    new PolicyStatement({ actions, resources: [...resources] });
  const arnsOf = (queues: readonly IQueue[]) => queues.map(({ queueArn }) => queueArn);
  // With another description CloudFormation would replace the policy, which operators have attached.
  return new ManagedPolicy(scope, 'Operator', {
    description: 'Operate the service by its admin command',
    statements: [
      allow(
        ['BatchGetItem', 'ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'Scan', 'UpdateItem'].map(
          (action) => `dynamodb:${action}`,
        ),
        [table.tableArn],
      ),
      allow(['dynamodb:GetRecords', 'dynamodb:GetShardIterator'], [table.tableStreamArn ?? '']),
      allow(['sqs:GetQueueAttributes'], arnsOf([...sources, ...deadLetters])),
      allow(['sqs:SendMessage'], arnsOf(sources)),
      allow(
        [
          ...['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:ReceiveMessage'],
          ...['sqs:CancelMessageMoveTask', 'sqs:ListMessageMoveTasks', 'sqs:StartMessageMoveTask'],
        ],
        arnsOf(deadLetters),
      ),
      allow(
        ['apigateway:DELETE', 'apigateway:GET', 'apigateway:POST'],
        [apiGateway('apikeys'), apiGateway('apikeys/*'), apiGateway('usageplans'), apiGateway('usageplans/*')],
      ),
      allow(
        ['logs:FilterLogEvents'],
        logs.map(({ logGroupArn }) => logGroupArn),
      ),
      allow(['cloudformation:DescribeStacks'], [stackId]),
      // These have no resources of their own.
      allow(['cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData'], ['*']),
    ],
  });
}
