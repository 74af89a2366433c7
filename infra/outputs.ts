/** What the stack reports to its operators: notices at `cdk synth` and `cdk deploy`, and outputs. */
import { Annotations, Aws, CfnMapping, CfnOutput, type Stack } from 'aws-cdk-lib';
import type { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import type { StackParts } from './dashboard.ts';
import { reservedExecutions } from './function-settings.ts';
import type { DeploymentSettings } from './stack-settings.ts';

/** Prints how the concurrency is divided, and warns of settings that may be a mistake. */
export function addNotices(stack: Stack, settings: DeploymentSettings): void {
  const { reservedConcurrency, mergeConcurrency, feedConcurrency, pageTo, ephemeral } = settings;
  const notices = Annotations.of(stack);
  notices.addInfoV2(
    'service:concurrency',
    `Concurrent executions: ${
      reservedConcurrency === 0
        ? 'none is reserved, so merges or callers without a key can leave too few for the authorizer and the reads (setting reservedConcurrency)'
        : `${reservedConcurrency} reserved, ${reservedExecutions('usage-key-authorizer', reservedConcurrency)} of them for the authorizer and at most ${reservedExecutions('merge-alerts', reservedConcurrency)} for merges`
    }; at a time, at most ${mergeConcurrency} large merges are finished and ${feedConcurrency} batches of the feed written.`,
  );
  if (settings.writesFrozen)
    notices.addWarningV2(
      'service:frozen',
      'FROZEN: deletions and merges are refused, and records sent to the feed wait (writesFrozen).',
    );
  if (settings.standby)
    notices.addWarningV2(
      'service:standby',
      'STANDBY: another region writes to the table. It refuses deletions, merges and records, and reads no queue (standby).',
    );
  if (ephemeral)
    notices.addWarningV2('service:ephemeral', 'EPHEMERAL: the table and its data are deleted with this stack.');
  else if (pageTo === undefined)
    notices.addWarningV2('service:alarms', 'Alarms page nobody: set pageTo (docs/deploy.md).');
}

interface OutputProps extends StackParts {
  readonly operatorPolicy: ManagedPolicy;
  /** An ephemeral stack has none. */
  readonly dashboard: Dashboard | undefined;
}

/** The name of the output for a function's log group, such as `FinishMergesLogs`. */
export const logsOutputOf = (name: string) =>
  `${name
    .split('-')
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join('')}Logs`;

/** The domain of AWS's console in each partition. */
const CONSOLES = {
  aws: { domain: 'console.aws.amazon.com' },
  'aws-cn': { domain: 'console.amazonaws.cn' },
  'aws-us-gov': { domain: 'console.amazonaws-us-gov.com' },
};

/** The outputs by which operators, and the admin command, find the parts of a stack. */
export function addOutputs(stack: Stack, props: OutputProps): void {
  const { settings, service, mergeQueue, ingestQueues, relay, dashboard } = props;
  const { domain } = service;
  const add = (id: string, value: string, description: string) => new CfnOutput(stack, id, { value, description });
  const { region } = stack;
  add('Url', service.url, 'Base address of the API');
  if (domain) {
    add('DomainTarget', domain.domainNameAliasDomainName, 'What a DNS record of the domain points to');
    add('DefaultUrl', service.defaultUrl, 'Base address of the API without the domain');
  }
  add('TableName', props.table.tableName, 'DynamoDB table with all data');
  if (settings.regionDigit > 0) add('RegionDigit', String(settings.regionDigit), 'Last digit of merges made here');
  add('AccountPlanId', service.accountPlan.usagePlanId, "Usage plan of the accounts' gateway keys");
  add('MergeQueueUrl', mergeQueue.queue.queueUrl, 'Queue of large merges to finish');
  add('DeadLettersUrl', mergeQueue.deadLetters.queueUrl, 'Queue of large merges that could not be finished');
  add('FeedUrl', ingestQueues.queue.queueUrl, 'Queue that other systems send records to: docs/feed.md');
  add('FeedArn', ingestQueues.queue.queueArn, 'ARN of the queue FeedUrl, for event rules and policies');
  add(
    'FeedWritersPolicyArn',
    ingestQueues.writersPolicy.managedPolicyArn,
    'Policy that only allows sending to FeedUrl',
  );
  add('FeedRefusedUrl', ingestQueues.refused.queueUrl, 'Queue of refused records, with reasons');
  add('EndedAlertDays', String(settings.endedAlertDays), 'Days for which ended alerts are kept');
  add('EventBusName', relay.bus.eventBusName, 'Event bus: docs/events.md');
  add('RelayEventsUrl', relay.eventsQueue.queueUrl, 'Queue of events that wait for the bus');
  add('RelayDeadLettersUrl', relay.deadLetters.queueUrl, 'Queue of changes that could not be relayed');
  add('OperatorPolicyArn', props.operatorPolicy.managedPolicyArn, 'Policy that allows what the admin command does');
  if (dashboard) {
    const path = `cloudwatch/home?region=${region}#dashboards/dashboard/${dashboard.dashboardName}`;
    const consoles = new CfnMapping(stack, 'Consoles', { mapping: CONSOLES });
    const address = `https://${region}.${consoles.findInMap(Aws.PARTITION, 'domain')}/${path}`;
    add('DashboardUrl', address, 'Health, throttling and cost');
  }
  add('AccessLogs', service.accessLog.logGroupName, 'Access log of the API');
  for (const [name, { logGroup }] of Object.entries(props.functions))
    add(logsOutputOf(name), logGroup.logGroupName, `Log of ${name}`);
}
