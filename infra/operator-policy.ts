import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { ALERT_INDEX } from '../lib/table/alert-index.ts';
import { patterns } from '../lib/table/keys.ts';

export interface OperatorPolicyProps {
  readonly table: ITableV2;
  /** The queues to which a redrive sends messages back. */
  readonly sources: readonly IQueue[];
  /** The queues of failed or refused messages, which an operator reads, redrives or empties. */
  readonly deadLetters: readonly IQueue[];
  /** The queue of records, which a failover empties. */
  readonly feed: IQueue;
  /** The usage plan of the accounts' gateway keys. */
  readonly accountPlanId: string;
}

/** What the admin command, and AWS's redrive of its queues, may do with this stack; `restore` needs rights of its own (docs/restore.md). */
export function createOperatorPolicy(
  scope: Construct,
  { table, sources, deadLetters, feed, accountPlanId }: OperatorPolicyProps,
): ManagedPolicy {
  const stack = Stack.of(scope);
  const { partition, region, stackId } = stack;
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
      allow(['dynamodb:Query'], [`${table.tableArn}/index/${ALERT_INDEX.name}`]), // alert list, console
      // Rows of the audit are only added. IAM cannot tell a `PutItem` that adds one from one that replaces it: SECURITY.md.
      new PolicyStatement({
        effect: Effect.DENY,
        actions: ['BatchWriteItem', 'DeleteItem', 'PartiQLDelete', 'PartiQLUpdate', 'UpdateItem'].map(
          (action) => `dynamodb:${action}`,
        ),
        resources: [table.tableArn],
        conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [patterns.audit] } },
      }),
      allow(['dynamodb:GetRecords', 'dynamodb:GetShardIterator'], [table.tableStreamArn ?? '']), // relay replay
      allow(['sqs:GetQueueAttributes'], arnsOf([...sources, ...deadLetters])), // status, feed status
      allow(['sqs:SendMessage'], arnsOf(sources)), // redrive, relay replay
      allow(
        ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:ReceiveMessage'], // feed status, relay replay, feed move
        arnsOf([...deadLetters, feed]),
      ),
      allow(
        ['sqs:CancelMessageMoveTask', 'sqs:ListMessageMoveTasks', 'sqs:StartMessageMoveTask'], // redrive
        arnsOf(deadLetters),
      ),
      // account create, import. To read or delete a key outside of the plan is not allowed: other teams have keys in the region, too.
      allow(['apigateway:POST'], [apiGateway('apikeys')]),
      allow(
        ['apigateway:GET', 'apigateway:POST'],
        ['keys', 'keys/*'].map((keys) => apiGateway(`usageplans/${accountPlanId}/${keys}`)),
      ),
      allow(
        ['logs:FilterLogEvents', 'logs:StartQuery'], // status, aws logs tail, Logs Insights
        // Together: with 40 operations their names would outgrow the 6,144 characters of a managed policy. CloudFormation begins those names
        // with the stack's (https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-logs), so the log groups of a stack
        // whose name continues this one's with a hyphen are among them.
        [
          stack.formatArn({
            service: 'logs',
            resource: `log-group:${stack.stackName}-*`,
            arnFormat: ArnFormat.NO_RESOURCE_NAME,
          }),
        ],
      ),
      allow(['cloudformation:DescribeStacks', 'cloudformation:ListStackResources'], [stackId]), // --stack, status
      // For status, aws logs and Logs Insights. They have no resources of their own.
      allow(['cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData'], ['*']),
      allow(['logs:DescribeLogGroups', 'logs:GetQueryResults', 'logs:StopQuery'], ['*']),
    ],
  });
}
