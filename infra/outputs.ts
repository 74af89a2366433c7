import { CfnOutput, type Stack } from 'aws-cdk-lib';
import type { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { MergeQueue } from './merge-queue.ts';

/** What the outputs are made of. `admin logs` reads every output whose name ends in `Logs`. */
export interface Outputs {
  /** By function, and `access`. */
  readonly logs: Readonly<Record<string, ILogGroup>>;
  readonly dashboard: Dashboard;
  readonly mergeQueue: MergeQueue;
}

/** Such as `FinishMergesLogs`. */
export const logsOutputOf = (name: string) =>
  `${name
    .split('-')
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join('')}Logs`;

/** The outputs by which an operator finds the parts of a stack. */
export function addOutputs(stack: Stack, { logs, dashboard, mergeQueue }: Outputs): void {
  const add = (id: string, value: string, description: string) => new CfnOutput(stack, id, { value, description });
  for (const [name, group] of Object.entries(logs))
    add(logsOutputOf(name), group.logGroupName, name === 'access' ? 'Log of each request' : `Log of ${name}`);
  const { region } = stack;
  const path = `cloudwatch/home?region=${region}#dashboards/dashboard/${dashboard.dashboardName}`;
  add('DashboardUrl', `https://${region}.console.aws.amazon.com/${path}`, 'Health, throttling and cost');
  add('MergeQueueUrl', mergeQueue.queue.queueUrl, 'Queue of merges to finish');
  add('DeadLettersUrl', mergeQueue.deadLetters.queueUrl, 'Queue of merges that could not be finished');
}
