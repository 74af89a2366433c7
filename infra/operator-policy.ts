import { Stack } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { AUDIT_KEYS } from './table-definition.ts';

export interface OperatorPolicyProps {
  readonly table: ITableV2;
  /** The queues to which a redrive sends messages back. */
  readonly sources: readonly IQueue[];
  /** The queues of failed or refused messages, which an operator reads, redrives or empties. */
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
      // Nearly every command.
      allow(
        ['BatchGetItem', 'ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'Scan', 'UpdateItem'].map(
          (action) => `dynamodb:${action}`,
        ),
        [table.tableArn],
      ),
      // Rows of the audit are only added. IAM cannot tell a `PutItem` that adds one from one that replaces it: SECURITY.md.
      new PolicyStatement({
        effect: Effect.DENY,
        actions: ['BatchWriteItem', 'DeleteItem', 'PartiQLDelete', 'PartiQLUpdate', 'UpdateItem'].map(
          (action) => `dynamodb:${action}`,
        ),
        resources: [table.tableArn],
        conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [AUDIT_KEYS] } },
      }),
      allow(['dynamodb:GetRecords', 'dynamodb:GetShardIterator'], [table.tableStreamArn ?? '']), // relay replay
      allow(['sqs:GetQueueAttributes'], arnsOf([...sources, ...deadLetters])), // status, feed status
      allow(['sqs:SendMessage'], arnsOf(sources)), // redrive, relay replay
      allow(
        [
          ...['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:ReceiveMessage'], // feed status, relay replay
          ...['sqs:CancelMessageMoveTask', 'sqs:ListMessageMoveTasks', 'sqs:StartMessageMoveTask'], // redrive
        ],
        arnsOf(deadLetters),
      ),
      allow(
        ['apigateway:DELETE', 'apigateway:GET', 'apigateway:POST'], // account create, gateway-keys, import
        [apiGateway('apikeys'), apiGateway('apikeys/*'), apiGateway('usageplans'), apiGateway('usageplans/*')],
      ),
      allow(
        ['logs:FilterLogEvents'], // logs, status
        logs.map(({ logGroupArn }) => logGroupArn),
      ),
      allow(['cloudformation:DescribeStacks'], [stackId]), // --stack
      // For status. They have no resources of their own.
      allow(['cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData'], ['*']),
    ],
  });
}
